"""Empty text: a message whose text is empty or white space.

**What it is.** The model answered with nothing to see, or a prompt was sent without text.

**Why it matters.** A provider refuses empty text blocks, without saying where they are: every later request of the session fails.

**What the client does.** It leaves such answers out, and puts `(no content)` in place of such prompts. Releases differ in the details.

**What the repair does.** It does the same, as a step that you can see.

**What to check.** Nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import Context, rows_of, step

CODES = ("empty-text",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for all rows on the branch whose whole message is blank, one note for blank pieces of messages that say more."""
    looked = index.of(inspection)
    whole: list[Row] = []
    pieces: list[Row] = []
    speaking: dict[str, bool] = {}
    for row in looked.messages:
        if any(block.kind is BlockKind.TEXT and block.blank for block in row.blocks):
            message = index.message_of(row)
            if row.role != "assistant":
                says = _says([row])
            elif message in speaking:
                says = speaking[message]
            else:
                says = speaking[message] = _says(looked.groups[message])
            (pieces if says else whole).append(row)
    if whole:
        said = f"{wording.count(len(whole), 'message row')} with nothing but empty text; a provider refuses empty text."
        yield Finding("empty-text", Severity.WARNING, index.refs(whole), said)
    if pieces:
        said = f"{wording.count(len(pieces), 'row')} with an empty piece of text in a message that says more; the client leaves it out."
        yield Finding("empty-text", Severity.INFO, index.refs(pieces), said)


def _says(rows: list[Row]) -> bool:
    """Whether the rows of a message hold anything but blank texts and thinking."""
    return any(block.kind is not BlockKind.THINKING and not block.blank for row in rows for block in row.blocks)


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take empty texts out; a message of a person that holds nothing else says `(no content)`, as the client would send it."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    gone: dict[Row, set[int]] = {}
    contents: dict[Row, list[Any]] = {}
    for row in rows:
        blank = {number for number, block in enumerate(row.blocks) if block.kind is BlockKind.TEXT and block.blank}
        if blank and row.role == "user" and len(blank) == len(row.blocks):
            contents[row] = [{"type": "text", "text": context.write.NO_CONTENT}]
        elif blank:
            gone[row] = blank
    edits = context.without_blocks(gone, context.mark(id), contents)
    return step(finding.code, id, [*gone, *contents], edits, "Empty texts are left out, as the client leaves them out.")
