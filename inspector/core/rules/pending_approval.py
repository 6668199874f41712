"""Pending approval: a call waits for a person's yes or no.

**What it is.** The run stopped to ask for permission, and nobody has answered.

**Why it matters.** Nothing was done yet. Answering the call with an invented result would end the question behind the person's back.

**What the client does.** It asks again, or drops the call, depending on the program.

**What the repair does.** Nothing: a paused run is not broken.

**What to check.** Whether the permission is still wanted: things may have changed since.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("pending-approval",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each operation that waits."""
    for operation in inspection.operations:
        if operation.state == "waiting-approval":
            yield Finding(
                "pending-approval", Severity.WARNING, tuple(ref for ref in (operation.call,) if ref),
                f"The call {wording.operation(operation.tool, operation.arguments)} waits for approval; it was not started.", operation=operation.key,
            )  # fmt: skip
