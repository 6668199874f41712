"""Stored cache mark: a row holds a `cache_control` of its own.

**What it is.** Blocks in the file carry marks that a client sets when it sends, and that do not belong into a transcript.

**Why it matters.** A request may hold four of them. The client adds its own, and the provider refuses the fifth, or one on an empty text.

**What the client does.** It sends stored marks on text and results as they are.

**What the repair does.** It takes the mark off the block; the text stays byte for byte.

**What to check.** Which program wrote the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, rows_of, step

CODES = ("stored-cache-control",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all such blocks of the derived request."""
    request = inspection.request
    if request is None:
        return
    marked = set()
    for number, message in enumerate(request.body.get("messages", ())):
        content = message.get("content")
        for place, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and "cache_control" in block:
                marked.add(f"/messages/{number}/content/{place}")
    rows = tuple(dict.fromkeys(place.row for place in request.places if place.pointer in marked)) if marked else ()
    if marked:
        yield Finding(
            "stored-cache-control",
            Severity.WARNING,
            rows,
            f"{wording.count(len(marked), 'stored block')} with a cache mark that would be sent with the client's own.",
        )


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take the marks off the blocks."""
    rows = [row for row in rows_of(context, finding) if row.role]
    id = context.step_id(finding.code, rows[0]) if rows else ""
    contents = {row: [_unmarked(block) for block in context.blocks(row)] for row in rows}
    contents = {row: content for row, content in contents.items() if content != context.blocks(row)}
    edits = context.without_blocks({}, context.mark(id), contents)
    return step(finding.code, id, contents, edits, "A stored cache mark is taken off; the text stays.")


def _unmarked(block: Any) -> Any:
    return {key: item for key, item in block.items() if key != "cache_control"} if isinstance(block, dict) else block
