"""Split server tool pair: a tool that runs at the provider has no result in the same answer.

**What it is.** A `server_tool_use` block, and its result is missing or stands in another message.

**Why it matters.** The provider wants both in one assistant message.

**What the client does.** It drops an open one at the end of the conversation.

**What the repair does.** It leaves the block out when there is no result.

**What to check.** Nothing on your side: such tools (search, fetch) run at the provider.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind
from ..steps import Context, step

CODES = ("split-server-tool-pair",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call of a server tool on the branch without its result in the same answer."""
    looked = index.of(inspection)
    for pieces in looked.groups.values():
        spots = [index.Spot(row, block) for row in pieces for block in row.blocks]
        results = {spot.block.id for spot in spots if spot.block.kind is BlockKind.SERVER_RESULT}
        for spot in spots:
            if spot.block.kind is BlockKind.SERVER_CALL and spot.block.id not in results:
                severity = Severity.WARNING if spot.row.ref in looked.drops else Severity.ERROR
                yield Finding(
                    "split-server-tool-pair", severity, index.refs([spot.row]),
                    f"The provider's own tool `{wording.short(spot.block.name, 40)}` has no result in the same answer.",
                )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the block out."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    pieces = context.pieces(row)
    results = {block.id for piece in pieces for block in piece.blocks if block.kind is BlockKind.SERVER_RESULT}
    gone = {number for number, block in enumerate(row.blocks) if block.kind is BlockKind.SERVER_CALL and block.id not in results}
    why = "The provider's own tool has no result in this answer; its block is left out, as the client leaves it out."
    return step(finding.code, id, [row], context.without_blocks({row: gone}, context.mark(id)), why)
