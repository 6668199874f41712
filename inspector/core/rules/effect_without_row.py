"""Effect without row: a tool may have run, and no row of the transcript says so.

**What it is.** The client notes the names of the tools that it has used (`tools-used`). It names one here for which there is no call, and the
last turn is not finished.

**Why it matters.** Tools start as soon as their call is complete, but the rows of an answer are saved only when the answer ends. A process
that is killed in between has done the work and saved nothing.

**What the client does.** It continues as if nothing had been done; the model will do it again.

**What the repair does.** Nothing can be added: nobody knows the call. The finding stays, as a warning to look first.

**What to check.** What such a tool could have changed: files, branches, services. The prompt of the last turn says what it was to do.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import LOST_ANSWER, left_out, only_kept

CODES = ("effect-without-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each operation of the ledger that no row holds. Of a lost answer no tool is known: `user-tail` and `open-turn` name it."""
    for operation in inspection.operations:
        if operation.state != "uncertain" or operation.call is not None or operation.tool == LOST_ANSWER:
            continue
        if not left_out(operation) and not only_kept(operation):
            yield Finding(
                "effect-without-row",
                Severity.ERROR,
                tuple(evidence.row for evidence in operation.evidence if evidence.row),
                f"The client noted that it used `{wording.short(operation.tool, 40)}`, but no row holds such a call, "
                "and the last turn is not finished: it may have run.",
                operation=operation.key,
            )
