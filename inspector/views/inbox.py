"""The inbox: one line per session, newest first, paged by key."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from inspector.models import Session
from inspector.templatetags.words import VERDICTS

from .desk import client_title

PAGE = 50
TIMES = (("", "Any time"), ("1", "Last 24 hours"), ("7", "Last 7 days"), ("30", "Last 30 days"))
ORDER = ("needs-reconciliation", "needs-repair", "live", "ready", "blocked", "finished")


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """The list, filtered as the address says."""
    asked = {name: request.GET.get(name, "").strip()[:200] for name in ("verdict", "client", "project", "days", "mine", "q", "before")}
    narrowed = _narrow(request, {**asked, "verdict": ""})
    counts = dict(narrowed.values_list("verdict").annotate(number=Count("pk")).order_by())
    chosen = narrowed.filter(verdict=asked["verdict"]) if asked["verdict"] in ORDER else narrowed
    listed = _before(chosen, asked["before"])
    sessions = list(listed.select_related("current", "parent").order_by("-last_activity", "-pk")[: PAGE + 1])
    more = len(sessions) > PAGE
    sessions = sessions[:PAGE]
    for session in sessions:
        session.client_title = client_title(session.client)

    def href(**changes: Any) -> str:
        values = {**asked, "before": "", **changes}
        return reverse("inbox") + "?" + urlencode({name: value for name, value in values.items() if value})

    total = sum(counts.values())
    verdicts = [{"words": "All", "style": "plain", "count": total, "href": href(verdict=""), "current": not asked["verdict"]}]
    verdicts += [
        {
            "words": VERDICTS[name][1],
            "style": VERDICTS[name][0],
            "count": counts.get(name, 0),
            "href": href(verdict=name),
            "current": asked["verdict"] == name,
        }
        for name in ORDER
        if counts.get(name) or name in ORDER[:2]
    ]
    context = {
        "sessions": sessions,
        "shown": f"{len(sessions)} shown",
        "count": counts.get(asked["verdict"], 0) if asked["verdict"] else total,
        "verdicts": verdicts,
        "older": href(before=_key(sessions[-1])) if more else "",
        "newer": href() if asked["before"] else "",
        "mine_href": href(mine="" if asked["mine"] else "1"),
        "filtered": any(asked.values()),
        "unread": any(session.status == Session.Status.IMPORTING for session in sessions),
        "times": TIMES,
        **_choices(),
        **{name: asked[name] for name in ("verdict", "client", "project", "days", "mine", "q")},
    }
    return render(request, "inbox/page.html", context)


def _narrow(request: HttpRequest, asked: dict[str, str]) -> QuerySet[Session]:
    found = Session.objects.all()
    if asked["client"]:
        found = found.filter(client=asked["client"])
    if asked["project"]:
        found = found.filter(folder=asked["project"])
    if asked["days"].isdecimal() and len(asked["days"]) < 5:
        found = found.filter(last_activity__gte=timezone.now() - timedelta(days=int(asked["days"])))
    if asked["mine"]:
        found = found.filter(imported_by=request.user)
    for word in asked["q"].lower().split()[:8]:
        found = found.filter(Q(search__contains=word) | Q(native_id__startswith=word))
    return found


def _key(session: Session) -> str:
    return f"{session.last_activity.isoformat() if session.last_activity else ''}_{session.pk}"


def _before(found: QuerySet[Session], key: str) -> QuerySet[Session]:
    """Sessions after the key in the list's order; all for a key that can't be read."""
    when, _, pk = key.rpartition("_")
    try:
        at, number = datetime.fromisoformat(when), int(pk)
    except ValueError:
        return found
    return found.filter(Q(last_activity__lt=at) | Q(last_activity=at, pk__lt=number))


def _choices() -> dict[str, list[str]]:
    """Clients and projects to choose from; kept for a minute, because they are scans."""
    held: dict[str, list[str]] | None = cache.get("inbox-choices")
    if held is None:
        names = Session.objects.exclude(folder="").values("folder").annotate(number=Count("pk")).order_by("-number")[:60]
        held = {
            "clients": sorted(set(Session.objects.exclude(client="").values_list("client", flat=True).distinct()[:30])),
            "projects": [item["folder"] for item in names],
        }
        cache.set("inbox-choices", held, 60)
    return held
