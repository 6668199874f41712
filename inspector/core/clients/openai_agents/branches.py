"""Branches of a session that keeps them (`message_structure`), and which one a reopened session goes on with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...session import Row, RowKind, Session
from .held import Held, items_of
from .items import mark_of
from .read import STRUCTURE

MAIN = "main"
"""Branch of every session that is opened anew: which one was current is only held in memory."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch: its messages in order, and the highest number that its rows were given."""

    id: str
    rows: tuple[Row, ...]
    newest: int
    turns: int


def messages_of(session: Session) -> list[Row]:
    """All rows of the conversation in file order, whatever branch they are on; those that are damaged too."""
    if 0 in session.documents:
        return [row for row in session.main() if isinstance(row.extra, Held) or row.damage]
    return [row for row in session.main() if row.kind is not RowKind.BLANK]


def branches_of(session: Session) -> dict[str, Branch] | None:
    """Branch id -> branch, the main one first; None for a session that keeps none.

    A row that a repair added and that no branch lists yet belongs to the branches of the row before it.
    """
    listed = session.of_type(STRUCTURE)
    if not listed:
        return None
    lists: dict[str, list[tuple[int, int, Any]]] = defaultdict(list)
    turns: dict[str, int] = defaultdict(int)
    for row in listed:
        record = session.record(row)
        branch, number, turn = record.get("branch_id"), record.get("sequence_number"), record.get("user_turn_number")
        if isinstance(branch, str) and isinstance(number, int):
            lists[branch].append((number, row.index, record.get("message_id")))
            turns[branch] = max(turns[branch], turn if isinstance(turn, int) else 0)
    rows = {row.id: row for row in messages_of(session) if row.id is not None}
    follow = _added(session, {str(id) for entries in lists.values() for _, _, id in entries})
    found = {}
    for name in sorted(lists, key=lambda each: (each != MAIN, each)):
        ordered = [str(id) for _, _, id in sorted(lists[name], key=lambda each: each[:2])]
        mine = [row for id in ordered if id in rows for row in (rows[id], *follow.get(id, ()))]
        found[name] = Branch(name, tuple(mine), max(number for number, _, _ in lists[name]), turns[name])
    return found


def _added(session: Session, known: Iterable[str]) -> dict[str, list[Row]]:
    """Id of a message -> the rows behind it that a repair added and no branch lists."""
    found: dict[str, list[Row]] = defaultdict(list)
    known, before = set(known), None
    for row in messages_of(session):
        if row.id in known:
            before = row.id
        elif before is not None and isinstance(row.extra, Held) and any(mark_of(item) for item in items_of(session, row)):
            found[before].append(row)
    return found
