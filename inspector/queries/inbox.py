"""The inbox: sessions, newest activity first, filtered, searched and paged by key (never by offset)."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Q, QuerySet

from inspector.capture.layout import registry_entry
from inspector.models import IndexedRow, Session
from inspector.models.text import clean

from .artifacts import open_artifact

PAGE = 50
CALL_ID = re.compile(r"(?:toolu|srvtoolu|call)_\w{3,}", re.ASCII)
"""Words that are looked for in the rows as well: that reads the index of every session."""


@dataclass(frozen=True, slots=True)
class InboxPage:
    """One page of sessions; `next` is the cursor of the following page, None on the last."""

    sessions: list[Session]
    next: str | None


def matching(
    *, client: str = "", verdict: str = "", project: str = "", since: datetime | None = None, text: str = "",
    mine: AbstractBaseUser | None = None, agents: bool = False,
) -> QuerySet[Session]:  # fmt: skip
    """Sessions that fit every filter given. `project` is a slug; every word of `text` must occur, in any order, in what the inbox shows, the
    prompts or (an id of a call) the rows; sub-agents only on request."""
    found = Session.objects.all() if agents else Session.objects.exclude(relation=Session.Relation.SUB_AGENT)
    exact = {"client": client, "verdict": verdict, "slug": project}
    found = found.filter(**{name: value for name, value in exact.items() if value})
    if since is not None:
        found = found.filter(last_activity__gte=since)
    if mine is not None:
        found = found.filter(imported_by=mine.pk)
    for word in clean(text).split()[:8]:
        here = Q(search__contains=word.lower()) | Q(summary__icontains=word)
        if CALL_ID.fullmatch(word):
            rows = IndexedRow.objects.filter(Q(calls__contains=word) | Q(results__contains=word))
            here |= Q(current__in=rows.values("revision"))
        found = found.filter(here)
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


@dataclass(frozen=True, slots=True)
class ContinueChoice:
    """What `--continue` would take in a project: a session, or None where a new one would start; and what it passes over, with the reason."""

    picked: Session | None
    skipped: list[tuple[Session, str]]


def continue_choice(*, project: str, newest: int = 100) -> ContinueChoice:
    """What `--continue` would take in a project folder (a slug), told from its `newest` sessions, as `switching.continue_choice` of the client."""
    skipped = []
    for session in matching(project=project).order_by("-last_activity", "-id").select_related("current")[:newest]:
        why = session.picker_reason if session.picker is False else _run_by_machine(session)
        if not why:
            return ContinueChoice(session, skipped)
        skipped.append((session, why))
    return ContinueChoice(None, skipped)


def _run_by_machine(session: Session) -> str:
    """Why a live session is passed over: the client that runs it is not interactive."""
    if not session.live or session.current is None:
        return ""
    entries = session.current.parts.filter(name__startswith="sessions/").select_related("artifact")
    kinds = [str(registry_entry(open_artifact(part.artifact)).get("kind")) for part in entries]
    return f"a client of kind {kinds[0]} is running it" if kinds and "interactive" not in kinds else ""


def _cursor(session: Session) -> str:
    assert session.last_activity is not None
    return base64.urlsafe_b64encode(json.dumps([session.last_activity.isoformat(), session.pk]).encode()).decode().rstrip("=")


def _key(cursor: str) -> tuple[datetime, int] | None:
    try:
        at, pk = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return datetime.fromisoformat(at), int(pk)
    except (ValueError, TypeError):
        return None
