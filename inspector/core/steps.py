"""What a rule's `fix` needs to draft a step: the session's links, fresh ids, and the few shapes of edits that all fixes are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import ModuleType
from typing import Any, Literal

from . import ids, index, wording
from .edits import CutBytes, DropRow, Edit, InsertRow, ReplaceRow, SplitRow, Step
from .findings import Finding
from .inspection import Inspection
from .session import Row, RowKind, Session, moment

AS_THE_CLIENT = "as-the-client"
"""The choice that changes nothing: what the client does by itself."""
LEAVE_OUT = "leave-out"
"""The choice that takes a call, a result or a row out of the new revision."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a person found out about an operation, with the words that they left."""

    outcome: Literal["happened", "did-not-happen", "unknown"]
    text: str = ""
    by: str = ""
    """Name of the person; blank where it is not known."""
    at: str = ""
    """ISO 8601 time with `Z` at which they said so; blank where it is not known."""
    confirmed_by: str = ""
    """Name of the second person, who approved it; blank where there was none."""


@dataclass(slots=True)
class Context:
    """One round of a plan: what the fixes of this round may read and what they may use up."""

    inspection: Inspection
    write: ModuleType
    """The client's own writer."""
    seed: str
    at: str
    """ISO 8601 time that new rows at the end carry."""
    resolutions: dict[str, Resolution] = field(default_factory=dict)
    """By call id or by key of the operation."""
    choices: dict[str, str] = field(default_factory=dict)
    """Step id -> choice."""
    origins: dict[str, str] = field(default_factory=dict)
    """Ref in this round -> ref in the revision that is repaired (or `+n`), where they differ."""
    added: int = 0
    """Rows that the plan has added so far."""
    taken: set[str] = field(default_factory=set)
    """Every id that a new row must not use again."""
    began: str | None = None
    """Id of the row that the conversation of the repaired revision begins with."""
    done: set[str] = field(default_factory=set)
    """Calls that a step of this round has dealt with."""
    _children: dict[tuple[int, str], list[Row]] = field(default_factory=lambda: defaultdict(list))

    @property
    def session(self) -> Session:
        return self.inspection.session

    def value(self, row: Row) -> dict[str, Any]:
        """The row's parsed record; empty for rows that hold none."""
        return self.session.record(row)

    def origin(self, ref: str) -> str:
        """The name that the row has in the revision that is repaired."""
        return self.origins.get(ref, ref)

    # ids

    def new_id(self, *words: str) -> str:
        """A fresh id in the form of a UUID that no row of the session holds."""
        number = 0
        while (made := ids.derived(self.seed, *words, str(number))) in self.taken:
            number += 1
        self.taken.add(made)
        return made

    def new_ref(self) -> str:
        """`+1`, `+2`, …"""
        self.added += 1
        return f"+{self.added}"

    # links

    @property
    def looked(self) -> index.Index:
        """The joins that the rules share."""
        return index.of(self.inspection)

    def parent(self, row: Row) -> Row | None:
        """The row that this one hangs from; of several with that id the last."""
        found = self.looked.by_id.get((row.part, row.parent or ""))
        return found[-1] if found else None

    def children(self, row: Row) -> list[Row]:
        """Rows of any kind that hang from this one, in file order, repeated ones included."""
        if not self._children:
            for child in self.session.rows:
                if child.parent:
                    self._children[child.part, child.parent].append(child)
        return self._children.get((row.part, row.id or ""), [])

    def below(self, row: Row) -> set[Row]:
        """The row and everything that hangs from it."""
        found, todo = {row}, [row]
        while todo:
            for child in self.children(todo.pop()):
                if child not in found:
                    found.add(child)
                    todo.append(child)
        return found

    def before(self, row: Row) -> Row | None:
        """The nearest chain row before this one in the file that does not hang from it and is on the same side of the session."""
        below = self.below(row)
        rows = [other for other in self.looked.chain if other.part == row.part and other.index < row.index and other.sidechain == row.sidechain]
        return next((other for other in reversed(rows) if other not in below and other.id != row.id), None)

    def pieces(self, row: Row) -> list[Row]:
        """Rows of the same API message, in file order."""
        message = index.message_of(row)
        rows = (other for other in self.looked.chain if other.part == row.part and other.type == row.type)
        return [other for other in rows if index.message_of(other) == message]

    def behind_compaction(self, row: Row) -> bool:
        """Whether the row stands before a compaction's boundary of its own part: no new row may hang from it."""
        return any(other.part == row.part and other.index > row.index and other.type == "system/compact_boundary" for other in self.session.rows)

    def is_last(self, row: Row) -> bool:
        """Whether no row of another message follows in the file, sub-agents' rows aside."""
        message = index.message_of(row)
        later = (other for other in self.session.rows if other.part == row.part and other.index > row.index and other.kind is RowKind.MESSAGE)
        return not any(other.sidechain == row.sidechain and not index.results_only(other) and index.message_of(other) != message for other in later)

    def is_newest(self, row: Row, at: str) -> bool:
        """Whether no message of the same part is newer than this time: releases that continue at the newest row would change branches."""
        limit = moment(at) or 0.0
        return not any(other.part == row.part and other.kind is RowKind.MESSAGE and (moment(other.at) or 0.0) > limit for other in self.session.rows)

    def time_after(self, row: Row, number: int = 0) -> str:
        """The time of a new row behind this one: the plan's own at the end of the session, else right after the row.

        In the middle it must not be newer than what follows: some releases continue at the newest row.
        """
        times = (
            other.at for other in reversed(self.session.rows) if other.part == row.part and other.index <= row.index and moment(other.at) is not None
        )
        before = next(times, None)
        if before is None or (self.is_last(row) and self.at > before and self.is_newest(row, before)):
            return later(self.at, number)
        return later(before, 1 + number)

    # edits

    def mark(self, step: str, **more: Any) -> dict[str, Any]:
        """The machine-readable mark of a row that this plan writes."""
        return {"step": step, "at": self.at, **more}

    def with_fields(self, row: Row, changes: dict[str, Any]) -> Edit:
        """Change or add top-level fields of a row; no other byte of it changes."""
        return ReplaceRow(row.ref, self.write.with_fields(self.session.bytes_of(row), self.value(row), changes))

    def relink(self, row: Row, parent: str | None) -> Edit:
        """Hang a row from another parent."""
        return self.with_fields(row, {"parentUuid": parent})

    def rewrite(self, row: Row, value: dict[str, Any]) -> Edit:
        """Write a changed record in the place of a row."""
        return ReplaceRow(row.ref, self.write.rewritten(self.session.bytes_of(row), value))

    def content(self, row: Row, content: Any, mark: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """A message row's record with other content, marked; `fields` are further top-level fields, None takes one out."""
        value = self.value(row)
        value = {**value, "message": {**value["message"], "content": content}, **fields, self.write.MARK: mark}
        return {key: item for key, item in value.items() if key not in fields or item is not None}

    def blocks(self, row: Row) -> list[Any]:
        """Content blocks of a message row, as stored."""
        return wording.blocks_of(self.value(row))

    def leave_out(self, rows: list[Row]) -> tuple[Edit, ...]:
        """Take rows out; what hangs from them hangs from their nearest ancestor that stays."""
        return self.edits(rows, {})

    def without_blocks(self, gone: dict[Row, set[int]], mark: dict[str, Any], contents: dict[Row, list[Any]] | None = None) -> tuple[Edit, ...]:
        """Take blocks out of rows, and whole rows where nothing else is in them. `contents` are rows whose blocks change besides."""
        drops, values = [], {}
        contents = contents or {}
        for row in [*gone, *(row for row in contents if row not in gone)]:
            blocks = contents[row] if row in contents else self.blocks(row)
            kept = [block for number, block in enumerate(blocks) if number not in gone.get(row, ())]
            if kept:
                values[row] = self.content(row, kept, mark)
            else:
                drops.append(row)
        return self.edits(drops, values)

    def edits(self, drops: list[Row], values: dict[Row, dict[str, Any]]) -> tuple[Edit, ...]:
        """Leave `drops` out, write `values` in the place of their rows, and hang the children of what is gone from what stays."""
        gone, values = set(drops), dict(values)
        relinked: dict[Row, str | None] = {}
        for row in drops:
            if row.id is None or any(other not in gone for other in self.looked.by_id[row.part, row.id]):
                continue
            relinked.update((child, self._staying_parent(row, gone)) for child in self.children(row) if child not in gone)
        for row in values.keys() & relinked.keys():
            values[row] = {**values[row], "parentUuid": relinked.pop(row)}
        return (
            *(DropRow(row.ref) for row in drops),
            *(self.rewrite(row, value) for row, value in values.items()),
            *(self.relink(row, parent) for row, parent in relinked.items()),
        )

    def _staying_parent(self, row: Row, gone: set[Row]) -> str | None:
        seen: set[Row] = set()
        while row in gone and row not in seen:
            seen.add(row)
            above = self.parent(row)
            if above is None:
                return row.parent
            row = above
        return row.id

    def insert(self, after: Row, data: bytes) -> InsertRow:
        """A new row behind an old one."""
        return InsertRow(after.ref, data, self.new_ref())

    def records_only(self, finding: Finding, why: str) -> Step:
        """Keep the whole records of a finding's damaged line, each on a line of its own, and leave the rest out."""
        rows = rows_of(self, finding)
        return step(finding.code, self.step_id(finding.code, rows[0]), rows, self._only_records(rows[0]), why)

    def _only_records(self, row: Row) -> tuple[Edit, ...]:
        data = self.session.bytes_of(row)
        end = len(data.rstrip(b"\r\n"))
        spans = [(record.start - row.start, record.end - row.start) for record in self.looked.inner.get(row, [])]
        if not spans:
            return (DropRow(row.ref),)
        edges = [0, *(edge for span in spans for edge in span), end]
        gaps = [(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True) if start < stop]
        splits = [start for start, _ in spans[1:]] + ([] if data.endswith(b"\n") else [len(data)])
        cuts = tuple(CutBytes(row.ref, start, stop) for start, stop in gaps)
        return (*cuts, SplitRow(row.ref, tuple(splits))) if splits else cuts

    # steps

    def step_id(self, code: str, row: Row | None = None) -> str:
        """Stable name of a step: the finding's code and the row's ref in the revision that is repaired."""
        return f"{code}:{self.origin(row.ref)}" if row else code

    def chosen(self, step: str, choices: tuple[str, ...]) -> str:
        """The person's choice for a step, or its first choice."""
        choice = self.choices.get(step)
        return choice if choice in choices else choices[0]

    def continue_from(self, finding: Finding, ends: list[Row]) -> Step:
        """A decision about where to go on: nothing until a person chooses; then a bookmark for the client."""
        id = self.step_id(finding.code)
        by_choice = {f"continue-at-{self.origin(row.ref)}": row for row in ends}
        choices = (AS_THE_CLIENT, *by_choice)
        chosen = self.chosen(id, choices)
        row = by_choice.get(chosen)
        why = "The client decides which branch goes on; a person may choose another one."
        edits: list[Edit] = []
        if row is not None and row.id is not None:
            why = f"A bookmark tells the client to go on at row {self.origin(row.ref)}."
            last = [other for other in self.session.rows if other.part == row.part][-1]
            named = last.type == "last-prompt" and last.extra.leaf == row.id and last.extra.explicit
            edits = [] if named else [self.insert(last, self.write.last_prompt_row(self.session, row.id, self.mark(id)))]
        return step(finding.code, id, ends, edits, why, choices=choices, chosen=chosen)

    def resolution(self, *names: str | None) -> Resolution | None:
        """What a person said about the operation that goes by one of these names."""
        return next((self.resolutions[name] for name in names if name and name in self.resolutions), None)


def step(finding: str, id: str, rows: Iterable[Row], edits: Iterable[Edit], why: str, **more: Any) -> Step:
    """A step about `rows`; `more` are the further fields of Step."""
    return Step(id=id, finding=finding, rows=tuple(row.ref for row in rows), edits=tuple(edits), why=why, **more)


def rows_of(context: Context, finding: Finding) -> list[Row]:
    """The rows that a finding names."""
    return [context.session.row(ref) for ref in finding.rows]


def later(at: str, milliseconds: int) -> str:
    """A time as transcripts write it, some milliseconds later; unreadable times stay as they are."""
    try:
        moment = datetime.fromisoformat(at.replace("Z", "+00:00")) + timedelta(milliseconds=milliseconds)
    except (ValueError, OverflowError):
        return at
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
