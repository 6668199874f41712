"""Pending approval: a call waits for a person's yes or no.

**What it is.** The run stopped to ask, and nobody has answered: the call is a question, or its state says that it waits (a warning). Where a
call has no result and its permission mode asks first, it may have been waiting when the process was killed (a note): the transcript looks the
same when it ran.

**Why it matters.** Of a call that waits nothing was done yet. Answering it with an invented result would end the question behind the person's
back.

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
    """One finding for each operation that waits; a note for each that may have waited."""
    for operation in inspection.operations:
        if operation.state == "waiting-approval":
            yield Finding(
                "pending-approval", Severity.WARNING, tuple(ref for ref in (operation.call,) if ref),
                f"The call {wording.operation(operation.tool, operation.arguments)} waits for approval; it was not started.", operation=operation.key,
            )  # fmt: skip
        elif operation.state == "uncertain" and operation.call is not None and operation.result is None:
            mode = next((each.row for each in operation.evidence if each.kind == "asks-first" and each.row), None)
            if mode is not None and mode == operation.call:
                yield Finding(
                    "pending-approval", Severity.INFO, (operation.call,),
                    f"The call {wording.operation(operation.tool, operation.arguments)} may have been waiting for approval when it was saved: "
                    "a call that has run is saved together with its output.",
                    operation=operation.key,
                )  # fmt: skip
            elif mode is not None:
                yield Finding(
                    "pending-approval", Severity.INFO, (operation.call, mode),
                    f"The call {wording.operation(operation.tool, operation.arguments)} may have been waiting for permission when the client ended: "
                    "its mode asks first.",
                    operation=operation.key,
                )  # fmt: skip
