"""Duplicate uuid: two different rows have the same id.

**What it is.** A row was written again with other content, or two programs gave out the same id.

**Why it matters.** Only one of them can be in the conversation; the other is lost without a word.

**What the client does.** The content of the last one counts, at the place of the first in the chain.

**What the repair does.** It gives nothing a new meaning by itself: the row that the client ignores is left out, so that every reader sees the
same conversation. The original keeps both.

**What to check.** Which of the two is what really happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import DropRow, Edit, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind
from ..steps import Context, rows_of, step

CODES = ("duplicate-uuid",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each id that rows of different content share."""
    session = inspection.session
    looked = index.of(inspection)
    for _, rows in looked.by_id.repeated():
        rows = [row for row in rows if row.kind in index.CHAIN_KINDS]
        if len(rows) > 1 and len({session.bytes_of(row).strip() for row in rows}) > 1:
            severity = Severity.ERROR if any(row in looked.on_branch for row in rows) else Severity.WARNING
            yield Finding(
                "duplicate-uuid", severity, index.refs(rows),
                f"{wording.count(len(rows), 'row')} with different content share the id {wording.short(rows[0].id, 40)}; the last one counts.",
            )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Keep the last row, which the client uses, in the place of the first where both follow the same row; or the first, if a person says so."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    choices = ("keep-last", "keep-first")
    chosen = context.chosen(id, choices)
    if chosen == "keep-first":
        edits: list[Edit] = [DropRow(row.ref) for row in rows[1:]]
    elif rows[0].parent == rows[-1].parent:
        data = context.session.bytes_of(rows[-1]).rstrip(b"\r\n") + b"\n"
        edits = [ReplaceRow(rows[0].ref, data), *(DropRow(row.ref) for row in rows[1:])]
    else:
        edits = [DropRow(row.ref) for row in rows[:-1]]
    left = rows[:-1] if chosen == "keep-last" else rows[1:]
    calls = ", ".join(block.id for row in left for block in row.blocks if block.kind is BlockKind.CALL and block.id)
    why = "Rows of different content share an id: the one that the client ignores is left out; the original keeps both."
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen, details={"calls": calls} if calls else {})
