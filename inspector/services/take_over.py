"""Take over a run: a lease with a new, higher fence. What the holder before had sent and not heard of becomes uncertain."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F

from inspector.models import Lease, Operation, Run
from inspector.models.clock import DatabaseNow
from inspector.models.roles import HANDLE
from inspector.models.text import clean

from .append_audit import append_audit
from .moves import Refused, deed, move
from .permit import permit

SECONDS = 900
LONGEST = 86_400


def take_over(*, run: Run, actor: AbstractBaseUser, holder: str, seconds: int = SECONDS) -> Lease:
    """The lease, for `seconds` from now by the database's clock. Even the same holder gets a new fence.

    Raises PermissionDenied, and Refused (`busy`) while another lease is current.
    """
    permit(actor, HANDLE)
    holder, seconds = clean(holder, 200) or actor.get_username(), max(1, min(seconds, LONGEST))
    with deed(actor=actor, action="take-over", run=run):
        Lease.objects.get_or_create(run=run, defaults={"holder": "", "expires_at": DatabaseNow()})
        taken = Lease.objects.filter(run=run, expires_at__lte=DatabaseNow()).update(
            holder=holder, user=actor, fence=F("fence") + 1, taken_at=DatabaseNow(), expires_at=DatabaseNow() + timedelta(seconds=seconds)
        )
        lease = Lease.objects.get(run=run)
        if taken != 1:
            raise Refused(
                "busy", f"{lease.holder} holds it until {lease.expires_at:%H:%M:%S %Z}.", holder=lease.holder, until=lease.expires_at.isoformat()
            )
        append_audit(
            actor=actor,
            action="lease-taken",
            session=run.session_id,
            details={"run": run.pk, "holder": holder, "fence": lease.fence, "seconds": seconds},
        )
        for operation in Operation.objects.filter(run=run, state=Operation.State.DISPATCHED, fence__lt=lease.fence):
            move(
                operation, to=Operation.State.UNCERTAIN, actor=None, action="operation-uncertain",
                reason=f"{operation.worker or 'A worker'} sent it and was not heard of again before {holder} took over.",
            )  # fmt: skip
    return lease
