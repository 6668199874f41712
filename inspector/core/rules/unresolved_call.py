"""Unresolved call: a tool call whose result was never saved.

**What it is.** The model asked for a tool, and no row holds what came of it: the process was killed while the tool ran, while the call waited
for its turn, or while it waited for a person's permission. The transcript looks the same in all three cases.

**Why it matters.** The call may have run. A provider refuses a request that holds a call without its result. If the call is simply left out,
the model does not know of it and may do the same again.

**What the client does.** 2.1.281 and later answer calls of the last message with a text that says that the outcome is unknown, and drop calls
further up. Earlier releases drop them all without a word.

**What the repair does.** It keeps the call and adds a marked error result that says that nobody knows whether it ran, and that asks the model
to look first. You may give the real outcome instead, or leave the call out as the client would: a note in the file, which the model never reads, then
keeps the question open.

In a checkpoint store it writes a checkpoint behind the newest one in which every open call is answered in its place.

**What to check.** The target itself: the file, the branch, the order, the log. A sentence of the model is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, resolving, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import Operation
from ..session import Block, BlockKind, Row, Session
from ..steps import LEAVE_OUT, Context, step

CODES = ("unresolved-call",)
ONLY_READS = "It only reads, so nothing can have changed."


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call id without any result; a warning where the call is on a branch that is not continued."""
    looked, session = index.of(inspection), inspection.session
    messages: dict[str, int] = {}
    for (part, call_id), spots in looked.calls.without(looked.results):
        if (part, call_id) in looked.inner_results or call_id in inspection.state.answered:
            continue
        spot = spots[-1]
        rows = [each.row for each in spots]
        beside = part == 0 and not spot.row.sidechain and not any(row in looked.on_branch for row in rows)
        message = index.message_of(spot.row)
        if message not in messages:
            messages[message] = _parallel(looked, spot)
        siblings = messages[message]
        parallel = f", one of {siblings} parallel calls," if siblings > 1 else ""
        may = ONLY_READS if looked.effect(call_id) == "read-only" else "It may have run."
        operation = looked.operations.get(call_id)
        yield Finding(
            "unresolved-call", Severity.WARNING if beside else Severity.ERROR, index.refs(dict.fromkeys(rows)),
            f"The call {_named(session, spot.row, spot.block, operation)}{wording.where(session, spot.row)}{parallel} has no result. {may}"
            + (" It is not on the branch that would be continued." if beside else ""),
            operation=operation.key if operation else None,
        )  # fmt: skip


def _named(session: Session, row: Row, block: Block, operation: Operation | None) -> str:
    """The call in short, by the ledger where it knows it: its reader knows where this client keeps arguments."""
    return wording.operation(operation.tool, operation.arguments) if operation else wording.call(session, row, block)


def _parallel(looked: index.Index, spot: index.Spot) -> int:
    """Calls of the same message."""
    rows = looked.groups.get(index.message_of(spot.row), [spot.row])
    return len({block.id for row in rows for block in row.blocks if block.kind is spot.block.kind})


KEEP = "keep"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Keep the call and answer it with a marked result that says what is known; or leave it out as the client would.

    Nothing is added to what a compaction kept: a row before its boundary that stays in the conversation never becomes a new row's parent.
    """
    if hasattr(context.write, "closed"):
        return _closed(finding, context)
    row = context.session.row(finding.rows[-1])
    open_calls = [
        (number, block) for number, block in enumerate(row.blocks)
        if block.kind is BlockKind.CALL and block.id and block.id not in context.done and (row.part, block.id) not in context.looked.results
    ]  # fmt: skip
    operation = next((each for each in inspection.operations if finding.operation and each.key == finding.operation), None)
    named = [spot for spot in open_calls if operation is None or spot[1].id == operation.call_id]
    kept = row in context.looked.on_branch and context.behind_compaction(row)
    answers = getattr(context.write, "answers", None)
    if not named or row.id is None or kept or (answers is not None and not answers(context.session, row)):
        return None
    number, block = named[0]
    call_id = block.id or ""
    operation = operation or resolving.operation_of(inspection, call_id)
    resolution = context.resolution(call_id, operation.key if operation else None)
    id = context.step_id(finding.code, row) + (f"/{number}" if len(row.blocks) > 1 else "")
    choices = (KEEP, LEAVE_OUT) if hasattr(context.write, "left_out_row") else (KEEP,)
    chosen = context.chosen(id, choices)
    context.done.add(call_id)
    about = _named(context.session, row, block, operation)
    mark = resolving.mark_for(context, id, resolution, operation.key if operation else None)
    unknown = resolution is None or resolution.outcome == "unknown"
    waits = operation.key if operation and operation.state == "uncertain" and unknown else None
    if chosen == LEAVE_OUT:
        edits = context.without_blocks({row: {number}}, mark)
        why = f"The call {about} is left out. That repairs the conversation; it does not undo what the command did."
    else:
        data = context.write.result_row(
            context.session, row, call_id, resolving.text_for(resolution), error=resolving.is_error(resolution),
            interrupted=unknown, id=context.new_id("result", call_id), at=context.time_after(row, len(context.done)), mark=mark,
        )  # fmt: skip
        after = context.write.answered_after(context.session, row) if hasattr(context.write, "answered_after") else row
        edits = (context.insert(after, data),)
        says = "that nobody knows whether it ran" if unknown else f"what a person found: {resolution.outcome if resolution else ''}"
        why = f"The call {about} is kept and answered by a marked result that says {says}."
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen, waits_for=waits, details={"call": call_id})


def _closed(finding: Finding, context: Context) -> Step | None:
    """Answer every open call of the conversation by a checkpoint behind the newest one: a store holds the conversation whole."""
    calls = context.write.open_calls(context.session)
    row = context.session.row(finding.rows[-1])
    id = context.step_id(finding.code, row)
    answers, waits = {}, None
    for call_id, tool in calls:
        operation = resolving.operation_of(context.inspection, call_id)
        resolution = context.resolution(call_id, operation.key if operation else None)
        mark = resolving.mark_for(context, id, resolution, operation.key if operation else None)
        if operation and (resolution is None or resolution.outcome == "unknown"):
            waits = waits or operation.key
        answers[call_id] = context.write.tool_message(
            call_id, tool, resolving.text_for(resolution), error=resolving.is_error(resolution), id=context.new_id("result", call_id), mark=mark
        )
    made = context.write.closed(context.session, answers, context.seed, context.at) if answers else None
    if made is None:
        return None
    ends = [[each for each in context.session.rows if each.part == part] for part in (0, 1)]
    edits = [context.insert(ends[0][-1], made.line)]
    edits += [context.insert(ends[1][-1], b"".join(made.blobs))] if made.blobs and ends[1] else []
    why = f"A checkpoint behind the newest one answers {wording.count(len(answers), 'open call')}, each right behind the message that asked."
    return step(finding.code, id, [row], edits, why, waits_for=waits, details={"call": ", ".join(answers)})
