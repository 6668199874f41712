"""Duplicate result: one call has more than one result.

**What it is.** Two rows answer the same call: the result was written twice, or two clients answered it.

**Why it matters.** A provider takes one result for each call. When the two differ, only one can be true.

**What the client does.** The first one counts; 2.0.76 sends both and is refused.

**What the repair does.** It keeps the one that the client uses and leaves the other out, declared in the plan. When one of them is only a
stand-in for a missing result, see `hidden-late-result`.

**What to check.** Whether the two say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .. import index, wording
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import Context, rows_of, step

CODES = ("duplicate-result",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call with more results than calls, stand-ins left aside."""
    looked = index.of(inspection)
    for key, spots in looked.results.repeated():
        kept: dict[str, Row] = {}
        within = 0
        for spot in spots:
            within += kept.get(spot.row.id or spot.row.ref) is spot.row
            kept[spot.row.id or spot.row.ref] = spot.row
        calls = {spot.row.id or spot.row.ref for spot in looked.calls.get(key)}
        stand_ins = [row for row in kept.values() if index.stands_in(inspection.session, row)]
        if len(kept) + within <= max(len(calls), 1) or (stand_ins and len(stand_ins) < len(kept)):
            continue
        rows = list(kept.values())
        severity = Severity.ERROR if within or sum(row in looked.on_branch for row in rows) > 1 else Severity.WARNING
        yield Finding(
            "duplicate-result", severity, index.refs(rows),
            f"The call {wording.short(key[1], 40)} has {len(kept) + within} results; a provider takes one, and the client sends the first.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Keep the result that the client uses and leave the others out."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    if hasattr(context.write, "writes"):  # every result is a row of its own, and of several the last is sent
        if not all(context.write.writes(context.session, row) for row in rows):
            return None
        why = "A call has one result: the last one, which the client sends, stays; the others are left out."
        return step(finding.code, id, rows, [DropRow(row.ref) for row in rows[:-1]], why)
    sent = [row for row in rows if row in context.looked.on_branch] or rows
    count: Counter[str] = Counter(block.id for row in rows for block in row.blocks if block.kind is BlockKind.RESULT and block.id)
    seen: set[str] = set()
    gone: dict[Row, set[int]] = {}
    for row in [*sent, *(row for row in rows if row not in sent)]:
        for number, block in enumerate(row.blocks):
            if block.kind is BlockKind.RESULT and block.id and count[block.id] > 1:
                if block.id in seen:
                    gone.setdefault(row, set()).add(number)
                seen.add(block.id)
    edits = context.without_blocks(gone, context.mark(id))
    return step(finding.code, id, rows, edits, "A call has one result: the one that the client uses stays, the others are left out.")
