"""Duplicate call id: two calls have the same id.

**What it is.** A message was written twice under different row ids, or a model gave out an id again.

**Why it matters.** A provider refuses a request in which call ids repeat, and a result can't be told to belong to the one or the other.

**What the client does.** It turns the later call into the text `[Tool use interrupted]`; within one message it drops the second. 2.0.76 sends
both.

**What the repair does.** It gives the later call, and the result that follows it, an id of its own.

**What to check.** Whether the call ran once or twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import Context, rows_of, step

CODES = ("duplicate-call-id",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each repeated id; a note where no more than one of the calls is on the continued branch."""
    looked = index.of(inspection)
    for (part, call_id), spots in looked.calls.repeated():
        newest = {spot.row.id: spot.row for spot in spots}
        kept = [spot for spot in spots if spot.row.id is None or newest[spot.row.id] is spot.row]
        if len(kept) < 2:
            continue
        rows = list(dict.fromkeys(spot.row for spot in kept))
        hurts = part != 0 or sum(spot.row in looked.on_branch for spot in kept) > 1
        yield Finding(
            "duplicate-call-id", Severity.ERROR if hurts else Severity.INFO, index.refs(rows),
            f"{len(kept)} calls have the id {wording.short(call_id, 40)}; a provider refuses that.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Give each later call, and the result that follows it, an id of its own; a call repeated within one message is left out."""
    if finding.severity is Severity.INFO:
        return None
    rows = rows_of(context, finding)
    count: Counter[str] = Counter(block.id for row in rows for block in row.blocks if block.kind is BlockKind.CALL and block.id)
    call_id = next((name for name, number in count.items() if number > 1), None)
    if call_id is None:
        return None
    id = context.step_id(finding.code, rows[0])
    key = (rows[0].part, call_id)
    calls = [(row, number) for row in rows for number, block in enumerate(row.blocks) if block.kind is BlockKind.CALL and block.id == call_id]
    results = [spot.row for spot in context.looked.results.get(key, [])]
    first, first_number = calls[0]
    contents: dict[Row, list[Any]] = {}
    gone: dict[Row, set[int]] = defaultdict(set)
    for row, number in calls[1:]:
        given = context.blocks(row)[number]
        if index.message_of(row) == index.message_of(first) and given == context.blocks(first)[first_number]:
            gone[row].add(number)
            continue
        new_id = f"{call_id[:40]}_{context.new_id('call', call_id, context.origin(row.ref))[:8]}"
        contents.setdefault(row, context.blocks(row)[:])[number] = {**given, "id": new_id}
        answer = _answer(row, [each for each, _ in calls], results)
        for place, block in enumerate(context.blocks(answer)) if answer else ():
            if answer and isinstance(block, dict) and block.get("tool_use_id") == call_id:
                contents.setdefault(answer, context.blocks(answer)[:])[place] = {**block, "tool_use_id": new_id}
    edits = context.without_blocks(gone, context.mark(id, was=call_id), contents)
    return step(finding.code, id, rows, edits, "The later call and the result that follows it get an id of their own.", details={"call": call_id})


def _answer(call: Row, calls: list[Row], results: list[Row]) -> Row | None:
    """The first result behind a call and before the next call of the same id."""
    following = [row.index for row in calls if row.index > call.index]
    return next((row for row in results if row.index > call.index and (not following or row.index < min(following))), None)
