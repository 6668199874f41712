"""Take back what one said happened, while nobody has decided it."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Claim
from inspector.models.roles import HANDLE

from .append_audit import append_audit
from .claims import close
from .moves import Refused, deed
from .permit import permit


def withdraw_claim(*, claim: Claim, actor: AbstractBaseUser, note: str) -> Claim:
    """Take back one's own claim while it is open. Raises Refused (`own-claim` for another's, `changed-meanwhile`)."""
    permit(actor, HANDLE)
    claim.refresh_from_db()
    with deed(actor=actor, action="withdraw-claim", run=claim.operation.run, operation=claim.operation):
        if claim.claimant_id != actor.pk:
            raise Refused("own-claim", "Only who said it can take it back.")
        close(claim, Claim.State.WITHDRAWN, actor, note)
        append_audit(
            actor=actor,
            action="claim-withdrawn",
            session=claim.operation.run.session_id,
            details={"operation": claim.operation.key, "claim": claim.pk},
        )
    return claim
