"""Approve or refuse what somebody says happened. Never one's own, except where one person works alone."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Claim
from inspector.models.roles import DECIDE, HANDLE, may
from inspector.queries import ledger

from .append_audit import append_audit
from .claims import check, close, settle
from .moves import Refused, deed
from .permit import permit
from .rejudge import rejudge


def decide_claim(*, claim: Claim, actor: AbstractBaseUser, digest: str, approve: bool, note: str = "") -> Claim:
    """The claim as decided. `digest` is that of the claim as the actor saw it; a refusal needs a note.

    Raises PermissionDenied, and Refused (`own-claim`, `changed`, `changed-meanwhile`, `no-statement`, and what `claim_outcome` refuses).
    """
    permit(actor, DECIDE)
    claim.refresh_from_db()
    operation = claim.operation
    with deed(actor=actor, action="decide-claim", run=operation.run, operation=operation):
        if claim.claimant_id == actor.pk:
            raise Refused("own-claim", "Who says what happened can't approve it. Ask another person with the role “approver”.")
        if claim.state != Claim.State.OPEN:
            raise Refused("changed-meanwhile", "It was decided by somebody else meanwhile.")
        if digest != claim.digest or claim.digest != ledger.claim_digest(claim, list(claim.evidence.all())):
            raise Refused("changed", "What was said changed since it was shown to you. Look at it again.", digest=claim.digest)
        if approve:
            if not may(claim.claimant, HANDLE):
                raise Refused("own-claim", "Who said it may not say so any more.")
            check(claim, list(claim.evidence.all()))
            settle(claim, actor, note, alone=False)
        else:
            if not note.strip():
                raise Refused("no-statement", "Say why you refuse it.")
            close(claim, Claim.State.REFUSED, actor, note)
            append_audit(
                actor=actor, action="claim-refused", session=operation.run.session_id,
                details={"operation": operation.key, "claim": claim.pk, "digest": claim.digest},
            )  # fmt: skip
    if approve:
        rejudge(operation)
    return claim
