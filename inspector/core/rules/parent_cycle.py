"""Parent cycle: rows that are each other's ancestors.

**What it is.** Following the parents of a row leads back to the row itself.

**Why it matters.** There is no beginning. A client that walks such a chain hangs, or cuts it somewhere.

**What the client does.** 2.0.76 hangs for ever. Later releases stop at the first row that they meet again, and may bridge from there by time.

**What the repair does.** It hangs the first row of the circle from the row that stands before it in the file.

**What to check.** That the conversation begins where it should.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, step

CODES = ("parent-cycle",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each circle."""
    looked = index.of(inspection)
    if not looked.early:
        return
    done: set[Row] = set()
    for start in looked.chain:
        above = _above(looked, start)
        if above is None or above in done:
            done.add(start)
            continue
        path: dict[Row, None] = {}
        row: Row | None = start
        while row is not None and row not in done and row not in path:
            path[row] = None
            row = _above(looked, row)
        done.update(path)
        if row is not None and row in path:
            rows = list(path)
            circle = sorted(rows[rows.index(row) :], key=lambda each: each.index)
            on_branch = any(each in looked.on_branch for each in circle)
            said = "names itself as its parent" if len(circle) == 1 else "are each other's ancestors"
            yield Finding(
                "parent-cycle", Severity.ERROR if on_branch or looked.state.refused else Severity.WARNING, index.refs(circle),
                f"{wording.count(len(circle), 'row')} {said}: the chain has no beginning.",
            )  # fmt: skip


def _above(looked: index.Index, row: Row) -> Row | None:
    return looked.by_id.last(row.part, row.parent) if row.parent else None


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Hang the first row of the circle from the row before it in the file."""
    row = context.session.row(finding.rows[0])
    before = context.before(row)
    where = f"from row {context.origin(before.ref)}, which stands before it" if before else "from nothing: the conversation begins with it"
    edits = [context.relink(row, before.id if before else None)]
    return step(finding.code, context.step_id(finding.code, row), [row], edits, f"The first row of the circle hangs {where}.")
