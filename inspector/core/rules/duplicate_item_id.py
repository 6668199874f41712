"""Duplicate item id: two items of the request have the same id.

**What it is.** The provider gives every item an id of its own. Here an id occurs more than once: two runs wrote the same session, a history was put
together twice, or a program between gave out ids of its own.

**Why it matters.** The provider refuses the request: "Duplicate item found with id".

**What the client does.** Of calls and outputs that are told apart by their ids it sends the last; messages it sends all.

**What the repair does.** It takes the id off every one of them: an id is needed only for what the provider keeps itself. Nothing else changes.

**What to check.** Whether the items say the same, so that one of them is too many.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, rows_of, step

CODES = ("duplicate-item-id",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each repeated id."""
    for problem in index.of(inspection).problems.get("R7", ()):
        yield Finding("duplicate-item-id", Severity.ERROR, problem.rows, f"{problem.message} The provider refuses that.")


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take the provider's id off each of the items."""
    rows = rows_of(context, finding)
    edits = [ReplaceRow(row.ref, body) for row in rows if (body := context.write.without_id(context.session, row)) is not None]
    if not edits:
        return None
    return step(finding.code, context.step_id(finding.code, rows[0]), rows, edits, "The items lose the id that they share; nothing refers to it.")
