"""Lost checkpoint: tasks have recorded their work, and the checkpoint that takes it in is missing.

**What it is.** Checkpoints are written in the background by default, so a killed process leaves writes without the checkpoint behind them. The
framework then says that nothing comes next, although the thread is not finished; sometimes even the checkpoint that writes belong to is missing.

**Why it matters.** The steps behind the missing checkpoint may have run and had their effects, without a trace. New input, or an update of the
state, throws the recorded writes away: the model is asked again, and may ask for the same tools again.

**What the client does.** A resume without input takes the writes in and goes on with the next step, tools included.

**What the repair does.** It writes the missing checkpoint from the recorded writes, as the framework would. Then the tasks of the next step can
be answered one by one. Where a channel's reducer is not plain from the thread's past, nothing is written.

**What to check.** Whether the tools that the recorded answer asks for have already run.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..clients.langgraph.advance import advanced
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import AS_THE_CLIENT, Context, step

CLIENTS = ("langgraph",)
CODES = ("lost-checkpoint",)
WRITE = "write-checkpoint"


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most two findings: writes that no checkpoint took in, and writes whose own checkpoint is missing."""
    standing = standing_of(thread_of(inspection.session))
    if standing.lost and standing.newest is not None:
        names = ", ".join(dict.fromkeys(wording.short(task.name, 40) for task in standing.tasks))
        rows = dict.fromkeys([standing.newest.row.ref, *(write.cell.row.ref for write in standing.recorded)])
        yield Finding(
            "lost-checkpoint", Severity.ERROR, tuple(rows),
            f"Every task of the last step ({names}) is done and recorded, but the checkpoint that takes its work in is missing: the thread is not "
            "finished although the framework says that nothing comes next.",
        )  # fmt: skip
    if standing.orphans:
        yield Finding(
            "lost-checkpoint", Severity.ERROR, tuple(write.cell.row.ref for write in standing.orphans),
            f"{wording.count(len(standing.orphans), 'write belongs', 'writes belong')} to a checkpoint that the store does not hold: a resume does "
            "not know of this work, and does it again.",
        )  # fmt: skip


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether the checkpoint can be written: the finding names the one before it, and every channel's reducer is plain."""
    standing = standing_of(thread_of(inspection.session))
    return standing.newest is not None and finding.rows[0] == standing.newest.row.ref and advanced(standing, "", "") is not None


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Write the missing checkpoint from the recorded writes, or leave it to the framework, which then goes on at once."""
    standing = standing_of(thread_of(inspection.session))
    newest = standing.newest
    if newest is None or finding.rows[0] != newest.row.ref:
        return None
    made = advanced(standing, context.seed, context.at)
    if made is None:
        return None
    id = context.step_id(finding.code, newest.row)
    choices = (WRITE, AS_THE_CLIENT)
    chosen = context.chosen(id, choices)
    why = "The framework takes the recorded writes in by itself, and runs the next step at once."
    edits = []
    if chosen == WRITE:
        why = "The missing checkpoint is written from what the tasks have recorded; nothing runs, and the next step's tasks can be answered."
        main = [row for row in context.session.rows if row.part == 0]
        edits.append(context.insert(main[-1], made.line))
        beside = [row for row in context.session.rows if row.part == 1]
        edits += [context.insert(beside[-1], b"".join(made.blobs))] if made.blobs and beside else []
    return step(finding.code, id, [newest.row], edits, why, choices=choices, chosen=chosen, details={"checkpoint": made.id})
