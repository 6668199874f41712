"""The inbox: sessions, newest activity first, filtered, searched and paged by key (never by offset)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Q, QuerySet

from inspector.models import Session
from inspector.models.text import clean

PAGE = 50


@dataclass(frozen=True, slots=True)
class InboxPage:
    """One page of sessions; `next` is the cursor of the following page, None on the last."""

    sessions: list[Session]
    next: str | None


def matching(
    *, client: str = "", verdict: str = "", project: str = "", since: datetime | None = None, text: str = "",
    mine: AbstractBaseUser | None = None, agents: bool = False,
) -> QuerySet[Session]:  # fmt: skip
    """Sessions that fit every filter given. `project` is a slug; every word of `text` must occur, in any order; sub-agents only on request."""
    found = Session.objects.all() if agents else Session.objects.exclude(relation=Session.Relation.SUB_AGENT)
    exact = {"client": client, "verdict": verdict, "slug": project}
    found = found.filter(**{name: value for name, value in exact.items() if value})
    if since is not None:
        found = found.filter(last_activity__gte=since)
    if mine is not None:
        found = found.filter(imported_by=mine.pk)
    for word in clean(text).lower().split()[:8]:
        found = found.filter(search__contains=word)
    return found


def inbox(*, after: str = "", limit: int = PAGE, **filters: Any) -> InboxPage:
    """One page of `matching`; `after` is the cursor of the page before. A cursor that can't be read counts as the beginning."""
    found = matching(**filters).order_by("-last_activity", "-id")
    key = _key(after)
    if key:
        at, pk = key
        found = found.filter(last_activity__lte=at).filter(Q(last_activity__lt=at) | Q(pk__lt=pk))
    sessions = list(found.select_related("parent", "imported_by")[: limit + 1])
    more = len(sessions) > limit
    return InboxPage(sessions[:limit], _cursor(sessions[limit - 1]) if more else None)


def choices(*, field: str, **filters: Any) -> list[tuple[str, int]]:
    """(value, sessions) of `client`, `verdict` or `slug` among the sessions that fit the other filters, most frequent first, at most 100."""
    counted = matching(**filters).order_by().values_list(field).annotate(sessions=Count("pk")).order_by("-sessions", field)
    return [(value, count) for value, count in counted[:100] if value]


def importing() -> QuerySet[Session]:
    """Sessions whose import is still going on."""
    return Session.objects.filter(status=Session.Status.IMPORTING)


def continue_picks(*, slug: str, running: Mapping[str, str]) -> tuple[Session | None, list[Session]]:
    """Which session of a project `--continue` would take, and which running non-interactive ones it would skip before it.

    `running` maps native ids of live sessions to their kind (`interactive` or another word).
    """
    skipped = []
    for session in Session.objects.filter(slug=slug, picker=True).order_by("-last_activity", "-id")[:200]:
        if running.get(session.native_id, "interactive") == "interactive":
            return session, skipped
        skipped.append(session)
    return None, skipped


def _cursor(session: Session) -> str:
    assert session.last_activity is not None
    return base64.urlsafe_b64encode(json.dumps([session.last_activity.isoformat(), session.pk]).encode()).decode().rstrip("=")


def _key(cursor: str) -> tuple[datetime, int] | None:
    try:
        at, pk = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return datetime.fromisoformat(at), int(pk)
    except (ValueError, TypeError):
        return None
