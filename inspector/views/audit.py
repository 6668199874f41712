"""The audit trail: what was done, by whom, and whether the chain is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from inspector.models import AuditEntry, Session
from inspector.queries import audit as trail

PAGE = 100


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """Entries, newest first; `?verify=1` follows the whole chain."""
    before = request.GET.get("before", "")
    found = list(trail.entries(before=int(before) if before.isdecimal() and len(before) < 18 else None)[: PAGE + 1])
    for entry in found:
        entry.details = _words(entry)
    check = trail.verify_chain() if request.GET.get("verify") else None
    newest = AuditEntry.objects.order_by("-seq").first()
    context = {
        "entries": found[:PAGE],
        "older": f"?before={found[PAGE - 1].seq}" if len(found) > PAGE else "",
        "known": set(Session.objects.filter(pk__in=[entry.session for entry in found if entry.session]).values_list("pk", flat=True)),
        "broken": None if check is None else f"{check.bad}: {check.why}" if check.bad is not None else "",
        "checked": check.entries if check else 0,
        "head": newest.hash if newest else "",
    }
    return render(request, "audit/page.html", context)


def _words(entry: AuditEntry) -> str:
    details = json.loads(entry.body).get("details") or {}
    return " · ".join(f"{name} {value if isinstance(value, (str, int)) else json.dumps(value)}" for name, value in details.items())[:400]


@require_GET
def export(request: HttpRequest) -> StreamingHttpResponse:
    """The chain as JSON Lines, oldest first: `prev`, `hash` and the exact `body` that the hash covers."""

    def lines() -> Iterator[str]:
        for entry in AuditEntry.objects.order_by("seq").iterator():
            yield json.dumps({"prev": entry.prev, "hash": entry.hash, "body": entry.body}, ensure_ascii=False) + "\n"

    answer = StreamingHttpResponse(lines(), content_type="application/x-ndjson; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    return answer
