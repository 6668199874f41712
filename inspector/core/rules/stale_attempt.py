"""Stale attempt: a result came from a run that had been given up already.

**What it is.** The first attempt of a call was taken for lost. It was made again, or another client took the session over and wrote that the
outcome is unknown. Then the first attempt's result arrived all the same.

**Why it matters.** The first process was alive and went on working beside the one that had taken its place. Its result describes a state of
the world that the second attempt may have changed.

**What the client does.** There is no lock: both processes write. 2.1.332 sends the stand-in and ignores the late result.

**What the repair does.** Nothing here: `hidden-late-result` puts the real result in the place of a stand-in.

**What to check.** Whether the first process still runs: end it first. Then the target, as both attempts have left it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, intents, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("stale-attempt",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each result that came after the call had been made again, or after a stand-in for it."""
    for first, second in intents.retries(inspection):
        if first.state == "confirmed" and first.result and second.call:
            yield Finding(
                "stale-attempt", Severity.WARNING, (first.result, second.call),
                f"The result of {wording.operation(first.tool, first.arguments)} came after the same had been called again.",
                operation=first.key,
            )  # fmt: skip
    looked = index.of(inspection)
    for key, spots in looked.results.repeated():
        rows = list(dict.fromkeys(spot.row for spot in spots))
        stand_ins = [row for row in rows if index.stands_in(inspection.session, row)]
        late = [row for row in rows if stand_ins and row not in stand_ins and row.index > stand_ins[0].index and not row.extra.marked]
        operation = looked.operations.get(key[1])
        if late and operation is not None:
            yield Finding(
                "stale-attempt", Severity.WARNING, index.refs([stand_ins[0], *late]),
                f"A result of {wording.operation(operation.tool, operation.arguments)} came after another client had written that its outcome "
                "is unknown: the first client was still at work.",
                operation=operation.key,
            )  # fmt: skip
