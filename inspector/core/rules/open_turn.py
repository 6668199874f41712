"""Open turn: the conversation ends with something that the model has not answered.

**What it is.** The last message is a prompt (`user-tail`) or the result of a tool (`open-turn`); the process stopped before the answer was
saved.

**Why it matters.** Nothing of an unfinished answer is saved, but its tools may already have started. The work that the prompt asked for may
be half done.

**What the client does.** It adds a text of its own ("No response requested.", and in earlier releases "Continue from where you left off.")
before the next prompt.

**What the repair does.** It adds the same rows as a step that you can see, or leaves the end open, so that the next prompt follows at once.

**What to check.** What the last prompt asked for, and whether any of it was done.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, resolving, symptoms
from ..edits import Edit, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import LOST_ANSWER
from ..session import BlockKind, Row
from ..steps import AS_THE_CLIENT, Context, later, step

CODES = ("user-tail", "open-turn")
LEAVE_OPEN = "leave-open"
TELL = "tell-the-model"


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding. A client's own command, its summary, or an interruption at the end is no open turn."""
    looked = index.of(inspection)
    tail = looked.tail()
    if inspection.state.runs_first is not None:  # a saved run goes on by itself
        return
    if tail is None or tail.role != "user" or any(index.api_error(row) for row in looked.branch[looked.place[tail] :]):
        return
    light = tail.extra
    text = getattr(light, "text", None)
    if getattr(light, "compact_summary", False) or symptoms.interruption(text) or symptoms.local_command(text):
        return
    if index.results_only(tail):
        if _call_open(looked, tail):
            return
        yield Finding("open-turn", Severity.WARNING, index.refs([tail]), "The last tool result was never answered: the turn is not finished.")
    elif getattr(light, "meta", False):
        yield Finding("open-turn", Severity.WARNING, index.refs([tail]), "The last message is a note of the client that the model has not answered.")
    else:
        yield Finding(
            "user-tail", Severity.WARNING, index.refs([tail]),
            "The last prompt was never answered. Tools start before an answer is saved, so some of it may have been done.",
        )  # fmt: skip


def _call_open(looked: index.Index, tail: Row) -> bool:
    """Whether another call of the answered message has no result: that is a fault of its own."""
    answered = {block.id for block in tail.blocks}
    for pieces in reversed(looked.groups.values()):
        calls = {block.id for row in pieces for block in row.blocks if block.kind is BlockKind.CALL}
        if calls & answered:
            return any((tail.part, call or "") not in looked.results for call in calls)
    return False


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Add the rows that the client itself would add before the next prompt, or leave the end open."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    if hasattr(context.write, "note_row"):
        return _noted(context, finding, row, id)
    choices = (AS_THE_CLIENT, LEAVE_OPEN)
    chosen = context.chosen(id, choices)
    why = "The end stays open: the next prompt follows at once."
    edits: list[Edit] = []
    if chosen == AS_THE_CLIENT:
        edits = _rows(context, id)
        if not edits:
            return None
        why = "The rows are added that the client itself would add when it resumes."
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen)


def _noted(context: Context, finding: Finding, row: Row, id: str) -> Step | None:
    """Nothing, or a note that tells the model that a turn may be missing here: where a person chooses so, or has said what happened."""
    lost = next((each for each in context.inspection.operations if each.tool == LOST_ANSWER and each.evidence[0].row == row.ref), None)
    if lost is None or not context.write.writes(context.session, row):
        return None
    resolution = context.resolution(lost.key)
    choices = (TELL, LEAVE_OPEN) if resolution is not None else (LEAVE_OPEN, TELL)
    chosen = context.chosen(id, choices)
    edits, why = [], "The end stays open: the next prompt follows at once, and the model does not know that a turn may be missing."
    if chosen == TELL:
        mark = resolving.mark_for(context, id, resolution, lost.key)
        edits = [context.insert(row, context.write.note_row(context.session, row, resolving.text_for(resolution), mark))]
        why = "A note tells the model that what came next was never saved, and what is known of it."
    waits = lost.key if lost.state == "uncertain" and (resolution is None or resolution.outcome == "unknown") else None
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen, waits_for=waits)


def _rows(context: Context, id: str) -> list[Edit]:
    added = [each for each in context.inspection.state.added if each.why in ("continuation", "sentinel")]
    if not added or added[0].parent is None or added[0].parent.startswith("+"):
        return []
    leaf, parent = context.looked.leaf(), context.session.row(added[0].parent)
    if leaf is not None and leaf not in context.looked.ancestors(parent):
        parent = leaf
    if parent.id is None or parent.part != 0 or context.behind_compaction(parent):
        return []
    last = list(context.session.main())[-1]
    edits: list[Edit] = []
    hangs_from = parent.id
    for number, each in enumerate(added):
        new_id, at = context.new_id(each.why, parent.id), later(max(context.at, parent.at or ""), number + 1)
        draft = context.write.continuation_row if each.why == "continuation" else context.write.sentinel_row
        data = draft(context.session, parent, hangs_from, id=new_id, message_id=context.new_id("message", parent.id), at=at, mark=context.mark(id))
        edits.append(context.insert(last, data))
        hangs_from = new_id
    return edits
