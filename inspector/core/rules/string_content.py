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
from ..findings import Finding, Severity
from ..inspection import Inspection

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
