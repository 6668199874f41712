"""Content after call: an answer of the model goes on after its tool calls.

**What it is.** Text or thinking stands behind the last call of one answer.

**Why it matters.** Some requests are refused for it, when the results belong to the calls before that text.

**What the client does.** It sends the blocks in their order.

**What the repair does.** Nothing as long as the derived request is valid; signed blocks are never moved.

**What to check.** Whether the text was written by the model or by another program.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind

CODES = ("content-after-call",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such answer on the branch."""
    looked = index.of(inspection)
    for pieces in looked.groups.values():
        blocks = [(row, block) for row in pieces for block in row.blocks]
        last = max((number for number, (_, block) in enumerate(blocks) if block.kind is BlockKind.CALL), default=None)
        behind = (
            []
            if last is None
            else [row for row, block in blocks[last + 1 :] if block.kind in (BlockKind.TEXT, BlockKind.THINKING) and not block.blank]
        )
        if behind:
            yield Finding(
                "content-after-call", Severity.WARNING, index.refs(dict.fromkeys(behind)),
                "Text or thinking stands behind the last tool call of this answer; some providers refuse that.",
            )  # fmt: skip
