"""The operations queue: what nobody knows yet first; filtered by what it waits for, paged by key."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from inspector.queries import leases, queue
from inspector.templatetags.words import safe_text

from .standing import asked, standing, when

CHIPS = {
    "unknown": ("danger", "Nobody knows"),
    "claims": ("warn", "Waiting for a second person"),
    "approval": ("warn", "Waiting for approval"),
    "under-way": ("live", "In progress"),
    "settled": ("ok", "Settled"),
    "all": ("plain", "All"),
}
"""Filter -> (chip class, words), in the order of the page."""
EMPTY = {
    "unknown": "There is nothing that nobody knows.",
    "claims": "Nobody waits for a second person.",
    "approval": "Nothing waits for approval.",
    "under-way": "Nothing is in progress.",
    "settled": "Nothing was settled yet.",
    "all": "No operation yet. Calls without a saved result become operations when a session is brought in; applications register theirs.",
}


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """The list, filtered as the address says."""
    show = request.GET.get("show", "all")
    show = show if show in CHIPS else "all"
    found = queue.queue(show=show, after=request.GET.get("after", ""))
    held = leases.of_runs(operation.run_id for operation in found.operations)
    counts = queue.counts()
    lines = [
        {
            "operation": operation, "standing": standing(operation), "asked": asked(operation), "when": when(operation),
            "tool": safe_text(operation.tool), "target": operation.target.name if operation.target else safe_text(operation.target_text),
            "session": operation.run.session, "lease": held.get(operation.run_id), "recorded": len(operation.recorded),
        }
        for operation in found.operations
    ]  # fmt: skip
    context = {
        "lines": lines,
        "chips": [
            {"style": style, "words": words, "count": counts[name], "href": _href(name), "current": name == show}
            for name, (style, words) in CHIPS.items()
        ],
        "empty": EMPTY[show],
        "count": counts[show],
        "newest": _href(show) if request.GET.get("after") else "",
        "older": _href(show, found.next) if found.next else "",
    }
    return render(request, "operations/page.html", context)


def _href(show: str, after: str = "") -> str:
    return reverse("operations") + "?" + urlencode({"show": show} | ({"after": after} if after else {}))
