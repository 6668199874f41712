"""Same intent, new key: an uncertain call was made again under a new id.

**What it is.** Nobody knows whether the first call happened, and a later call of the same tool has the same arguments, or arguments that differ
only in a key made up for the attempt (an idempotency key, a request id).

**Why it matters.** If the first one happened, the second did it again. A target that recognises repetitions by their key is no help when the
key is a new one.

**What the client does.** Nothing: to it they are two calls.

**What the repair does.** Nothing: both calls stay. Each needs its own answer.

**What to check.** How often the target has it: count the orders, the payments, the lines. Find the first attempt by its own key or time.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import intents, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import Operation

CODES = ("same-intent-new-key",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each uncertain operation that was called again: an error where the change is certain or a key is a new one."""
    for first, second in intents.retries(inspection):
        if first.state != "uncertain":
            continue
        keyed = first.arguments != second.arguments and "command" not in first.arguments
        grave = (first.effect in ("mutating", "destructive") or keyed) and not _looked(inspection, first, second)
        how = "again with another key" if keyed else "again"
        yield Finding(
            "same-intent-new-key", Severity.ERROR if grave else Severity.WARNING, tuple(ref for ref in (first.call, second.call) if ref),
            f"Nobody knows whether {wording.operation(first.tool, first.arguments)} happened, and it was called {how}: "
            "it may have been done twice.",
            operation=first.key,
        )  # fmt: skip


def _looked(inspection: Inspection, first: Operation, second: Operation) -> bool:
    """Whether the target was read between the two calls."""
    before = inspection.row(second.call or "").index
    return any(each.kind == "later-read" and each.row and inspection.row(each.row).index < before for each in first.evidence)
