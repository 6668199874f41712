"""Task outcome unknown: nobody knows whether a task of the graph ran.

**What it is.** The next step has a task without any write, or with nothing but an error. The store has no mark that a task was started: killed
before it began, half-way, or after all its effects look the same. A tool that raised after its effect leaves an error, and the effect.

**Why it matters.** The framework runs every such task again at a resume, for certain and without asking. What it had done is then done twice.

**What the client does.** It runs the task again. New input instead throws the task away, and with it what its siblings have recorded.

**What the repair does.** For a tool call it writes a result as the task's own pending write, in the channels that a finished task of the same
node wrote: the confirmed one where a person knows what happened, else a marked one that says that nobody knows. The framework then takes it in
and does not run the task; what siblings have recorded stays. For other tasks nothing is made up.

**What to check.** The target, with a read. Then say what you found.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import resolving, wording
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.tasks import FAILED, UNKNOWN, pending_calls
from ..clients.langgraph.thread import ERROR, thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import Operation

CLIENTS = ("langgraph",)
CODES = ("task-outcome-unknown",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each task that may have acted: its checkpoint, and what it wrote."""
    standing = standing_of(thread_of(inspection.session))
    for checkpoint, task in standing.leaves:
        if task.status not in (UNKNOWN, FAILED) or not standing.acts(task):
            continue
        found = [operation for call in pending_calls(checkpoint, task) if (operation := resolving.operation_of(inspection, call.get("id")))]
        found = found or [each for each in inspection.operations if isinstance(each.arguments, dict) and each.arguments.get("task") == task.id]
        if found and all(harmless(operation) for operation in found):
            continue
        named = ", ".join(wording.operation(each.tool, each.arguments) for each in found if each.call_id)
        how = "failed, and what it had done by then is not known" if task.status == FAILED else "has no writes: it may have run, wholly or in part"
        errors = tuple(each.cell.row.ref for each in task.writes if each.cell.channel == ERROR)
        yield Finding(
            "task-outcome-unknown", Severity.ERROR, (checkpoint.row.ref, *errors),
            f"The task {wording.short(task.name, 40)}{f' ({named})' if named else ''} {how}. A resume runs it again.",
            operation=found[0].key if found else None,
        )  # fmt: skip


def harmless(operation: Operation) -> bool:
    """Whether running it again changes nothing."""
    return operation.effect == "read-only"
