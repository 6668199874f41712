"""The inbox: one line per session, newest first, paged by key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from inspector.models import Session
from inspector.queries import inbox, leases
from inspector.templatetags.words import VERDICTS, safe_text

from . import gate
from .desk import client_title

TIMES = (("", "Any time"), ("1", "Last 24 hours"), ("7", "Last 7 days"), ("30", "Last 30 days"))
ORDER = ("needs-reconciliation", "needs-repair", "live", "ready", "blocked", "finished")
ASKED = ("verdict", "client", "project", "days", "mine", "q", "after")


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """The list, filtered as the address says."""
    asked = {name: request.GET.get(name, "").strip()[:300] for name in ASKED}
    days = int(asked["days"]) if asked["days"].isdecimal() and len(asked["days"]) < 5 else 0
    filters: dict[str, Any] = {
        "client": asked["client"],
        "project": asked["project"],
        "text": asked["q"],
        "since": timezone.now() - timedelta(days=days) if days else None,
        "mine": request.user if asked["mine"] else None,
    }
    verdict = asked["verdict"] if asked["verdict"] in ORDER else ""
    found = inbox.inbox(after=asked["after"], verdict=verdict, **filters)
    counts = dict(inbox.choices(field="verdict", **filters))
    known = {name for name, _ in inbox.choices(field="verdict")}
    total = inbox.matching(**filters).count()
    held = leases.of_sessions(session.pk for session in found.sessions)
    for session in found.sessions:
        session.held = gate.banner(held.get(session.pk), session, request.user)
        session.client_title = client_title(session.client)
        session.said = safe_text(session.summary or session.first_prompt)

    def href(**changes: Any) -> str:
        values = {**asked, "after": "", **changes}
        return reverse("inbox") + "?" + urlencode({name: value for name, value in values.items() if value})

    chips = [{"words": "All", "style": "plain", "count": total, "href": href(verdict=""), "current": not verdict}]
    for name in ORDER:
        if name in known or name in ORDER[:2]:
            style, words = VERDICTS[name]
            chips.append({"words": words, "style": style, "count": counts.get(name, 0), "href": href(verdict=name), "current": verdict == name})
    context = {
        "sessions": found.sessions,
        "count": counts.get(verdict, 0) if verdict else total,
        "verdicts": chips,
        "older": href(after=found.next) if found.next else "",
        "newer": href() if asked["after"] else "",
        "mine_href": href(mine="" if asked["mine"] else "1"),
        "filtered": any(asked.values()),
        "unread": any(session.status == Session.Status.IMPORTING for session in found.sessions),
        "continues": inbox.continue_choice(project=asked["project"]) if asked["project"] else None,
        "times": TIMES,
        "clients": [(value, client_title(value)) for value, _ in inbox.choices(field="client")],
        "projects": [value for value, _ in inbox.choices(field="slug")],
        **{name: asked[name] for name in ASKED},
        "verdict": verdict,
    }
    return render(request, "inbox/page.html", context)
