"""Orphan result: a tool result whose call is not in the conversation.

**What it is.** The row with the call is missing, stands before a compaction, or is on another branch.

**Why it matters.** A provider refuses a result whose call is not in the message before it.

**What the client does.** It leaves the result out; 2.1.332 puts a short note in its place when it was the first message.

**What the repair does.** It turns the result into marked text, or leaves it out. A call is never made up for it.

**What to check.** What the result says: the model no longer sees it, though it acted on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index, wording
from ..edits import DropRow, Edit, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Block, BlockKind, Row
from ..steps import LEAVE_OUT, Context, rows_of, step

CODES = ("orphan-result",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call id; a warning where the result is on a branch that is not continued."""
    looked = index.of(inspection)
    for key, spots in looked.results.items():
        call = looked.calls.of(key[0]).get(key[1])
        if call is not None and (call.row in looked.on_branch or not any(spot.row in looked.on_branch for spot in spots)):
            continue
        calls = looked.calls.get(key)
        rows = list(dict.fromkeys(spot.row for spot in spots))
        sent = [row for row in rows if row in looked.on_branch]
        if not calls:
            beside = "" if sent or rows[0].part or rows[0].sidechain else " It is not on the branch that would be continued."
            severity = Severity.WARNING if beside else Severity.ERROR
            said = (
                f"A tool result{wording.where(inspection.session, rows[0])} answers the call {wording.short(key[1], 40)}, which is in no row.{beside}"
            )
            yield Finding("orphan-result", severity, index.refs(rows), said)
        elif sent and not any(spot.row in looked.on_branch for spot in calls):
            yield Finding(
                "orphan-result", Severity.ERROR, index.refs(sent),
                f"The result of {wording.call(inspection.session, calls[-1].row, calls[-1].block)} is in the conversation that would be continued, "
                "its call is not.",
            )  # fmt: skip


TEXT = "text"
TO_ITS_CALL = "to-its-call"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Turn the result into marked text, or leave it out; a call is never made up for it.

    Where its call stands outside the conversation, before a compaction or on another branch, the row goes back to its call. When the call
    follows the row that the result hangs from, only a link was wrong, and what follows the result stays with it.
    """
    rows = rows_of(context, finding)
    if hasattr(context.write, "as_text"):
        return _of_items(context, finding, rows)
    id = context.step_id(finding.code, rows[0])
    calls = _calls(context, rows[0])
    beside = bool(calls) and any(row.id == rows[0].parent for row in context.looked.ancestors(calls[-1]))
    apart = bool(calls) and len(rows) == 1 and len(rows[0].blocks) == 1 and (beside or rows[0] is not context.looked.leaf())
    choices = (TO_ITS_CALL, TEXT) if apart else (TEXT, LEAVE_OUT)
    chosen = context.chosen(id, choices)
    orphans: dict[Row, set[int]] = {}
    for row in rows:
        for number, block in enumerate(row.blocks):
            if block.kind is BlockKind.RESULT and _orphan(context, row, block):
                orphans.setdefault(row, set()).add(number)
    edits: tuple[Edit, ...]
    if chosen == TO_ITS_CALL:
        children = [] if beside else context.children(rows[0])
        edits = (context.relink(rows[0], calls[-1].id), *(context.relink(child, rows[0].parent) for child in children))
        why = "The result hangs from its call again" + (", and the rest of the conversation with it." if beside else ", outside this conversation.")
    elif chosen == TEXT:
        edits = context.edits([], {row: _told(context, row, numbers, id) for row, numbers in orphans.items()})
        why = "The result is kept as marked text: its call is not part of this conversation."
    else:
        edits, why = context.without_blocks(orphans, context.mark(id)), "The result is left out."
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen)


def _of_items(context: Context, finding: Finding, rows: list[Row]) -> Step | None:
    """The same where every result is a row of its own."""
    texts = [ReplaceRow(row.ref, body) for row in rows if (body := context.write.as_text(context.session, row)) is not None]
    if not texts:
        return None
    id, choices = context.step_id(finding.code, rows[0]), (TEXT, LEAVE_OUT)
    chosen = context.chosen(id, choices)
    edits = texts if chosen == TEXT else [DropRow(edit.row) for edit in texts]
    why = "The result is kept as marked text: its call is not part of this conversation." if chosen == TEXT else "The result is left out."
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen)


def _calls(context: Context, row: Row) -> list[Row]:
    """Rows of the calls that the row's first result answers."""
    named = next((block.id for block in row.blocks if block.kind is BlockKind.RESULT), None)
    return [spot.row for spot in context.looked.calls.get((row.part, named or ""), []) if spot.row.id]


def _orphan(context: Context, row: Row, block: Block) -> bool:
    calls = context.looked.calls.get((row.part, block.id or ""), [])
    return not calls or (row in context.looked.on_branch and not any(spot.row in context.looked.on_branch for spot in calls))


def _told(context: Context, row: Row, orphans: set[int], id: str) -> dict[str, Any]:
    """The row with its orphans as text, which then is a note and no prompt of a person."""
    content = [each for number, block in enumerate(context.blocks(row)) for each in (_as_text(block) if number in orphans else [block])]
    return context.content(row, content, context.mark(id), isMeta=True)


def _as_text(block: Any) -> list[Any]:
    """The blocks that stand for a result without its call."""
    stored = block.get("content")
    parts = [each for each in stored if isinstance(each, dict)] if isinstance(stored, list) else [{"type": "text", "text": stored}]
    text = "\n".join(str(each["text"]) for each in parts if each.get("type") == "text" and each.get("text"))
    head = f"[Result of a tool call that is not part of this conversation ({block.get('tool_use_id')})]"
    return [{"type": "text", "text": f"{head}\n{text}".rstrip()}, *(each for each in parts if each.get("type") != "text")]
