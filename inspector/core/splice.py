"""Edits -> splices: the new parts of a source. Bytes that no edit names are copied as they stand.

A row may carry one ReplaceRow or DropRow, or any CutBytes and SplitRow together, and any number of InsertRow after it. Rows of a JSON document
are replaced, dropped and inserted only, and the edits' data are bodies: what the row says in plain JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from .documents import common
from .edits import CutBytes, DropRow, Edit, InsertRow, ReplaceRow, SplitRow
from .errors import ApplyError
from .session import Row, RowKind, Session
from .source import Part, Source

MAIN = 0
"""Part that an insertion before the first row goes to."""


@dataclass(slots=True)
class Spliced:
    """What the edits made of a source."""

    source: Source
    lineage: dict[str, str] = field(default_factory=dict)
    """New ref -> old ref of every row that comes from an old one, changed or not, in the order of the new rows."""
    added: dict[str, str] = field(default_factory=dict)
    """New ref -> the `ref` of the InsertRow that made it."""
    changed_bytes: int = 0
    """Bytes put in plus bytes taken out."""


@dataclass(slots=True)
class _RowEdits:
    change: ReplaceRow | DropRow | None = None
    cuts: list[CutBytes] = field(default_factory=list)
    splits: list[int] = field(default_factory=list)
    inserts: list[InsertRow] = field(default_factory=list)

    @property
    def untouched(self) -> bool:
        return self.change is None and not self.cuts and not self.splits


def splice(session: Session, edits: Iterable[Edit]) -> Spliced:
    """Apply edits to a session's source. Raises ApplyError where they contradict each other or name bytes that are not there."""
    by_row, first = _grouped(session, edits)
    touched = {session.row(ref).part for ref in by_row} | ({MAIN} if first else set())
    result = Spliced(session.source)
    parts = list(session.source.parts)
    rows_of: dict[int, list[Row]] = {number: [] for number in range(len(parts))}
    for row in session.rows:
        rows_of[row.part].append(row)
    for number in rows_of:
        if number in touched and number in session.documents:
            parts[number] = _document(session, number, rows_of[number], by_row, first if number == MAIN else [], result)
        elif number in touched:
            parts[number] = _part(session, number, rows_of[number], by_row, first if number == MAIN else [], result)
        else:
            result.lineage.update((row.ref, row.ref) for row in rows_of[number])
    result.source = replace(session.source, parts=tuple(parts))
    return result


def _grouped(session: Session, edits: Iterable[Edit]) -> tuple[dict[str, _RowEdits], list[InsertRow]]:
    by_row: dict[str, _RowEdits] = {}
    first: list[InsertRow] = []
    for edit in edits:
        if edit.row is None:
            _one_line(edit)
            first.append(edit)
            continue
        try:
            row = session.row(edit.row)
        except KeyError:
            raise ApplyError(f"the plan names row {edit.row}, which these bytes do not have", hint="Make the plan again") from None
        of_row = by_row.setdefault(edit.row, _RowEdits())
        if isinstance(edit, InsertRow):
            if row.part not in session.documents:
                _one_line(edit)
            of_row.inserts.append(edit)
        elif isinstance(edit, CutBytes):
            _inside(row, edit.start, edit.end)
            of_row.cuts.append(edit)
        elif isinstance(edit, SplitRow):
            for at in edit.at:
                _inside(row, 0, at)
            of_row.splits += edit.at
        elif of_row.change is not None:
            raise ApplyError(f"two steps change row {edit.row}", row.span, "This is a fault of the plan")
        else:
            of_row.change = edit
        if of_row.change is not None and (of_row.cuts or of_row.splits):
            raise ApplyError(f"one step rewrites row {edit.row} and another cuts it", row.span, "This is a fault of the plan")
    return by_row, first


def _one_line(edit: Edit) -> None:
    if isinstance(edit, InsertRow) and not edit.data.endswith(b"\n"):
        raise ApplyError("an inserted row must end with a newline", hint="This is a fault of the rule that planned it")


def _inside(row: Row, start: int, end: int) -> None:
    if not 0 <= start <= end <= row.end - row.start:
        raise ApplyError(f"a step names bytes {start} to {end} of row {row.ref}, which has {row.end - row.start}", row.span, "Make the plan again")


