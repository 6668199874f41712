"""Spliced lines: two records on one line, or the rest of a cut record with the next one glued to it.

**What it is.** A newline is missing. Two processes wrote at once, or a client appended to a file whose last line had been cut.

**Why it matters.** The line is no JSON record, so all that stands on it is skipped: prompts, answers, results. The rows after it lose their
parents.

**What the client does.** It skips the whole line without a word, even where both records are complete.

**What the repair does.** It splits the line where a whole record begins, so that every complete record is read again; a cut rest stays behind
as a line of its own or is cut off.

**What to check.** The recovered rows, and whether two clients were open on this session at that time.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context

CODES = ("spliced-lines",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such line."""
    looked = index.of(inspection)
    for row in looked.odd:
        if row.damage != "spliced":
            continue
        whole = looked.inner.get(row, [])
        lost = sum(record.kind in index.CHAIN_KINDS for record in whole)
        rest = row.end - row.start - sum(record.end - record.start for record in whole)
        cut = f" and the rest of a cut one ({wording.size(rest)})" if rest > 2 else ""
        yield Finding(
            "spliced-lines", Severity.ERROR if lost else Severity.WARNING, index.refs([row]),
            f"One line holds {wording.count(len(whole), 'whole record')}{cut}. The client skips the line: "
            + (f"{wording.count(lost, 'row')} of the conversation can be recovered." if lost else "no row of the conversation is on it."),
        )  # fmt: skip


WHY = "Each whole record gets a line of its own, so that it is read again."


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put each whole record on a line of its own and leave the rest of a cut one out."""
    return context.records_only(finding, WHY)
