"""Dangling parent: a row hangs from a row that is not in the file.

**What it is.** The row's `parentUuid` names a row that was never written, was lost with a damaged line, or was removed.

**Why it matters.** The chain is broken there. What came before the gap may be missing from the conversation, without any sign of it.

**What the client does.** 2.1.197 and later bridge the gap to the newest earlier row when at most five seconds lie between; otherwise
everything before it is left out. Earlier releases never bridge.

**What the repair does.** It hangs the row from the row that stood before it in the file, so that the earlier part is back. When a damaged line
holds the parent, that line is mended first.

**What to check.** Whether the row before the gap really is the one that came before: read the two, and look for what is missing between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, step
from ..verdicts import Reason

CODES = ("dangling-parent",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each row whose parent is not there."""
    looked = index.of(inspection)
    ids = {part: looked.by_id.of(part) for part in looked.parts}
    for row in looked.chain:
        if row.parent is None or row.parent in ids[row.part]:
            continue
        if inspection.state.rehung.get(row.ref, ("", ""))[1] != "preserved":
            yield _finding(inspection, looked, row)


def _finding(inspection: Inspection, looked: index.Index, row: Row) -> Finding:
    damaged = looked.inner_ids.get((row.part, row.parent or ""))
    missing = "whose parent stands in a damaged line" if damaged else f"whose parent {wording.short(row.parent, 40)} is not in the file"
    rows = (row, damaged) if damaged else (row,)
    place = looked.place.get(row)
    if place is None:
        where = wording.where(inspection.session, row) or " beside the continued branch"
        return Finding("dangling-parent", Severity.WARNING, index.refs(rows), f"There is a row{where}, {missing}.")
    lost = [each for each in looked.dropped(Reason.BEFORE_GAP) if each.kind in index.CHAIN_KINDS]
    if place > 0:
        return Finding(
            "dangling-parent", Severity.WARNING, index.refs(rows),
            f"The conversation has a gap: a row {missing}. The client bridges it to the row before by time.",
        )  # fmt: skip
    if not lost:
        return Finding("dangling-parent", Severity.WARNING, index.refs(rows), f"The conversation begins with a row {missing}.")
    return Finding(
        "dangling-parent", Severity.ERROR, index.refs(rows),
        f"The conversation is cut: it begins with a row {missing}. {wording.count(len(lost), 'earlier row')} would not be sent.",
    )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Hang the row from the one that the client bridges to, else from the row before it in the file; or let the conversation begin there."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    choices = ("relink", "begin-here")
    chosen = context.chosen(id, choices)
    place = context.looked.place.get(row)
    before = context.looked.branch[place - 1] if place else context.before(row)
    parent = before.id if before is not None and chosen == "relink" else None
    why = f"The row hangs from row {context.origin(before.ref)} again." if before is not None and parent else "The conversation begins with this row."
    return step(finding.code, id, [row], [context.relink(row, parent)], why, choices=choices, chosen=chosen)
