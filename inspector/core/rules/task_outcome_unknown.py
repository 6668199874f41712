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
from ..clients.langgraph.standing import Standing, standing_of
from ..clients.langgraph.tasks import FAILED, UNKNOWN, Task, pending_calls
from ..clients.langgraph.thread import ERROR, Checkpoint, thread_of
from ..clients.langgraph.write import last_row, message_channel, other_channels, task_rows, tool_message
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import Operation
from ..steps import AS_THE_CLIENT, Context, step

CLIENTS = ("langgraph",)
CODES = ("task-outcome-unknown",)
ANSWER = "answer"


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each task that may have acted: its checkpoint, and what it wrote."""
    standing = standing_of(thread_of(inspection.session))
    for checkpoint, task in standing.leaves:
        if task.status not in (UNKNOWN, FAILED) or not standing.acts(task):
            continue
        found = operations_of(inspection, checkpoint, task)
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


def operations_of(inspection: Inspection, checkpoint: Checkpoint, task: Task) -> list[Operation]:
    """The operations that a task stands for: its tool calls, else the one that the task itself is."""
    calls = [resolving.operation_of(inspection, call.get("id")) for call in pending_calls(checkpoint, task)]
    found = [operation for operation in calls if operation is not None]
    return found or [each for each in inspection.operations if isinstance(each.arguments, dict) and each.arguments.get("task") == task.id]


def harmless(operation: Operation) -> bool:
    """Whether running it again changes nothing."""
    return operation.effect == "read-only"


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether the task can be answered: it stands for tool calls, and the store tells where their results go."""
    standing = standing_of(thread_of(inspection.session))
    found = _task(inspection, standing, finding)
    return found is not None and bool(pending_calls(*found)) and other_channels(standing, *found) is not None


def _task(inspection: Inspection, standing: Standing, finding: Finding) -> tuple[Checkpoint, Task] | None:
    """The task that a finding is about."""
    for checkpoint, task in standing.leaves:
        keys = [operation.key for operation in operations_of(inspection, checkpoint, task)]
        if checkpoint.row.ref == finding.rows[0] and task.status in (UNKNOWN, FAILED) and finding.operation in keys:
            return checkpoint, task
    return None


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Answer the task's calls by its own pending write, or leave the task to the framework, which runs it again."""
    standing = standing_of(thread_of(inspection.session))
    found = _task(inspection, standing, finding)
    besides = other_channels(standing, *found) if found else None
    if found is None or besides is None or finding.operation is None:
        return None
    checkpoint, task = found
    calls = pending_calls(checkpoint, task)
    if not calls:
        return None
    id = f"{context.step_id(finding.code, checkpoint.row)}/{task.index if task.index >= 0 else task.name}"
    choices = (ANSWER, AS_THE_CLIENT)
    chosen = context.chosen(id, choices)
    messages, said, open_still = [], [], None
    for call in calls:
        operation = resolving.operation_of(inspection, call.get("id"))
        resolution = context.resolution(call.get("id"), operation.key if operation else None)
        unknown = resolution is None or resolution.outcome == "unknown"
        mark = resolving.mark_for(context, id, resolution, operation.key if operation else None)
        messages.append(tool_message(
            str(call.get("id")), str(call.get("name") or ""), resolving.text_for(resolution), error=resolving.is_error(resolution),
            id=context.new_id("result", str(call.get("id"))), mark=mark,
        ))  # fmt: skip
        said.append(f"{wording.operation(str(call.get('name')), call.get('args'))}: {resolution.outcome if resolution else 'unknown'}")
        open_still = open_still or (operation.key if operation and unknown else None)
    details = {"task": task.id, "calls": ", ".join(str(call.get("id")) for call in calls)}
    if chosen == AS_THE_CLIENT:
        why = "The framework runs the task again."
        return step(finding.code, id, [checkpoint.row], (), why, choices=choices, chosen=chosen, waits_for=open_still, details=details)
    rows = task_rows(standing.thread, checkpoint, task, [(message_channel(standing, checkpoint), messages), *besides])
    edits = (context.insert(last_row(context.session, checkpoint), b"".join(rows)),)
    why = f"The task is answered by a pending write of its own, so that the framework does not run it again ({'; '.join(said)})."
    return step(finding.code, id, [checkpoint.row], edits, why, choices=choices, chosen=chosen, waits_for=open_still, details=details)
