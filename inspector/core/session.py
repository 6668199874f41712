"""The narrow waist: what every client's reader hands on, whatever program wrote the session.

A Row is light: its byte span and the few fields that decisions need. Its full value is parsed from the span when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from .documents import Document
from .jsonspans import loads
from .source import Source, Span


def moment(at: str | None) -> float | None:
    """Seconds since 1970 of a timestamp as written, or None for a missing or invalid one."""
    if not at:
        return None
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


class RowKind(StrEnum):
    """What a row is to a reader of the page."""

    MESSAGE = "message"
    """Belongs to the conversation: user or assistant."""
    CONTEXT = "context"
    """Stored context that may be sent with a message (attachment)."""
    SYSTEM = "system"
    """The client's own notes inside the chain (boundary, duration, local command)."""
    RECORD = "record"
    """Auxiliary state outside the conversation (title, mode, snapshots, queue, recorded requests)."""
    UNKNOWN = "unknown"
    """Valid JSON of a type that no format fact names."""
    DAMAGED = "damaged"
    """Not a record: broken, NUL, scalar, spliced or truncated bytes; `damage` says which."""
    BLANK = "blank"
    FRAME = "frame"
    """Brackets of a JSON document."""
    BLOB = "blob"
    """A whole part that is no transcript: persisted tool output, backup, plan, metadata file."""


class BlockKind(StrEnum):
    TEXT = "text"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    IMAGE = "image"
    SERVER_CALL = "server-call"
    SERVER_RESULT = "server-result"
    OTHER = "other"


class Block(NamedTuple):
    """One content block of a message row, light."""

    kind: BlockKind
    id: str | None = None
    """Call id, for calls and results of either kind."""
    name: str | None = None
    """Tool name of a call."""
    blank: bool = False
    """Text that is empty or white space only."""
    error: bool = False
    """A result marked as an error."""


@dataclass(slots=True, eq=False)
class Row:
    """One row of a part. Rows tile their part: no gap, no overlap. `end` includes the line's newline."""

    part: int
    index: int
    start: int
    end: int
    kind: RowKind
    type: str
    """The client's own word (`user`, `system/compact_boundary`), or for damaged rows the same word as `damage`."""
    id: str | None = None
    parent: str | None = None
    at: str | None = None
    """Timestamp as written, or None."""
    role: str | None = None
    sidechain: bool = False
    blocks: tuple[Block, ...] = ()
    damage: str | None = None
    """truncated | spliced | nul | unparseable | scalar; None for a readable record."""
    faults: tuple[str, ...] = ()
    """Oddities of a readable record's bytes: lone-surrogate, oversized, deep, big-number, nan."""
    leading: Row | None = None
    """Of a damaged line that begins with a whole record: that record, with the same ref and its own span. Some clients read it."""
    extra: Any = None
    """What this client's own resume needs of the row (a small object of its package)."""
    ref: str = field(init=False)
    """The row's name in all four forms: `PART:ROW`."""

    def __post_init__(self) -> None:
        self.ref = f"{self.part}:{self.index}"

    @property
    def span(self) -> Span:
        return Span(self.part, self.start, self.end)


@dataclass(slots=True)
class Session:
    """One session as read: rows of all parts in order, main transcript first."""

    client: str
    source: Source
    rows: list[Row]
    id: str | None = None
    """The session's id; for a file of Claude Code the file name counts, not the rows."""
    version: str | None = None
    """Client version written in the newest row that names one."""
    title: str | None = None
    agents: dict[int, str] = field(default_factory=dict)
    """Part number -> agent id, for sub-agent transcripts."""
    documents: dict[int, Document] = field(default_factory=dict, repr=False)
    """Part number -> the document that its rows are the pieces of; parts of JSON Lines have none."""
    _values: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False)
    _by_ref: dict[str, Row] = field(default_factory=dict, repr=False)
    _by_type: dict[str, list[Row]] = field(default_factory=dict, repr=False)

    def row(self, ref: str) -> Row:
        """The row with this ref. Raises KeyError for an unknown one."""
        if not self._by_ref:
            self._by_ref = {row.ref: row for row in self.rows}
        return self._by_ref[ref]

    def main(self) -> Iterator[Row]:
        """Rows of the main transcript (part 0): the first ones."""
        return islice(self.rows, bisect_right(self.rows, 0, key=lambda row: row.part))

    def of_type(self, type: str, part: int | None = None) -> list[Row]:
        """Rows of one type, in order: of all parts, or of the given one."""
        if not self._by_type and self.rows:
            found: dict[str, list[Row]] = defaultdict(list)
            for row in self.rows:
                found[row.type].append(row)
            self._by_type = dict(found)
        rows = self._by_type.get(type, [])
        return rows if part is None else [row for row in rows if row.part == part]

    def bytes_of(self, row: Row) -> bytes:
        """The row's exact bytes, newline included."""
        return self.source.bytes_of(row.span)

    def body_of(self, row: Row) -> bytes:
        """What the row says in plain JSON: its bytes; of a document's row the member or element that it holds, in whatever form; b"" for brackets."""
        document = self.documents.get(row.part)
        return document.pieces[row.index].body if document else self.bytes_of(row)

    def can_be_edited(self) -> bool:
        """Whether a repair may change rows: a damaged document is read whole or not at all, so that no edit makes it sound,
        unless something only follows it."""
        return all(not row.damage or self._may_go(row) for row in self.rows if row.part in self.documents) if self.documents else True

    def _may_go(self, row: Row) -> bool:
        """Whether a damaged row of a document only follows it."""
        document = self.documents[row.part]
        return document.tail and row.index == len(document.pieces) - 1

    def value(self, row: Row) -> Any:
        """The row's parsed JSON value, or None for rows that hold none. Kept for the last few thousand rows asked for."""
        if row.damage or row.kind in (RowKind.BLANK, RowKind.BLOB, RowKind.FRAME):
            return None
        key = (row.part, row.index)
        if key not in self._values:
            if len(self._values) >= 4096:
                self._values.clear()
            self._values[key] = loads(self.body_of(row))
        return self._values[key]

    def record(self, row: Row) -> dict[str, Any]:
        """The row's parsed record; empty for rows that hold none."""
        value = self.value(row)
        return value if isinstance(value, dict) else {}