def _part(session: Session, number: int, rows: list[Row], by_row: dict[str, _RowEdits], first: list[InsertRow], result: Spliced) -> Part:
    part = session.source.parts[number]
    out: list[bytes] = []
    count = 0
    copied = 0
    """Bytes of the old part before this offset are in `out` or left out."""

    def added(insert: InsertRow) -> None:
        nonlocal count
        out.append(insert.data)
        result.changed_bytes += len(insert.data)
        for _ in range(insert.data.count(b"\n")):
            result.added[f"{number}:{count}"] = insert.ref
            count += 1

    for insert in first:
        added(insert)
    for row in rows:
        of_row = by_row.get(row.ref)
        if of_row is None or of_row.untouched:
            result.lineage[f"{number}:{count}"] = row.ref
            count += 1
        else:
            out.append(bytes(part.data[copied : row.start]))
            copied = row.end
            data = session.bytes_of(row)
            for line in _lines(data, of_row, result):
                ended = line.endswith(b"\n") or not data.endswith(b"\n")
                out.append(line if ended else line + b"\n")
                result.changed_bytes += not ended
                result.lineage[f"{number}:{count}"] = row.ref
                count += 1
        if of_row is not None and of_row.inserts:
            out.append(bytes(part.data[copied : row.end]))
            copied = max(copied, row.end)
            _end_line(out, result, row)
            for insert in of_row.inserts:
                added(insert)
    out.append(bytes(part.data[copied : len(part.data)]))
    return Part(part.name, b"".join(out))


def _document(session: Session, number: int, rows: list[Row], by_row: dict[str, _RowEdits], first: list[InsertRow], result: Spliced) -> Part:
    """A part that is a JSON document, with other bodies."""
    part, document = session.source.parts[number], session.documents[number]
    if first or any(of_row.cuts or of_row.splits for ref, of_row in by_row.items() if session.row(ref).part == number):
        raise ApplyError("rows of a document can only be replaced, left out or added", hint="This is a fault of the rule that planned it")
    edits = {row.index: by_row[row.ref] for row in rows if row.ref in by_row}
    changes = {index: each.change.data if isinstance(each.change, ReplaceRow) else None for index, each in edits.items() if each.change is not None}
    data, order = document.rebuilt(changes, {index: [insert.data for insert in each.inserts] for index, each in edits.items()})
    for place, piece in enumerate(order):
        if isinstance(piece, int):
            result.lineage[f"{number}:{place}"] = rows[piece].ref
        else:
            result.added[f"{number}:{place}"] = edits[piece[0]].inserts[piece[1]].ref
    same = common(document.data, data)
    end = common(document.data[same:][::-1], data[same:][::-1])
    result.changed_bytes += len(document.data) + len(data) - 2 * (same + end)
    return Part(part.name, data)


def _end_line(out: list[bytes], result: Spliced, row: Row) -> None:
    """What is inserted begins its own line, also behind a last row that has no newline."""
    last = next((piece for piece in reversed(out) if piece), b"\n")
    if not last.endswith(b"\n"):
        if row.kind is RowKind.BLOB:
            raise ApplyError("rows can't be added to a file that is no transcript", row.span)
        out.append(b"\n")
        result.changed_bytes += 1


def _lines(data: bytes, of_row: _RowEdits, result: Spliced) -> Iterator[bytes]:
    """The new line(s) of a changed row."""
    if isinstance(of_row.change, DropRow):
        result.changed_bytes += len(data)
        return
    if isinstance(of_row.change, ReplaceRow):
        result.changed_bytes += len(of_row.change.data) + len(data)
        yield of_row.change.data
        return
    cuts = sorted((cut.start, cut.end) for cut in of_row.cuts)
    at = kept = 0
    for stop in sorted({*of_row.splits, len(data)}):
        line = b""
        for start, end in cuts:
            if at < end and start < stop:
                line += data[at : max(at, start)]
                at = min(max(at, end), stop)
        line += data[at:stop]
        at = stop
        if not line.strip(b"\r\n"):
            continue
        kept += len(line)
        if stop in of_row.splits and not line.endswith(b"\n"):
            line += b"\n"
            result.changed_bytes += 1
        yield line
    result.changed_bytes += len(data) - kept
