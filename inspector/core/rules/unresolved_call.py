"""Unresolved call: a tool call whose result was never saved.

**What it is.** The model asked for a tool, and no row holds what came of it: the process was killed while the tool ran, while the call waited
for its turn, or while it waited for a person's permission. The transcript looks the same in all three cases.

**Why it matters.** The call may have run. A provider refuses a request that holds a call without its result. If the call is simply left out,
the model does not know of it and may do the same again.

**What the client does.** 2.1.281 and later answer calls of the last message with a text that says that the outcome is unknown, and drop calls
further up. Earlier releases drop them all without a word.

**What the repair does.** It keeps the call and adds a marked error result that says that nobody knows whether it ran, and that asks the model
to look first. You may give the real outcome instead, or leave the call out as the client would.

**What to check.** The target itself: the file, the branch, the order, the log. A sentence of the model is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("unresolved-call",)
ONLY_READS = "It only reads, so nothing can have changed."


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call id without any result; a warning where the call is on a branch that is not continued."""
    looked, session = index.of(inspection), inspection.session
    for (part, call_id), spots in looked.calls.items():
        if (part, call_id) in looked.results or (part, call_id) in looked.inner_results:
            continue
        spot = spots[-1]
        rows = [each.row for each in spots]
        beside = part == 0 and not spot.row.sidechain and not any(row in looked.on_branch for row in rows)
        siblings = _siblings(looked, spot)
        parallel = f", one of {siblings} parallel calls," if siblings > 1 else ""
        may = ONLY_READS if looked.effect(call_id) == "read-only" else "It may have run."
        operation = looked.operations.get(call_id)
        yield Finding(
            "unresolved-call", Severity.WARNING if beside else Severity.ERROR, index.refs(dict.fromkeys(rows)),
            f"The call {wording.call(session, spot.row, spot.block)}{wording.where(session, spot.row)}{parallel} has no result. {may}"
            + (" It is not on the branch that would be continued." if beside else ""),
            operation=operation.key if operation else None,
        )  # fmt: skip


def _siblings(looked: index.Index, spot: index.Spot) -> int:
    """Calls of the same message."""
    rows = looked.groups.get(index.message_of(spot.row), [spot.row])
    return len({block.id for row in rows for block in row.blocks if block.kind is spot.block.kind})
