"""Re-execution risk: a resume runs code again that has run, or may have.

**What it is.** The framework runs whole nodes. One that stopped at a question, or failed, begins again at its top with everything that it does
before that point.

**Why it matters.** Its effects happen again unless its code asks first.

**What the client does.** It runs the task again: at a resume, or with the answer that it waits for.

**What the repair does.** Nothing by itself; see `task-outcome-unknown` for tasks that can be answered instead. In a RunState of the OpenAI Agents
SDK the approval of a call can be taken back: the tool is then not run, and the model is told what a person found out. It is done where a person says
that the call took effect, or chooses so.

**What to check.** What the node does before the place where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import resolving, wording
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..edits import ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import AS_THE_CLIENT, Context, step

CLIENTS = ("langgraph",)
NOT_AGAIN = "do-not-run"
CODES = ("reexecution-risk",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: every task that a resume runs before it asks the model, hooks of middleware aside."""
    if inspection.session.client != "langgraph":
        yield from _of_state(inspection)
        return
    standing = standing_of(thread_of(inspection.session))
    effects = {operation.call_id: operation.effect for operation in inspection.operations}
    again = [
        task for task in standing.again
        if standing.acts(task.name) and not (task.calls and all(effects.get(call.get("id")) == "read-only" for call in task.calls))
    ]  # fmt: skip
    if again:
        named = ", ".join(dict.fromkeys(
            wording.operation(str(call.get("name")), call.get("args")) for task in again for call in task.calls
        )) or ", ".join(dict.fromkeys(f"`{wording.short(task.name, 40)}`" for task in again))  # fmt: skip
        yield Finding(
            "reexecution-risk", Severity.WARNING, tuple(dict.fromkeys(task.row for task in again)),
            f"A resume runs {wording.count(len(again), 'task')} before it asks the model: {named}. What has been done already is done again.",
        )  # fmt: skip


def _of_state(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call that a saved run makes before it asks the model, those that only read aside."""
    for task in inspection.state.runs_first or () if inspection.state.refused is None else ():
        for call in task["calls"]:
            operation = resolving.operation_of(inspection, call["id"])
            if operation is None or operation.effect != "read-only":
                yield Finding(
                    "reexecution-risk", Severity.WARNING, (task["row"],),
                    f"A resume runs {wording.operation(str(call['name']), call['args'])} before it asks the model. If it has run since the state was "
                    "saved, it runs again.",
                    operation=operation.key if operation else None,
                )  # fmt: skip


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether a repair can keep the call from being made: in a saved run, where a person's decision about it is stored."""
    return inspection.session.client != "langgraph"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take the approval back where a person says that the call took effect, or chooses so."""
    operation = next((each for each in inspection.operations if finding.operation and each.key == finding.operation), None)
    if not mends(inspection, finding) or operation is None or operation.call_id is None:
        return None
    resolution = context.resolution(operation.call_id, operation.key)
    id = f"{finding.code}:{operation.call_id}"
    known = resolution is not None and resolution.outcome == "happened"
    choices = (NOT_AGAIN, AS_THE_CLIENT) if known else (AS_THE_CLIENT, NOT_AGAIN)
    chosen = context.chosen(id, choices)
    mark = resolving.mark_for(context, id, resolution, operation.key)
    made = context.write.rejected(context.session, operation.call_id, resolving.text_for(resolution), mark) if chosen == NOT_AGAIN else None
    named = wording.operation(operation.tool, operation.arguments)
    why = f"The approval of {named} is taken back: it is not run, and the model is told what is known." if made else f"A resume runs {named}."
    row, waits = context.session.row(finding.rows[0]), operation.key if operation.state == "uncertain" and not known else None
    edits = [ReplaceRow(made[0].ref, made[1])] if made else []
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen, waits_for=waits, details={"call": operation.call_id})
