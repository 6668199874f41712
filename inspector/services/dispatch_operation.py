"""Record that an operation is about to be sent, before it is. The right to send belongs to the caller that gets the answer, and to nobody later."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import DateTimeField, F, Q, Value
from django.db.models.functions import Least

from inspector.models import Approval, Lease, Operation, Target
from inspector.models.clock import DatabaseNow
from inspector.models.roles import DECIDE, HANDLE, may
from inspector.queries import ledger, readiness

from .approve_operation import repeatable
from .moves import HAPPENED_AFTER_ALL, Refused, deed, hold, move
from .permit import permit

State = Operation.State


def dispatch_operation(*, operation: Operation, actor: AbstractBaseUser, holder: str, fence: int) -> Operation:
    """The operation in state dispatched; its approval is used up. From uncertain only where its target knows the same key again.

    Raises PermissionDenied, and Refused (`stale-lease`, `no-approval`, `changed`, `not-eligible`, `run-uncertain`, `no-retry`, `not-repeatable`,
    `changed-meanwhile`). An answer that the caller does not get (a lost connection) gives no right to send.
    """
    permit(actor, HANDLE)
    operation.refresh_from_db()
    with deed(actor=actor, action="dispatch-operation", run=operation.run, operation=operation):
        lease = hold(operation.run, holder=holder, fence=fence, actor=actor)
        again = operation.state == State.UNCERTAIN
        if again:
            repeatable(operation)
        elif operation.state != State.APPROVED:
            raise Refused("changed-meanwhile", "It is not approved and waiting to be sent.")
        if operation.digest != ledger.digest_of(operation):
            raise Refused("changed", "The action, its session or the policy changed since it was approved. Propose it again.")
        _others_known(operation)
        if ledger.happened_after_all(operation.retry_of):
            raise Refused("no-retry", HAPPENED_AFTER_ALL)
        line = readiness.eligible(operation)
        if not line.passed:
            raise Refused("not-eligible", line.says, **line.details)
        approval = _use_approval(operation)
        changes: dict[str, object] = {"fence": fence, "worker": lease.holder, "sent_at": DatabaseNow()}
        return move(
            operation, to=State.DISPATCHED, actor=actor, action="operation-repeated" if again else "operation-dispatched",
            where=Q(digest=operation.digest), details={"fence": fence, "holder": lease.holder, "approval": approval.pk},
            **changes, **_until(operation, lease, again),
        )  # fmt: skip


def _until(operation: Operation, lease: Lease, again: bool) -> dict[str, object]:
    """Until when it may be sent: while the lease is current and, where it may be sent again, only so late that every sending arrives while the
    target knows the key."""
    target = operation.target
    if again and target and operation.key_valid_until:
        return {"send_by": min(lease.expires_at, operation.key_valid_until - timedelta(seconds=target.quiet_seconds))}
    if target is None or target.kind != Target.Kind.KEY or not operation.idempotency_key:
        return {"send_by": lease.expires_at}
    known = {"key_valid_until": DatabaseNow() + timedelta(seconds=target.key_valid_seconds)}
    if target.key_valid_seconds <= target.quiet_seconds:  # too short for a second sending
        return known | {"send_by": lease.expires_at}
    last = DatabaseNow() + timedelta(seconds=target.key_valid_seconds - target.quiet_seconds)
    return known | {"send_by": Least(Value(lease.expires_at), last, output_field=DateTimeField())}


def _others_known(operation: Operation) -> None:
    unknown = ledger.of_run(operation.run).filter(state=State.UNCERTAIN).exclude(pk=operation.pk).first()
    if unknown is not None:
        raise Refused("run-uncertain", f"We don't know if {unknown.tool} happened. Find out first.", operation=unknown.pk)


def _use_approval(operation: Operation) -> Approval:
    """Use up one valid approval whose giver, like the proposer, may still do so today. Raises Refused."""
    if operation.origin == Operation.Origin.LIVE and not may(operation.proposer, HANDLE):
        raise Refused("no-approval", "Who proposed it may not do so any more.")
    given = ledger.valid_approvals(operation)
    approval = next((each for each in given if may(each.approver, DECIDE) and (each.alone or each.approver_id != operation.proposer_id)), None)
    if approval is None:
        raise Refused("no-approval", "Its approval was used, has run out, or its giver may not give it any more. Ask for a new one.")
    unused = Q(pk=approval.pk, used_at=None, expires_at__gt=DatabaseNow(), digest=F("operation__digest"))
    if Approval.objects.filter(unused).update(used_at=DatabaseNow()) != 1:
        raise Refused("no-approval", "Its approval was used by somebody else meanwhile.")
    # One that was given besides was given before this sending: it must not be good for the next.
    operation.approvals.filter(used_at=None, expires_at__gt=DatabaseNow()).update(expires_at=DatabaseNow())
    return approval
