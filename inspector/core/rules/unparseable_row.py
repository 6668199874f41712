"""Unparseable row: a line that is no JSON record.

**What it is.** Broken text in the middle of the file, or a line that something else wrote there.

**Why it matters.** If it was a record of the conversation, it is lost, and the rows that hang from it lose their history.

**What the client does.** It skips the line.

**What the repair does.** It leaves the line out of the new revision, and joins the rows after it to the ones before. The original keeps it.

**What to check.** The text of the line: what can still be read may tell what the model did there.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms, wording
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("unparseable-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such line."""
    session = inspection.session
    for row in index.of(inspection).odd:
        if row.damage != "unparseable":
            continue
        if row.part in session.documents:
            document = session.documents[row.part]
            says = "The document is no valid JSON here; it is read whole or not at all."
            if document.tail and row.index == len(document.pieces) - 1:
                says = f"{wording.size(row.end - row.start)} follow the end of the document: it is read whole or not at all."
            yield Finding("unparseable-row", Severity.FATAL, index.refs([row]), says)
            continue
        data = session.bytes_of(row)
        kind = symptoms.cut_record(data)
        severity = Severity.ERROR if symptoms.of_conversation(data) else Severity.WARNING
        said = f"a broken record of type `{kind}`" if kind else f"no record: `{wording.short(data[:200].decode('utf-8', 'replace'), 40)}`"
        yield Finding("unparseable-row", severity, index.refs([row]), f"A line of {wording.size(len(data))} is {said}. The client skips it.")


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether it can be left out: any line; of a document only what follows its end."""
    session = inspection.session
    row = session.row(finding.rows[0])
    document = session.documents.get(row.part)
    return document is None or (document.tail and row.index == len(document.pieces) - 1)


WHY = "The line can't be read and is left out; the original keeps it."


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the line out; of a document what follows its end."""
    if context.session.documents:
        row = context.session.row(finding.rows[0])
        return step(finding.code, context.step_id(finding.code, row), [row], [DropRow(row.ref)], WHY) if mends(inspection, finding) else None
    return context.records_only(finding, WHY)
