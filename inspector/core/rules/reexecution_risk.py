"""Re-execution risk: a resume runs code again that has run, or may have.

**What it is.** The framework runs whole nodes. One that stopped at a question, or failed, begins again at its top with everything that it does
before that point.

**Why it matters.** Its effects happen again unless its code asks first.

**What the client does.** It runs the task again: at a resume, or with the answer that it waits for.

**What the repair does.** Nothing by itself; see `task-outcome-unknown` for tasks that can be answered instead.

**What to check.** What the node does before the place where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection

CLIENTS = ("langgraph",)
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
    """At most one finding: the calls that a saved run makes before it asks the model, those that only read aside."""
    effects = {operation.call_id: operation.effect for operation in inspection.operations}
    first = [task for task in inspection.state.runs_first or () if not all(effects.get(call["id"]) == "read-only" for call in task["calls"])]
    if first:
        named = ", ".join(dict.fromkeys(wording.operation(str(call["name"]), call["args"]) for task in first for call in task["calls"]))
        yield Finding(
            "reexecution-risk", Severity.WARNING, tuple(dict.fromkeys(task["row"] for task in first if task["row"])),
            f"A resume runs {named} before it asks the model. Whatever has been done since the state was saved is done again.",
        )  # fmt: skip
