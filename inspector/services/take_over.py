"""Take over a run: a lease with a new, higher fence. What the holder before had sent and not heard of becomes uncertain."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F, Q

from inspector.models import Lease, Operation, Run
from inspector.models.clock import DatabaseNow
from inspector.models.roles import HANDLE
from inspector.models.text import clean
from inspector.queries import ledger

from .append_audit import append_audit
from .moves import Refused, deed, move
from .permit import permit

SECONDS = 900
LONGEST = 86_400


def take_over(*, run: Run, actor: AbstractBaseUser, holder: str, seconds: int = SECONDS) -> Lease:
    """The lease, for `seconds` from now by the database's clock. Even the same holder gets a new fence.

    Raises PermissionDenied, and Refused (`busy`) while another lease of it, or of another copy of its session, is current.
    """
    permit(actor, HANDLE)
    holder, seconds = clean(holder, 200) or actor.get_username(), max(1, min(seconds, LONGEST))
    with deed(actor=actor, action="take-over", run=run):
        Lease.objects.get_or_create(run=run, defaults={"holder": "", "expires_at": DatabaseNow()})
        copies = _copies(run)
        elsewhere = Lease.objects.filter(run__in=copies, expires_at__gt=DatabaseNow()).first()
        if elsewhere is not None:
            raise _busy(elsewhere)
        taken = Lease.objects.filter(run=run, expires_at__lte=DatabaseNow()).update(
            holder=holder, user=actor, fence=F("fence") + 1, taken_at=DatabaseNow(), expires_at=DatabaseNow() + timedelta(seconds=seconds)
        )
        lease = Lease.objects.get(run=run)
        if taken != 1:
            raise _busy(lease)
        append_audit(
            actor=actor,
            action="lease-taken",
            session=run.session_id,
            details={"run": run.pk, "holder": holder, "fence": lease.fence, "seconds": seconds},
        )
        unheard = Q(run=run, fence__lt=lease.fence) | Q(run__in=copies)
        for operation in Operation.objects.filter(unheard, state=Operation.State.DISPATCHED):
            move(
                operation, to=Operation.State.UNCERTAIN, actor=None, action="operation-uncertain",
                reason=f"{operation.worker or 'A worker'} sent it and was not heard of again before {holder} took over.",
            )  # fmt: skip
    return lease


def _copies(run: Run) -> list[int]:
    """Runs of other copies of its session: its client has one conversation of this id, so one holder has them all."""
    session = run.session
    if session is None:  # registered by its name; a session that comes later takes it over
        return list(Run.objects.filter(client=run.client, session__native_id=run.name).exclude(session__native_id="").values_list("pk", flat=True))
    return list(Run.objects.filter(ledger.runs_of(session, "")).exclude(pk=run.pk).values_list("pk", flat=True))


def _busy(lease: Lease) -> Refused:
    says = f"{lease.holder} holds it until {lease.expires_at:%H:%M:%S %Z}."
    return Refused("busy", says, holder=lease.holder, until=lease.expires_at.isoformat())
