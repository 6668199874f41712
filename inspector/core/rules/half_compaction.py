"""Half compaction: the boundary is there, the summary is not.

**What it is.** The process stopped between the two rows that a compaction writes.

**Why it matters.** Some releases take the boundary for the beginning of the conversation, and find nothing behind it.

**What the client does.** 2.1.197 and later ignore such a boundary and use the full history. 2.1.89 sends nothing but the new prompt.

**What the repair does.** It leaves the boundary out, so that every release sees the full history.

**What to check.** Whether the full history still fits into the model's window.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step
from ..verdicts import Reason

CODES = ("half-compaction",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each boundary without a summary; an error where the history before it is lost for the simulated release."""
    looked = index.of(inspection)
    for row in inspection.session.of_type("system/compact_boundary", part=0):
        if row.id is None or row.sidechain:
            continue
        children = looked.children.get((row.part, row.id or ""))
        if any(getattr(child.extra, "compact_summary", False) for child in children):
            continue
        lost = row in looked.on_branch and any(looked.dropped(Reason.BEFORE_COMPACTION))
        ends = "this client would forget everything before it." if lost else "this client ignores it."
        yield Finding("half-compaction", Severity.ERROR if lost else Severity.WARNING, index.refs([row]), f"A compaction has no summary; {ends}")


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the boundary out; what hangs from it hangs from the row that it followed."""
    row = context.session.row(finding.rows[0])
    before = context.looked.by_id.get((row.part, getattr(row.extra, "logical_parent", None) or ""))
    parent = before[-1].id if before else None
    edits = [DropRow(row.ref), *(context.relink(child, parent) for child in context.children(row))]
    why = "The compaction was not finished: its boundary is left out, the history stays."
    return step(finding.code, context.step_id(finding.code, row), [row], edits, why)
