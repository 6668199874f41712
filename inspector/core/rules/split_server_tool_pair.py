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
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind

CODES = ("split-server-tool-pair",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call of a server tool on the branch without its result in the same answer."""
    looked = index.of(inspection)
    for pieces in looked.groups.values():
        spots = [index.Spot(row, block) for row in pieces for block in row.blocks]
        results = {spot.block.id for spot in spots if spot.block.kind is BlockKind.SERVER_RESULT}
        for spot in spots:
            if spot.block.kind is BlockKind.SERVER_CALL and spot.block.id not in results:
                severity = Severity.WARNING if spot.row in looked.drops else Severity.ERROR
                yield Finding(
                    "split-server-tool-pair", severity, index.refs([spot.row]),
                    f"The provider's own tool `{wording.short(spot.block.name, 40)}` has no result in the same answer.",
                )  # fmt: skip
