"""Bad timestamp: a row of the conversation without a time that can be read.

**What it is.** The field `timestamp` is missing or is no date.

**Why it matters.** Some releases choose the row to continue from by its time, and refuse a session whose last row has none.

**What the client does.** 2.1.197 does not find the session when the last row's time is bad; 2.1.89 never continues from such a row; later
releases do not mind. A gap in the chain behind such a row is never bridged, for bridges go by time.

**What the repair does.** It gives the last row the time of the row before it, marked as such.

**What to check.** Whether something else edited the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import moment
from ..steps import Context, later, step

CODES = ("bad-timestamp",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for the last row of the conversation, one note for all the others together."""
    rows = index.of(inspection).main
    last = rows[-1] if rows else None
    others = []
    for row in index.unusual_times(rows):
        if row.at is not None and len(row.at) >= 20 and moment(row.at) is not None:
            continue
        if row is last:
            said = f"`{wording.short(row.at, 40)}`, which is no time" if row.at else "no time at all"
            yield Finding("bad-timestamp", Severity.WARNING, index.refs([row]), f"The last row has {said}: some releases don't find such a session.")
        else:
            others.append(row)
    if others:
        yield Finding("bad-timestamp", Severity.INFO, index.refs(others), f"{wording.count(len(others), 'row')} without a time that can be read.")


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Give the last row a time right after the row before it; other rows' times decide nothing."""
    if finding.severity is Severity.INFO:
        return None
    row = context.session.row(finding.rows[0])
    times = [other.at for other in context.looked.main if other is not row and other.at and moment(other.at) is not None]
    id = context.step_id(finding.code, row)
    at = later(max(times), 1) if times else context.at
    edits = [context.with_fields(row, {"timestamp": at, context.write.MARK: context.mark(id, was=context.value(row).get("timestamp"))})]
    return step(finding.code, id, [row], edits, "The last row gets a time right after the row before it, so that every release finds the session.")
