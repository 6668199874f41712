"""Empty text: a message whose text is empty or white space.

**What it is.** The model answered with nothing to see, or a prompt was sent without text.

**Why it matters.** A provider refuses empty text blocks, without saying where they are: every later request of the session fails.

**What the client does.** It leaves such answers out, and puts `(no content)` in place of such prompts. Releases differ in the details.

**What the repair does.** It does the same, as a step that you can see.

**What to check.** Nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind

CODES = ("empty-text",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all rows on the branch with such a text block."""
    rows = [
        row for row in index.of(inspection).messages
        if any(block.kind is BlockKind.TEXT and block.blank for block in row.blocks)
    ]  # fmt: skip
    if rows:
        yield Finding(
            "empty-text", Severity.WARNING, index.refs(rows),
            f"{wording.count(len(rows), 'row')} with an empty text; a provider refuses empty text.",
        )  # fmt: skip
