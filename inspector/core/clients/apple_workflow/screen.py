"""What a person saw, as far as a transcript tells: prompts and answers; what an app draws of a checkpoint is its own."""

from __future__ import annotations

from collections.abc import Iterable

from ...screen import ScreenItem
from ...session import Row, Session
from .checkpoint import Member
from .entry import Entry

ROLES = {"prompt": "user", "response": "assistant", "toolCalls": "tool", "toolOutput": "result", "reasoning": "thinking", "instructions": "notice"}
FOLDED = frozenset(("toolCalls", "toolOutput", "reasoning", "instructions"))
"""Kinds of entries that an app does not show by itself."""


def screen(session: Session) -> list[ScreenItem]:
    """One item for each entry."""
    return screen_items(session, session.main())


def screen_items(session: Session, rows: Iterable[Row]) -> list[ScreenItem]:
    """Items of these rows."""
    return [
        ScreenItem((row.ref,), ROLES.get(row.type, "notice"), row.extra.text, row.type in FOLDED or row.type not in ROLES)
        for row in rows if isinstance(row.extra, Entry)
    ]  # fmt: skip


def words(session: Session, row: Row) -> str:
    """The text of a row, in short: of an entry what it says, of a member its name and value."""
    if isinstance(row.extra, Entry):
        return row.extra.text
    if isinstance(row.extra, Member) and not row.damage:
        return session.body_of(row)[1:-1].decode("utf-8", "replace") if not row.extra.holds_transcript else f"{row.extra.key}: the transcript"
    return ""
