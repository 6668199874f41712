"""Pending interrupt: a task of the graph asks a person, and nobody has answered.

**What it is.** A node called `interrupt()`, or middleware holds a tool call back until a person approves it. The question is stored among the
writes of the task.

**Why it matters.** Without the answer nothing goes on. At each resume the node begins again at its top: what its code does before it asks happens
a second time.

**What the client does.** It runs the node again: without an answer up to the same question, with `Command(resume=…)` beyond it.

**What the repair does.** Nothing: the answer is a person's.

**What to check.** What is asked, and whether the node's code changes anything before it asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import INTERRUPT, thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..wording import short

CLIENTS = ("langgraph",)
CODES = ("pending-interrupt",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each task that waits."""
    for _, task in standing_of(thread_of(inspection.session)).leaves:
        rows = tuple(write.cell.row.ref for write in task.writes if write.cell.channel == INTERRUPT)
        if task.status == "waiting":
            calls = [each for each in inspection.operations if each.state == "waiting-approval" and each.result in rows]
            yield Finding(
                "pending-interrupt", Severity.WARNING, rows,
                f"The task {short(task.name, 40)} waits for a person's answer; at a resume it begins again at its top.",
                operation=calls[0].key if calls else None,
            )  # fmt: skip
