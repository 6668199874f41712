"""Sibling branches: the thread has several newest checkpoints.

**What it is.** Two workers resumed the thread at the same time, or somebody went on from an older checkpoint on purpose (a fork).

**Why it matters.** The framework goes on with whichever was written last and never mentions the other. Two workers have both run the same tasks:
their effects have happened twice.

**What the client does.** It takes the checkpoint with the highest id.

**What the repair does.** Nothing: which branch is the right one is a person's choice. A fork of the thread at the other branch keeps both.

**What to check.** Whether the branches hold the same calls, and what the targets say.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection

CLIENTS = ("langgraph",)
CODES = ("sibling-branches",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: the ends of all branches, the one that goes on last."""
    thread = thread_of(inspection.session)
    leaves = thread.leaves()
    if len(leaves) < 2:
        return
    chosen = any(checkpoint.source in ("update", "fork") for checkpoint in standing_of(thread).lineage)
    twice = "two runs may have gone on from the same checkpoint, and done the same work twice"
    why = "somebody went on from an older checkpoint" if chosen else twice
    yield Finding(
        "sibling-branches", Severity.INFO if chosen else Severity.WARNING, tuple(leaf.row.ref for leaf in leaves),
        f"The thread has {len(leaves)} branches: {why}. A resume goes on with the one that was written last, in row {leaves[-1].row.ref}.",
    )  # fmt: skip
