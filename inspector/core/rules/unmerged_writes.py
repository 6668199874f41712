"""Unmerged writes: work that a task has recorded is not part of the state.

**What it is.** One of several parallel tasks is done and its result is stored beside the checkpoint, while a sibling is not. Or that was so, and
new input or an update of the state came first: then the result was thrown away.

**Why it matters.** A result that was thrown away has happened all the same. The model sees its call without an answer and may ask again.

**What the client does.** A resume without input takes recorded writes in. New input and `update_state` throw them away.

**What the repair does.** While they are pending, nothing is needed: answer the sibling, and do not send new input before. What was thrown away
stays readable here.

**What to check.** What the recorded result says.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection

CLIENTS = ("langgraph",)
CODES = ("unmerged-writes",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most two findings: writes that wait to be taken in, and writes that were thrown away."""
    standing = standing_of(thread_of(inspection.session))
    if standing.recorded and not standing.lost:
        done = sum(task.status == "recorded" for task in standing.tasks)
        yield Finding(
            "unmerged-writes", Severity.WARNING, tuple(write.cell.row.ref for write in standing.recorded),
            f"{wording.count(done, 'task has', 'tasks have')} recorded results that are not in the state yet. A resume takes them in; new input or "
            "an update would throw them away.",
        )  # fmt: skip
    if standing.thrown_away:
        yield Finding(
            "unmerged-writes", Severity.ERROR, tuple(write.cell.row.ref for _, write in standing.thrown_away),
            f"{wording.count(len(standing.thrown_away), 'recorded result')} never became part of the state: new input or an update came first. "
            "The work has happened; the model does not know of it.",
        )  # fmt: skip
