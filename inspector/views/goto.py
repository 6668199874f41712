"""Go to anything: what the Ctrl+K box finds: pages, a row of the open session, rules, sessions."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from inspector.core import rulebook
from inspector.models import Operation
from inspector.queries import inbox
from inspector.templatetags.words import titled

REF = re.compile(r"^(\+\d{1,6}|\d{1,6}:\d{1,9})$")
OPERATION = re.compile(r"^(?:op(?:eration)? ?)?(\d{1,15})$")
PAGES = (
    ("inbox", "Inbox"), ("operations", "Operations"), ("rules", "Rules"), ("errors", "Paste an error"), ("audit", "Audit trail"),
    ("target-kinds", "Kinds of target"), ("tokens", "Access tokens"),
)  # fmt: skip
LIMIT = 8


@require_GET
def goto(request: HttpRequest) -> HttpResponse:
    """List items for the words in `q`."""
    words = request.GET.get("q", "").strip()[:200]
    lower = words.lower()
    items: list[dict[str, Any]] = []
    if REF.match(words):
        items.append({"kind": "row", "words": f"Row {words} of the session that is open", "href": f"#r{words}"})
    if (named := OPERATION.match(lower)) and Operation.objects.filter(pk=int(named[1])).exists():
        items.append({"kind": "operation", "words": f"Operation {named[1]}", "href": reverse("operation", args=[int(named[1])])})
    items += [{"kind": "page", "words": title, "href": reverse(name)} for name, title in PAGES if not lower or lower in title.lower()]
    if lower:
        items += [{"kind": "rule", "words": code, "href": reverse("rule", args=[code])} for code in rulebook.PAGES if lower in code][:LIMIT]
    for session in inbox.inbox(text=words, limit=LIMIT, agents=True).sessions:
        items.append({"kind": "session", "words": titled(session)[:100], "href": reverse("session", args=[session.pk])})
    return render(request, "goto/_results.html", {"items": items})
