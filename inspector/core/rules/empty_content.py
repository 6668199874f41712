"""Empty content: a message without any block.

**What it is.** The row's content is an empty list.

**Why it matters.** A provider refuses a message without content, except as the last answer.

**What the client does.** It sends `(no content)` in its place.

**What the repair does.** It leaves an empty answer out, and writes `(no content)` into an empty message of a person.

**What to check.** Whether something emptied the row: see `emptied-history` when there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, rows_of, step

CODES = ("empty-content",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all such rows on the branch."""
    rows = [row for row in index.of(inspection).messages if not row.blocks and not getattr(row.extra, "content_missing", False)]
    if rows:
        yield Finding("empty-content", Severity.WARNING, index.refs(rows), f"{wording.count(len(rows), 'message row')} without any content.")


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave an empty answer out; an empty message of a person says `(no content)`, as the client would send it.

    The client does not send an answer that is stored as `(no content)`, so that text would not stay.
    """
    rows = [row for row in rows_of(context, finding) if row.role and not row.blocks]
    id = context.step_id(finding.code, rows[0]) if rows else ""
    contents: dict[Row, list[Any]] = {row: [{"type": "text", "text": context.write.NO_CONTENT}] for row in rows if row.role == "user"}
    gone: dict[Row, set[int]] = {row: set() for row in rows if row.role != "user"}
    edits = context.without_blocks(gone, context.mark(id), contents)
    return step(finding.code, id, rows, edits, "An empty answer is left out; an empty message of a person says so, as the client would send it.")
