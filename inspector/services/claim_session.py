"""The gate before a session goes on: every condition is looked at again under the lease. The answer is a ticket, or each line that fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.models import Lease, Operation, Revision, Session
from inspector.models.roles import HANDLE
from inspector.queries import ledger, readiness

from .append_audit import append_audit
from .moves import Refused
from .permit import permit
from .register_run import run_of
from .release_lease import release_lease
from .take_over import SECONDS, take_over


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to go on with exactly this revision, while the lease is current."""

    session: Session
    revision: Revision
    lease: Lease
    completed: list[Operation]
    """Done or found to have happened: not to be done again."""
    allowed: list[Operation]
    """Approved and not sent yet."""
    forbidden: list[Operation]
    """Refused, withdrawn, expired, found not to have happened, or not approved: not without a new approval."""
    lines: list[readiness.Line]
    audit_head: str


def claim_session(*, session: Session, actor: AbstractBaseUser, asked: readiness.Asked, seconds: int = SECONDS) -> Ticket:
    """A ticket, and a lease of `seconds`. Raises PermissionDenied, and Refused: `busy`, or `not-ready` with the failing `lines`: no lease is kept."""
    permit(actor, HANDLE)
    with transaction.atomic():
        run = run_of(session)
    lease = take_over(run=run, actor=actor, holder=asked.holder, seconds=seconds)
    asked = replace(asked, holder=lease.holder, fence=lease.fence)
    session.refresh_from_db()
    try:
        lines = readiness.lines(session, asked)
    except Exception:
        release_lease(run=run, actor=actor, holder=lease.holder, fence=lease.fence)  # nobody would know that it is held
        raise
    failing = [line for line in lines if not line.passed]
    details: dict[str, Any] = {"run": run.pk, "holder": lease.holder, "fence": lease.fence, "attested": asked.attested}
    if failing or session.current is None:
        with transaction.atomic():
            append_audit(actor=actor, action="resume-refused", session=session.pk, details=details | {"lines": [line.name for line in failing]})
        release_lease(run=run, actor=actor, holder=lease.holder, fence=lease.fence)
        raise Refused("not-ready", "It may not resume yet.", lines=failing)
    completed, allowed, forbidden = ledger.sorted_out(session)
    with transaction.atomic():
        entry = append_audit(
            actor=actor, action="resume-allowed", session=session.pk,
            details=details | {"revision": session.current.number, "digest": session.current.digest, "permission_mode": asked.permission_mode},
        )  # fmt: skip
    return Ticket(session, session.current, lease, completed, allowed, forbidden, lines, entry.hash)
