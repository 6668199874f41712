"""NUL block: a run of zero bytes in the transcript.

**What it is.** The file system kept the length of the file but not its content: the usual trace of a power cut or a killed virtual machine.

**Why it matters.** What stood there is gone, and a row that was later written behind the zeros on the same line is skipped with them.

**What the client does.** It skips the line.

**What the repair does.** It cuts the zero bytes out and keeps a whole record that follows them.

**What to check.** Whether the rows before and after fit together, and what ran on the machine when it went down.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context

CODES = ("nul-block",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each line with zero bytes."""
    session = inspection.session
    for row in index.of(inspection).odd:
        if row.damage != "nul":
            continue
        data = session.bytes_of(row)
        whole = index.of(inspection).inner.get(row, [])
        if whole:
            rest = f"{wording.count(len(whole), 'whole record')} on the same line can be recovered"
        elif data.strip(b"\0 \t\r\n"):
            rest = "the record that stood there is lost"
        else:
            rest = "nothing else is on that line"
        hurts = symptoms.of_conversation(data)
        yield Finding(
            "nul-block", Severity.ERROR if hurts else Severity.WARNING, index.refs([row]),
            f"A line holds {wording.count(data.count(0), 'zero byte')}; {rest}.",
        )  # fmt: skip


WHY = "The zero bytes are left out; what can still be read on that line stays."


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Cut the zero bytes out; whole records on the line stay."""
    return context.records_only(finding, WHY)
