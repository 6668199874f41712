"""Long tool name: the name of a tool in a call is longer than the provider takes.

**What it is.** A call names a tool with more than 200 characters, usually garbage that the model wrote into the name.

**Why it matters.** Every later request of the session is refused.

**What the client does.** It sends the name as it is.

**What the repair does.** It shortens the name in the call.

**What to check.** That no such tool ran: the call's result says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind
from ..steps import Context, step

CODES = ("long-tool-name",)
LIMIT = 200


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such call on the branch."""
    for row in index.of(inspection).messages:
        for block in row.blocks:
            if block.kind is BlockKind.CALL and block.name is not None and len(block.name) > LIMIT:
                yield Finding(
                    "long-tool-name",
                    Severity.ERROR,
                    index.refs([row]),
                    f"A call names a tool with {len(block.name):,} characters; {LIMIT} are allowed.",
                )


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Shorten the names in the row's calls."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    content = [
        {**block, "name": block["name"][:LIMIT]} if isinstance(block, dict) and isinstance(block.get("name"), str) else block
        for block in context.blocks(row)
    ]  # fmt: skip
    was = [block.name for block in row.blocks if block.name and len(block.name) > LIMIT]
    edits = context.without_blocks({}, context.mark(id, was=was), {row: content})
    return step(finding.code, id, [row], edits, f"The tool's name is cut to {LIMIT} characters.")
