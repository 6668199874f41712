"""Moves of the ledger: each is one conditional update with its audit entry in one transaction; what is refused changes nothing but the trail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import Q

from inspector.models import Lease, Operation, Run
from inspector.models.clock import DatabaseNow
from inspector.models.text import clean

from .append_audit import append_audit, lock_trail

TAKEN_OVER = "Someone else took over. Your change was not saved."
HAPPENED_AFTER_ALL = "A result of an earlier attempt came too late and says that it happened after all. It is not tried again."


class Refused(Exception):
    """A move that the ledger does not allow now. `code` is stable and kebab-case, `says` for a person, `details` for a program."""

    def __init__(self, code: str, says: str, **details: Any) -> None:
        super().__init__(says)
        self.code, self.says, self.details = code, says, details


def session_of(run: Run) -> int | None:
    """Number of the session that an audit entry about the run names."""
    return run.session_id


@contextmanager
def deed(
    *, actor: AbstractBaseUser | None, action: str, run: Run, operation: Operation | None = None, keep: Callable[[], int] | None = None
) -> Iterator[None]:
    """One transaction. What is refused inside is rolled back; then the refusal goes on record, and `keep` may save what must not be lost.

    `keep` returns the number of the evidence that it made, which the refusal then names.
    """
    try:
        with transaction.atomic():
            lock_trail()
            yield
    except Refused as refused:
        with transaction.atomic():
            details = {"why": refused.code, "run": run.pk} | ({"operation": operation.key, "state": operation.state} if operation else {})
            append_audit(actor=actor, action=f"refused-{action}"[:60], session=session_of(run), details=details)
            if keep is not None:
                refused.details["evidence"] = keep()
                refused.says += " Your result was kept as evidence."
        raise


def move(
    operation: Operation,
    *,
    to: str,
    actor: AbstractBaseUser | None,
    action: str,
    where: Q | None = None,
    details: dict[str, Any] | None = None,
    **changes: Any,
) -> Operation:
    """Move an operation from the state in which it was read to another; returns it as it is now.

    Raises Refused when somebody moved it first, when `where` does not hold, or when another operation of the same intent is open or has happened.
    """
    before = operation.state
    lock_trail()
    try:
        with transaction.atomic():
            moved = Operation.objects.filter(where or Q(), pk=operation.pk, state=before, outcome=operation.outcome).update(
                state=to, changed=DatabaseNow(), **changes
            )
    except IntegrityError:
        raise Refused("same-intent", "Another operation of the same intent is open, has happened, or is no longer needed.") from None
    if moved != 1:
        raise Refused("changed-meanwhile", "It was changed by somebody else meanwhile, or is no longer in the state that you saw. Nothing was saved.")
    after = {"operation": operation.key, "tool": operation.tool, "from": before, "to": to}
    append_audit(actor=actor, action=action, session=session_of(operation.run), details=after | {"run": operation.run_id} | (details or {}))
    operation.refresh_from_db()
    return operation


def hold(run: Run, *, holder: str, fence: int, actor: AbstractBaseUser | None) -> Lease:
    """Prove, and lock until the transaction ends, that the holder's lease is current. Raises Refused."""
    held = Lease.objects.filter(run=run, holder=clean(holder, 200), fence=fence, user=actor, expires_at__gt=DatabaseNow()).update(fence=fence)
    if held != 1:
        raise Refused("stale-lease", TAKEN_OVER)
    return Lease.objects.get(run=run)
