"""Effect ahead of the checkpoint: the world may be further than the store.

**What it is.** The store ends with a recorded answer of the model that asks for tools, or with writes whose checkpoint is missing. The tools may
have run since: nothing is stored of a step before it ends.

**Why it matters.** The next model sees a conversation in which the work has not been done, and does it again.

**What the client does.** It goes on from what is stored.

**What the repair does.** See `lost-checkpoint`: the missing checkpoint is written, then each tool call can be answered.

**What to check.** The targets of the calls that the recorded answer asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..clients.langgraph.standing import standing_of
from ..clients.langgraph.thread import thread_of
from ..findings import Finding, Severity
from ..inspection import Inspection

CLIENTS = ("langgraph",)
CODES = ("effect-ahead-of-checkpoint",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: uncertain calls that stand only in writes which no checkpoint has taken in."""
    standing = standing_of(thread_of(inspection.session))
    rows = {write.cell.row.ref for write in standing.orphans}
    rows |= {write.cell.row.ref for write in standing.recorded} if standing.lost else set()
    ahead = [each for each in inspection.operations if each.state == "uncertain" and each.call in rows]
    if ahead:
        named = ", ".join(wording.operation(each.tool, each.arguments) for each in ahead)
        yield Finding(
            "effect-ahead-of-checkpoint", Severity.ERROR, tuple(dict.fromkeys(each.call for each in ahead if each.call)),
            f"The store ends before the step that runs {named}: it may have run, and the state does not know of it.",
            operation=ahead[0].key,
        )  # fmt: skip
