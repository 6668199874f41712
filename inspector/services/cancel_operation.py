"""Withdraw an operation that was not sent, and let approvals that ran out expire."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, OuterRef

from inspector.models import Approval, Operation, Run
from inspector.models.clock import DatabaseNow
from inspector.models.roles import HANDLE
from inspector.models.text import clean

from .append_audit import lock_trail
from .moves import Refused, deed, move
from .permit import permit

State = Operation.State


def cancel_operation(*, operation: Operation, actor: AbstractBaseUser, reason: str) -> Operation:
    """Withdraw what was proposed or approved. Raises PermissionDenied, Refused (`changed-meanwhile`) once it was sent."""
    permit(actor, HANDLE)
    operation.refresh_from_db()
    with deed(actor=actor, action="cancel-operation", run=operation.run, operation=operation):
        if operation.state not in (State.PROPOSED, State.APPROVED):
            raise Refused("changed-meanwhile", "It was sent already, or is settled: it can't be withdrawn any more.")
        return move(operation, to=State.CANCELLED, actor=actor, action="operation-cancelled", reason=clean(reason))


def expire_approvals(*, run: Run) -> list[Operation]:
    """Operations of the run whose approvals have all run out unused: they become expired, and have to be proposed again."""
    with transaction.atomic():
        lock_trail()
        good = Approval.objects.filter(operation=OuterRef("pk"), digest=OuterRef("digest"), used_at=None, expires_at__gt=DatabaseNow())
        late = Operation.objects.filter(~Exists(good), run=run, state=State.APPROVED)
        return [
            move(each, to=State.EXPIRED, actor=None, action="operation-expired", reason="Its approval ran out before it was sent.") for each in late
        ]
