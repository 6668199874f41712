"""Approve an operation: for exactly what was shown, for a limited time, for one sending."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from inspector.models import Approval, Operation, Target
from inspector.models.clock import DatabaseNow
from inspector.models.roles import DECIDE
from inspector.queries import ledger

from .append_audit import append_audit
from .moves import Refused, deed, move
from .permit import permit


def approve_operation(*, operation: Operation, actor: AbstractBaseUser, digest: str) -> Approval:
    """The approval. `digest` is that of the page or answer that the approver saw.

    An uncertain operation may be approved only for sending the same key again to a target that knows it; it stays uncertain until it is sent.
    Raises PermissionDenied, and Refused (`changed`, `own-proposal`, `changed-meanwhile`, `not-repeatable`).
    """
    permit(actor, DECIDE)
    operation.refresh_from_db()
    with deed(actor=actor, action="approve-operation", run=operation.run, operation=operation):
        alone = operation.proposer_id == actor.pk
        if alone and not settings.SELF_RESOLUTION:
            raise Refused("own-proposal", "Who proposed it can't approve it. Ask another person with the role “approver”.")
        if operation.state == Operation.State.UNCERTAIN:
            repeatable(operation)
            again = ledger.digest_of(operation)
            Operation.objects.filter(pk=operation.pk, state=operation.state).update(digest=again)
            operation.digest = again
        if digest != operation.digest or operation.digest != ledger.digest_of(operation):
            raise Refused("changed", "The action changed since it was shown to you. Look at it again.", digest=ledger.digest_of(operation))
        if operation.state == Operation.State.PROPOSED:
            move(
                operation, to=Operation.State.APPROVED, actor=actor, action="operation-approved", where=Q(digest=digest),
                details={"digest": digest, "alone": alone},
            )  # fmt: skip
        elif operation.state == Operation.State.UNCERTAIN:
            append_audit(
                actor=actor, action="repeat-approved", session=operation.run.session_id,
                details={"operation": operation.key, "digest": digest, "alone": alone},
            )  # fmt: skip
        else:
            raise Refused("changed-meanwhile", "It is not waiting for approval any more.")
        until = DatabaseNow() + timedelta(minutes=settings.APPROVAL_MINUTES)
        approval = Approval.objects.create(operation=operation, digest=digest, approver=actor, alone=alone, expires_at=until)
    approval.refresh_from_db()
    return approval


def repeatable(operation: Operation) -> None:
    """Raises Refused unless the target is declared to know this operation's key, and still will when a request that is sent now arrives."""
    target = operation.target
    known = target is not None and target.active and target.kind == Target.Kind.KEY and operation.idempotency_key
    if not known or target is None or operation.key_valid_until is None:
        raise Refused(
            "not-repeatable", "It can't be sent again: nothing declared keeps its target from doing it twice. Find out first what happened."
        )
    if not Operation.objects.filter(pk=operation.pk, key_valid_until__gt=DatabaseNow() + timedelta(seconds=target.quiet_seconds)).exists():
        raise Refused("not-repeatable", "Its target may have forgotten the key when it arrives, and would do it again. Find out first what happened.")
