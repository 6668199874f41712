"""One pass over the main transcript for everything beside the conversation: which rows there are of each type, ready to be looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...jsonspans import loads_object
from ...session import Row, RowKind, Session
from ...state import Fact, Restored
from .read import Light

CHAIN_KINDS = (RowKind.MESSAGE, RowKind.CONTEXT, RowKind.SYSTEM)
MOST_HITS = 2000
"""Rows looked at for one needle; a session with more of them is counted up to here."""

EVERY = Restored(normal=True, fork=True, path=True, switch=True)
NEVER = Restored()
BUT_FORK = Restored(normal=True, fork=False, path=True, switch=True)
BUT_PATH = Restored(normal=True, fork=True, path=False, switch=True)
BY_ID = Restored(normal=True, fork=False, path=False, switch=True)


@dataclass(slots=True)
class Gathered:
    """Rows of the main transcript by type, and the branch that the resume continues."""

    session: Session
    by_type: dict[str, list[Row]]
    """Record rows by type; context rows by `attachment/TYPE`; system rows by `system/SUBTYPE`."""
    chain: list[Row]
    """All rows of the conversation in file order, side conversations left out."""
    branch: list[Row]
    starts: list[int]
    """First byte of each row of the main transcript."""

    def rows(self, *types: str) -> list[Row]:
        """Rows of these types in file order."""
        found = [row for name in types for row in self.by_type.get(name, ())]
        return found if len(types) == 1 else sorted(found, key=lambda row: row.index)

    def value(self, row: Row) -> dict[str, Any]:
        """The row's record; empty where it holds none."""
        return self.session.record(row)

    def last(self, *types: str) -> tuple[Row, dict[str, Any]] | None:
        """The last row of these types and its record."""
        rows = self.rows(*types)
        return (rows[-1], self.value(rows[-1])) if rows else None

    def attachments(self, name: str) -> list[Row]:
        """Context rows of one attachment type, on any branch."""
        return self.rows(f"attachment/{name}")

    def newest(self, key: str) -> tuple[Row, Any] | None:
        """The newest row of the branch (of all rows, where there is no branch) that names `key`, and its value."""
        for row in reversed(self.branch or self.chain):
            found = self.value(row).get(key)
            if found is not None:
                return row, found
        return None

    def holding(self, needle: bytes) -> Iterator[Row]:
        """Rows of the main transcript whose bytes hold `needle`, found without parsing, at most MOST_HITS."""
        data = self.session.source.parts[0].data
        at, count = data.find(needle), 0
        while at >= 0 and count < MOST_HITS:
            row = self.session.rows[bisect_right(self.starts, at) - 1]
            yield row
            count += 1
            at = data.find(needle, row.end)


def gather(session: Session, branch: list[str]) -> Gathered:
    """Sort the main transcript's rows once."""
    by_type: dict[str, list[Row]] = defaultdict(list)
    chain: list[Row] = []
    wanted = set(branch)
    by_ref: dict[str, Row] = {}
    starts: list[int] = []
    for row in session.rows:
        if row.part:
            break
        starts.append(row.start)
        if row.ref in wanted:
            by_ref[row.ref] = row
        if row.kind in CHAIN_KINDS:
            if not row.sidechain:
                chain.append(row)
            if row.kind is RowKind.CONTEXT and isinstance(row.extra, Light):
                by_type[f"attachment/{row.extra.attachment}"].append(row)
            elif row.kind is RowKind.SYSTEM:
                by_type[row.type].append(row)
        else:
            by_type[row.type].append(row)
    return Gathered(session, by_type, chain, [by_ref[ref] for ref in branch if ref in by_ref], starts)


def refs(rows: list[Row]) -> tuple[str, ...]:
    """Their refs; of very many the last hundred."""
    return tuple(row.ref for row in rows[-100:])


def fact(name: str, value: Any, rows: tuple[str, ...] = (), restored: Restored = NEVER, note: str = "") -> Fact:
    """A fact that the source records."""
    return Fact(name, value, True, rows, restored, note)


def not_recorded(name: str, note: str, restored: Restored = NEVER) -> Fact:
    """A fact that the source does not record."""
    return Fact(name, None, False, (), restored, note)


def text_of(value: Any) -> str | None:
    """The value, if it is a string."""
    return value if isinstance(value, str) else None


def part_json(session: Session, part: int) -> dict[str, Any]:
    """A small JSON file of the source as an object; empty where it is none or larger than a megabyte."""
    data = session.source.parts[part].data
    if len(data) > 1 << 20:
        return {}
    return loads_object(bytes(data[0 : len(data)]))
