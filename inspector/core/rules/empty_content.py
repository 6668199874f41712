"""Empty content: a message without any block.

**What it is.** The row's content is an empty list.

**Why it matters.** A provider refuses a message without content, except as the last answer.

**What the client does.** It sends `(no content)` in its place.

**What the repair does.** It does the same, as a step that you can see.

**What to check.** Whether something emptied the row: see `emptied-history` when there are many.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("empty-content",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all such rows on the branch."""
    rows = [row for row in index.of(inspection).messages if not row.blocks and not getattr(row.extra, "content_missing", False)]
    if rows:
        yield Finding("empty-content", Severity.WARNING, index.refs(rows), f"{wording.count(len(rows), 'message row')} without any content.")
