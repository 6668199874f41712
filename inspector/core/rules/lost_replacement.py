"""Lost replacement: a record that shortens a tool result does not fit any result.

**What it is.** A `content-replacement` row says what to send in place of a large result. Its list can't be read, or names a call without a
result in this file.

**Why it matters.** The full result, or nothing, would be sent. Some releases refuse or stop reading at a list that is none.

**What the client does.** The observed releases read the row and send the full result.

**What the repair does.** It leaves a broken row out. A fork carries readable ones over.

**What to check.** Whether the result that it names was lost with another fault of this file.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("lost-replacement",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row."""
    looked = index.of(inspection)
    for row in inspection.session.of_type("content-replacement", part=0):
        given = inspection.session.value(row).get("replacements")
        if not isinstance(given, list):
            lost_rows = looked.stopped_at(row)
            ends = f"this client stops reading there and would lose {wording.count(lost_rows, 'row')}" if lost_rows else "some releases fail at it"
            severity = Severity.ERROR if lost_rows else Severity.WARNING
            yield Finding("lost-replacement", severity, index.refs([row]), f"A record of replaced results holds no list; {ends}.")
            continue
        calls = [each.get("toolUseId") for each in given if isinstance(each, dict)]
        lost = [call for call in calls if isinstance(call, str) and (0, call) not in looked.results]
        if lost:
            yield Finding(
                "lost-replacement", Severity.WARNING, index.refs([row]),
                f"{wording.count(len(lost), 'replaced result')} ({wording.short(lost[0], 40)}) not in this file.",
            )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave a broken record out; readable ones stay."""
    row = context.session.row(finding.rows[0])
    if isinstance(context.value(row).get("replacements"), list):
        return None
    why = "The record of replacements can't be read and is left out."
    return step(finding.code, context.step_id(finding.code, row), [row], [DropRow(row.ref)], why)
