"""Probes: the read-only looks that an administrator sets up; and the click that runs one for an operation."""

from __future__ import annotations

import inspect
import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from inspector.forms import ProbeForm
from inspector.models import Evidence, Operation, Probe
from inspector.models.roles import ADMINISTER
from inspector.probes import KINDS
from inspector.services.run_probe import run_probe
from inspector.services.save_probe import save_probe
from inspector.templatetags.words import safe_text

from .drawing import markdown
from .needs import needs

EXAMPLES: dict[str, tuple[Any, Any]] = {
    "file-hash": ({"root": "/srv/checkouts/shop"}, {"path": r"[\w./ -]+"}),
    "git-remote": ({"remote": "https://git.example.org/team/shop.git", "ref": "refs/heads/main"}, {"sha": "[0-9a-f]{7,64}"}),
    "git-log": ({"repository": "/srv/checkouts/shop", "ref": "refs/heads/main"}, {"sha": "[0-9a-f]{7,64}"}),
    "http-get": (
        {
            "url": "https://shop.example.org/api/refunds/{order}", "expect": {"/order": "{order}", "/status": "done"}, "absent": [404],
            "headers": {"Authorization": {"env": "PROBE_SHOP_TOKEN"}},
        },
        {"order": "[A-Z0-9-]{4,40}"},
    ),
    "sql-select": (
        {
            "connection": {"env": "PROBE_SHOP_DATABASE"}, "select": "SELECT status FROM refunds WHERE order_id = :order",
            "applied_when": {"status": "done"},
        },
        {"order": "[A-Z0-9-]{4,40}"},
    ),
    "key-lookup": (
        {
            "url": "https://api.example.org/v1/events?limit=100", "items": "/data", "window_hours": 24,
            "headers": {"Authorization": {"env": "PROBE_PAY_TOKEN"}},
        },
        {"key": "[A-Za-z0-9_-]{8,200}"},
    ),
}  # fmt: skip
"""Kind -> configuration and parameters to begin with."""
MARKS = {"applied": messages.success, "not-applied": messages.success}


@needs(ADMINISTER)
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What is set up, and how often each looked."""
    found = list(Probe.objects.prefetch_related("targets"))
    for probe in found:
        probe.title = KINDS[probe.kind].TITLE if probe.kind in KINDS else probe.kind
        probe.looks = probe.readings.count()
    return render(request, "policy/probes.html", {"probes": found, "kinds": [(name, kind.TITLE) for name, kind in KINDS.items()]})


@needs(ADMINISTER)
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """One probe, or a new one of `?kind=KIND` that begins with an example. POST: save it."""
    probe = get_object_or_404(Probe, pk=pk) if pk is not None else None
    asked = request.POST.get("kind") or request.GET.get("kind", "")
    name = probe.kind if probe else asked if asked in KINDS else next(iter(KINDS))
    config, parameters = EXAMPLES[name]
    form = ProbeForm(request.POST or None, instance=probe, initial={} if probe else {"kind": name, "config": config, "parameters": parameters})
    for field in ("name", "kind") if probe else ():
        form.fields[field].disabled = True
    if request.method == "POST" and form.is_valid():
        try:
            form.instance.config, form.instance.parameters = form.cleaned_data["config"] or {}, form.cleaned_data["parameters"] or {}
            saved = save_probe(actor=request.user, probe=form.instance)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"“{saved.name}” was saved.")
            return redirect("probes")
    context = {
        "form": form,
        "probe": probe,
        "title": probe.name if probe else "Set up a probe",
        "tab": "probes",
        "kind": KINDS[name].TITLE,
        "help": markdown.draw(inspect.getdoc(KINDS[name]) or ""),
        "example": json.dumps(config, indent=1),
        "example_parameters": json.dumps(parameters, indent=1),
    }
    return render(request, "policy/probe.html", context, status=400 if form.errors else 200)


@require_POST
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Look at an operation's target by the `probe` that was chosen, with the values that were typed as `value-NAME`."""
    operation = get_object_or_404(Operation.objects.select_related("run__session__current"), pk=pk)
    asked = request.POST.get("probe", "")
    probe = get_object_or_404(Probe, pk=int(asked) if asked.isdecimal() and len(asked) < 18 else 0)
    values = {name.removeprefix("value-"): str(value).strip() for name, value in request.POST.items() if name.startswith("value-")}
    try:
        evidence = run_probe(operation=operation, probe=probe, values=values, actor=request.user)
    except ValidationError as error:
        messages.error(request, safe_text(f"Nothing was asked. {' '.join(error.messages)}"))
    else:
        MARKS.get(evidence.verdict, messages.warning)(request, _words(evidence))
    return redirect("operation", pk)


def _words(evidence: Evidence) -> str:
    return safe_text(f"{evidence.probe}: {evidence.says} It was kept as evidence; a person decides what it means.")
