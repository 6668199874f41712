"""Non-object row: a line that is JSON, but no record (`null`, a number, a list).

**What it is.** Something wrote a bare value into the transcript.

**Why it matters.** It is harmless to some releases and fatal to others.

**What the client does.** Most values are skipped. The line `null` stops 2.1.197 altogether; 2.1.89 stops reading there and silently forgets
every row behind it, in this resume and in all later ones; 2.1.232 and later skip it.

**What the repair does.** It leaves the line out.

**What to check.** Nothing, once the line is gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context

CODES = ("non-object-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such line; an error where the simulated client stops reading at it."""
    session = inspection.session
    for row in index.of(inspection).odd:
        if row.damage != "scalar":
            continue
        lost = index.of(inspection).stopped_at(row)
        text = wording.short(session.bytes_of(row)[:200].decode("utf-8", "replace"), 30)
        ends = f"This client stops reading there: {wording.count(lost, 'row')} behind it would be lost." if lost else "The client skips it."
        if row.type == "null" and not lost:
            ends = "Some releases refuse the whole session because of it, or stop reading there."
        yield Finding("non-object-row", Severity.ERROR if lost else Severity.WARNING, index.refs([row]), f"A line is `{text}` and no record. {ends}")


WHY = "The line is no record and is left out."


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the line out."""
    return context.records_only(finding, WHY)
