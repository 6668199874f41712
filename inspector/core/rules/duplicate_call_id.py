"""Duplicate call id: two calls have the same id.

**What it is.** A message was written twice under different row ids, or a model gave out an id again.

**Why it matters.** A provider refuses a request in which call ids repeat, and a result can't be told to belong to the one or the other.

**What the client does.** It turns the later call into the text `[Tool use interrupted]`; within one message it drops the second. 2.0.76 sends
both.

**What the repair does.** It gives the later call, and the result that follows it, an id of its own.

**What to check.** Whether the call ran once or twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

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
