"""Open vote: the workflow waits for a vote that is not decided.

**What it is.** The checkpoint holds a vote gate: several agents or people have to agree before the next step. Its state is open, or it lacks votes
or an outcome.

**Why it matters.** Going on would pass the gate. A vote that is filled in by a tool is nobody's vote.

**What the client does.** An app whose resume restores the gate waits; one that does not know the field goes on.

**What the repair does.** Nothing: a workflow that waits is not broken. The field is kept as it is.

**What to check.** Who has still to vote, and that the app restores the gate.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.apple_workflow.checkpoint import checkpoint_of, open_votes
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("open-vote",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each open vote of a workflow that is not done."""
    held = checkpoint_of(inspection.session) if inspection.session.client == "apple-workflow" else None
    if held is None or held.step == "done":
        return
    for vote in open_votes(held):
        yield Finding("open-vote", Severity.FATAL, (vote.row,), f"The vote `{vote.name}` is not decided: nothing goes on before it is.")
