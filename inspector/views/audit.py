"""The audit trail: what was done, by whom, and whether the chain is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from inspector.models import AuditEntry, Session
from inspector.queries import audit as trail
from inspector.templatetags.words import bytes_words, safe_text, titled

PAGE = 100
LABELS = {"name": "", "note": "", "sha256": "SHA-256", "native_id": "id", "why": "because of", "reason": "reason:"}
"""Name of a detail -> words before its value, where the name itself will not do."""
CODES = ("sha256", "native_id", "row", "name")
BOOLEANS = {"masked": "secrets masked"}


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """Entries, newest first; `?verify=1` follows the whole chain."""
    before = request.GET.get("before", "")
    found = list(trail.entries(before=int(before) if before.isdecimal() and len(before) < 18 else None)[: PAGE + 1])
    known = {session.pk: titled(session) for session in Session.objects.filter(pk__in={entry.session for entry in found if entry.session})}
    for entry in found:
        entry.details = _words(entry)
        entry.title = known.get(entry.session, "")
    check = trail.verify_chain() if request.GET.get("verify") else None
    newest = trail.head()
    context = {
        "entries": found[:PAGE],
        "older": f"?before={found[PAGE - 1].seq}" if len(found) > PAGE else "",
        "broken": None if check is None else f"{check.bad}: {check.why}" if check.bad is not None else "",
        "checked": check.entries if check else 0,
        "head": newest.hash if newest else "",
    }
    return render(request, "audit/page.html", context)


def _words(entry: AuditEntry) -> str:
    """The details in words, those without a value left out."""
    details = json.loads(entry.body).get("details") or {}
    said = (_said(name, value) for name, value in details.items() if value not in (None, "", [], {}))
    return safe_text(" · ".join(words for words in said if words))[:600]


def _said(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return BOOLEANS.get(name, name) if value else ""
    if name == "base" and isinstance(value, list):
        return "from session {}, revision {}".format(*value)
    if name in ("size", "freed"):
        return f"{bytes_words(value)}{' erased' if name == 'freed' else ''}"
    if name == "resolutions" and isinstance(value, list):
        said = (", ".join(filter(None, (f"found by {each['by']}: {each['outcome']}", f"“{each['text']}”", _second(each)))) for each in value)
        return "; ".join(said)
    if name in ("files", "sessions") and isinstance(value, int):
        return f"{value:,} {name if value != 1 else name[:-1]}"
    words = ", ".join(f"`{item}`" if name in CODES else str(item) for item in (value if isinstance(value, list) else [value]))
    return f"{LABELS.get(name, name.replace('_', ' '))} {words}".strip()


def _second(found: dict[str, str]) -> str:
    """Who confirmed what was found, or that nobody did."""
    return f"confirmed by {found['confirmed_by']}" if found.get("confirmed_by") else found.get("stamp", "")


@require_GET
def export(request: HttpRequest) -> StreamingHttpResponse:
    """The chain as JSON Lines, oldest first: `prev`, `hash` and the exact `body` that the hash covers."""

    def lines() -> Iterator[str]:
        for entry in AuditEntry.objects.order_by("seq").iterator():
            yield json.dumps({"prev": entry.prev, "hash": entry.hash, "body": entry.body}, ensure_ascii=False) + "\n"

    answer = StreamingHttpResponse(lines(), content_type="application/x-ndjson; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    return answer
