"""Missing final newline: the last record is whole, but its line is not ended.

**What it is.** The file ends right after a record, without a newline.

**Why it matters.** The record itself is safe. The next one may be written onto the same line, and then both are lost.

**What the client does.** Releases before 2.1.281 append without a newline; later ones put one first.

**What the repair does.** It adds the newline.

**What to check.** Nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import SplitRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("missing-final-newline",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each part whose last record is not ended."""
    for row in index.of(inspection).odd:
        if "missing-final-newline" in row.faults:
            yield Finding(
                "missing-final-newline", Severity.WARNING, index.refs([row]),
                "The last line has no newline: an older client would write its next row onto the same line, and lose both.",
            )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """End the line."""
    row = context.session.row(finding.rows[0])
    return step(finding.code, context.step_id(finding.code, row), [row], [SplitRow(row.ref, (row.end - row.start,))], "The last line is ended.")
