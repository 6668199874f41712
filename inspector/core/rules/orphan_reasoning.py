"""Orphan reasoning: reasoning and the item that it belongs to are not together.

**What it is.** A provider that keeps the model's reasoning to itself hands out an item in its place, and wants it back together with the call or the
message that came out of it. Here one of the two is missing: reasoning that nothing follows (an error), or an item whose own reasoning may be gone
(a warning).

**Why it matters.** The provider refuses the request: "was provided without its required following item", "was provided without its required
'reasoning' item". So it refuses every later one of the session.

**What the client does.** It leaves out the reasoning right before a call that it leaves out. Other reasoning it sends as it stands.

**What the repair does.** It leaves the reasoning out: its text is only for the model that made it. From an item whose reasoning is gone it takes the
provider's id, by which the two were joined; its `call_id` stays.

**What to check.** Nothing that was said or done is lost. What stood between the two may be: an interruption, or a trimmed history.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import DropRow, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("orphan-reasoning",)
ALONE = "R5"
BEREFT = "R6"


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each problem of the request."""
    problems = index.of(inspection).problems
    for problem in problems.get(ALONE, ()):
        yield Finding("orphan-reasoning", Severity.ERROR, problem.rows, problem.message)
    for problem in problems.get(BEREFT, ()):
        yield Finding("orphan-reasoning", Severity.WARNING, problem.rows, problem.message)


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the reasoning out, or take the provider's id off the item."""
    row = context.session.row(finding.rows[0]) if finding.rows else None
    if row is None or not context.write.writes(context.session, row):
        return None
    id = context.step_id(finding.code, row)
    if finding.severity is Severity.ERROR:
        return step(finding.code, id, [row], [DropRow(row.ref)], "The reasoning is left out: the item that it belongs to is not there.")
    body = context.write.without_id(context.session, row)
    if body is None:
        return None
    why = "The item loses the provider's id, by which it would ask for its reasoning."
    return step(finding.code, id, [row], [ReplaceRow(row.ref, body)], why)
