"""Truncated tail: the last line was cut while it was being written.

**What it is.** The file ends in the middle of a record: the process or the machine stopped during the write, or the disk was full.

**Why it matters.** The record is lost. When it held a tool call, that call may have run without any row that says so.

**What the client does.** It skips the line. Releases before 2.1.281 then append their next row to the fragment without a newline, so that this
row is lost too; later ones put a newline first.

**What the repair does.** It cuts the fragment off, or ends it with a newline when a whole record can be read from it. The original keeps the
bytes.

**What to check.** What was going on at that moment: look at the files, the process list and the logs of the target before you go on.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context

CODES = ("truncated-tail",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each part that ends in a cut line."""
    session = inspection.session
    for row in index.of(inspection).odd:
        if row.damage == "truncated" and row.part in session.documents:
            size = wording.size(len(session.source.parts[row.part].data))
            says = f"The document breaks off after {size}; it is read whole or not at all."
            yield Finding("truncated-tail", Severity.FATAL, index.refs([row]), says)
        elif row.damage == "truncated":
            data = session.bytes_of(row)
            kind = symptoms.cut_record(data)
            severity = Severity.ERROR if symptoms.of_conversation(data) else Severity.WARNING
            said = f"a record of type `{kind}`" if kind else "a record"
            yield Finding(
                "truncated-tail", severity, index.refs([row]),
                f"The last line{wording.where(session, row)} is cut after {wording.size(len(data))}; {said} is lost, "
                "and what the session did at that moment may not be recorded.",
            )  # fmt: skip


WHY = "The fragment can't be read and is left out; the original keeps it."


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the fragment out."""
    return context.records_only(finding, WHY)
