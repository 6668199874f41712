"""Windows of a revision's row index, and the exact bytes behind them."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable

from django.db.models import Q, QuerySet

from inspector.models import IndexedRow, Revision
from inspector.models.text import clean

from .artifacts import part_bytes

WINDOW = 200
SHOWN = {
    "all": Q(),
    "messages": Q(kind="message"),
    "left-out": Q(pointers="", reason__gt="") & ~Q(reason__in=("record", "progress", "not-a-transcript", "blank-line", "brackets")),
}
"""Named filters of the grid. `problems` is made of the findings' refs: see `matching`."""
PROBLEMS = 10_000
SCAN = 4 << 20


def seqs_of(*, revision: Revision, refs: Iterable[str]) -> dict[str, int]:
    """Ref `PART:ROW` -> place among all rows; refs that name no row are left out."""
    parts = {number: (first, rows) for number, first, rows in revision.parts.values_list("number", "first_row", "rows")}
    found = {}
    for ref in refs:
        named = re.fullmatch(r"(\d{1,6}):(\d{1,9})", ref)
        first, rows = parts.get(int(named[1]), (0, 0)) if named else (0, 0)
        if named and int(named[2]) < rows:
            found[ref] = first + int(named[2])
    return found


def seq_of(*, revision: Revision, ref: str) -> int | None:
    """Place of one ref among all rows, or None when there is no such row."""
    return seqs_of(revision=revision, refs=[ref]).get(ref)


def matching(*, revision: Revision, show: str = "all", part: int | None = None) -> QuerySet[IndexedRow]:
    """Rows of a revision in order; `show`: all | messages | problems | left-out."""
    rows = IndexedRow.objects.filter(revision=revision)
    if part is not None:
        rows = rows.filter(part=part)
    if show == "problems":
        refs = [ref for refs in revision.findings.exclude(severity="info").values_list("rows", flat=True) for ref in refs]
        seqs = sorted(seqs_of(revision=revision, refs=refs).values())[:PROBLEMS]
        return rows.filter(Q(seq__in=seqs) | Q(kind="damaged")).order_by("seq")
    return rows.filter(SHOWN[show]).order_by("seq")


def window(
    *, revision: Revision, after: int | None = None, before: int | None = None, around: int | None = None, count: int = WINDOW, show: str = "all",
    part: int | None = None,
) -> list[IndexedRow]:  # fmt: skip
    """At most `count` rows in order: those after a `seq`, those before one, those around one, or the first ones."""
    rows = matching(revision=revision, show=show, part=part)
    if around is not None:
        head = list(rows.filter(seq__lt=around).order_by("-seq")[: count // 2])
        return [*reversed(head), *rows.filter(seq__gte=around)[: count - len(head)]]
    if before is not None:
        return [*reversed(rows.filter(seq__lt=before).order_by("-seq")[:count])]
    return list((rows if after is None else rows.filter(seq__gt=after))[:count])


def slices(*, revision: Revision, rows: Iterable[IndexedRow], limit: int | None = None) -> list[bytes]:
    """The exact bytes of each row, in order; of longer rows the first `limit` bytes. Raises OSError, ReadError."""
    parts = _Parts(revision)
    return [parts[row.part][row.start : row.end if limit is None else min(row.end, row.start + limit)] for row in rows]


class _Parts(dict):  # type: ignore[type-arg]
    """Opened parts by number, opened when first asked for."""

    def __init__(self, revision: Revision) -> None:
        super().__init__()
        self._revision = revision

    def __missing__(self, number: int) -> object:
        self[number] = part_bytes(revision=self._revision, number=number)
        return self[number]


def pattern_of(text: str) -> re.Pattern[bytes] | None:
    """What finds a text as JSON may write it, ignoring case; None for no text."""
    wanted = clean(text).strip()
    if not wanted:
        return None
    escaped = {wanted.encode(), *(json.dumps(wanted, ensure_ascii=ascii_only)[1:-1].encode() for ascii_only in (True, False))}
    return re.compile(b"|".join(re.escape(form) for form in sorted(escaped)), re.IGNORECASE)


def search(*, revision: Revision, text: str, part: int | None = None, limit: int = 200) -> list[str]:
    """Refs of rows whose bytes hold `text`, ignoring case, as stored in JSON; in order, at most `limit`. Reads every frame once."""
    pattern = pattern_of(text)
    if pattern is None:
        return []
    longest = len(pattern.pattern)
    numbers = [part] if part is not None else list(revision.parts.filter(rows__gt=0).order_by("number").values_list("number", flat=True))
    found: list[str] = []
    for number in numbers:
        data = part_bytes(revision=revision, number=number)
        hits: list[int] = []
        for start in range(0, len(data), SCAN):
            hits += [start + hit.start() for hit in pattern.finditer(data[start : start + SCAN + longest - 1])]
            if len(hits) > limit * 50:
                break
        found += _refs_at(revision, number, hits, limit - len(found))
        if len(found) >= limit:
            break
    return found


def _refs_at(revision: Revision, part: int, places: list[int], limit: int) -> list[str]:
    """Refs of the rows that hold these bytes, each once."""
    if not places:
        return []
    starts = list(matching(revision=revision, part=part).values_list("start", flat=True))
    numbers = dict.fromkeys(bisect_right(starts, place) - 1 for place in places)
    return [f"{part}:{number}" for number in list(numbers)[:limit]]


def minimap(*, revision: Revision) -> list[tuple[int, str]]:
    """(seq, what) of the rows that the minimap marks: `compaction`, `damaged`, `call` (uncertain), or a severity; in order."""
    marks = {seq: "compaction" for seq in matching(revision=revision).filter(type="system/compact_boundary").values_list("seq", flat=True)}
    marks |= {seq: "damaged" for seq in matching(revision=revision).filter(kind="damaged").values_list("seq", flat=True)}
    for severity in ("info", "warning", "error", "fatal"):
        found = {}
        for refs, operation in revision.findings.filter(severity=severity).values_list("rows", "operation"):
            found |= dict.fromkeys(refs, "call" if operation else severity)
        marks |= {seq: found[ref] for ref, seq in seqs_of(revision=revision, refs=found).items()}
    return sorted(marks.items())
