"""String content: an answer of the model is stored as plain text instead of blocks.

**What it is.** `content` of an assistant row is a string. The client itself never writes that: another program did.

**Why it matters.** 2.1.197 resumes such a session, sends nothing and writes an error text into it.

**What the client does.** 2.1.277 and later take it; earlier ones fail.

**What the repair does.** It stores the same text as one text block.

**What to check.** Which program wrote the row.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, rows_of, step

CODES = ("string-content",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all such rows of a Claude Code transcript."""
    if inspection.session.client != "claude-code":
        return
    rows = [row for row in index.of(inspection).chain if row.role == "assistant" and row.extra.string_content]
    if rows:
        yield Finding(
            "string-content", Severity.WARNING, index.refs(rows),
            f"{wording.count(len(rows), 'answer')} stored as plain text instead of blocks; some releases fail at that.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Store the text as one text block."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    contents = {row: context.blocks(row) for row in rows}
    edits = context.without_blocks({}, context.mark(id), contents)
    return step(finding.code, id, rows, edits, "The same text is stored as a block, as every release reads it.")
