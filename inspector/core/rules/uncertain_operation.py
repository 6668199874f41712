"""Uncertain operation: nobody knows whether something was done.

**What it is.** A call that can change something, with no result, or with one that only says that it was refused, interrupted or lost. A text
that says "rejected" does not prove that nothing ran: an interruption writes it even when the work was done.

**Why it matters.** Doing it again may do it twice; going on as if it had been done may build on nothing.

**What the client does.** It goes on.

**What the repair does.** A call without a result gets the marked one that says that nobody knows (`unresolved-call`). A call that you leave out
is kept in a note of the inspector beside the conversation. Either way the operation stays open until a person has looked.

**What to check.** The target, with a read: the file's content, `git ls-remote`, the record by its business id. Then say what you found, with
the evidence. What the model says later is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..operations import left_out, only_kept

CODES = ("uncertain-operation",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each whose call is in a row, or was until a repair left it out; a warning where that row is on a branch that is not
    continued."""
    for operation in inspection.operations:
        if operation.state == "uncertain" and left_out(operation):
            yield Finding(
                "uncertain-operation", Severity.ERROR, tuple(each.row for each in operation.evidence if each.row),
                f"We don't know if this happened: {wording.operation(operation.tool, operation.arguments)} was left out of the conversation "
                "by a repair, and the model does not know of it. Check the target before it is repeated.",
                operation=operation.key,
            )  # fmt: skip
        if operation.state == "uncertain" and only_kept(operation):
            yield Finding(
                "uncertain-operation", Severity.ERROR, (),
                f"We don't know if this happened: {wording.operation(operation.tool, operation.arguments)} stands in the ledger and in no row. "
                "Check the target before anything is repeated.",
                operation=operation.key,
            )  # fmt: skip
        if operation.state != "uncertain" or operation.call is None:
            continue
        row = inspection.row(operation.call)
        beside = not operation.on_branch and row.part == 0 and not row.sidechain
        named = wording.operation(operation.tool, operation.arguments) + wording.where(inspection.session, row)
        why = "has no result" if operation.result is None else "has only a result that does not tell"
        yield Finding(
            "uncertain-operation",
            Severity.WARNING if beside else Severity.ERROR,
            tuple(ref for ref in (operation.call, operation.result) if ref),
            f"We don't know if this happened: {named} {why}. Check the target before it is repeated.",
            operation=operation.key,
        )
