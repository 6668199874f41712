"""Double dispatch: the same act was carried out twice.

**What it is.** Two calls that mean the same both have a real result, and the second was made before the first one's result was there; or one
call has two real results that differ.

**Why it matters.** The change was made twice: two payments, two releases, a line that stands there double.

**What the client does.** Nothing: to it they are two calls. Of two results of one call it sends the first.

**What the repair does.** Nothing about the change itself. Of two results of one call it keeps one (`duplicate-result`).

**What to check.** The target: which of the two is wanted, and whether the other has to be undone.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, intents, reading, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row

CODES = ("double-dispatch",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One warning for each pair of calls with results, and for each call that can change something and has two different ones. Both outcomes
    are known, so nothing has to be settled before the session goes on."""
    for first, second in intents.retries(inspection):
        if first.state == second.state == "confirmed" and first.result and second.result and first.call and second.call:
            yield Finding(
                "double-dispatch", Severity.WARNING, (first.call, first.result, second.call, second.result),
                f"{wording.operation(first.tool, first.arguments)} ran twice: it was called again before its first result was there, "
                "and both calls have one.",
                operation=first.key,
            )  # fmt: skip
    looked = index.of(inspection)
    for key, spots in looked.results.repeated():
        operation = looked.operations.get(key[1])
        rows = {spot.row.id or spot.row.ref: spot.row for spot in spots if not spot.block.error and not spot.row.extra.marked}
        real = [row for row in rows.values() if not index.stands_in(inspection.session, row)]
        calls = {spot.row.id or spot.row.ref for spot in looked.calls.get(key)}
        if operation is None or operation.effect == "read-only" or len(calls) > 1 or len({_said(inspection, row, key[1]) for row in real}) < 2:
            continue
        yield Finding(
            "double-dispatch", Severity.WARNING, index.refs(real),
            f"{wording.operation(operation.tool, operation.arguments)} has {len(real)} results that differ: it may have run more than once.",
            operation=operation.key,
        )  # fmt: skip


def _said(inspection: Inspection, row: Row, call_id: str) -> str:
    """The result of a call as one row holds it."""
    blocks = wording.blocks_of(inspection.session.value(row))
    numbers = [number for number, block in enumerate(row.blocks) if block.kind is BlockKind.RESULT and block.id == call_id]
    if any(number >= len(blocks) for number in numbers):  # of another client: what a person saw of it
        return "\n".join(item.text for item in reading.CLIENTS[inspection.session.client].screen_items(inspection.session, [row]))
    return repr([blocks[number].get("content") for number in numbers])
