"""Say what really happened, with evidence. It counts when another person approves it; where one person works alone, at once and stamped so."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from inspector.models import Claim, Evidence, Operation
from inspector.models.roles import HANDLE
from inspector.models.text import clean
from inspector.queries import ledger

from .append_audit import append_audit
from .claims import Outcome, check, settle
from .moves import Refused, deed
from .permit import permit
from .rejudge import rejudge


def claim_outcome(
    *, operation: Operation, actor: AbstractBaseUser, outcome: str, statement: str, evidence: Sequence[Evidence], related: Operation | None = None,
    effect_exists: bool | None = None,
) -> Claim:  # fmt: skip
    """The claim, open until another person decides it. Raises PermissionDenied, and Refused where the outcome can't be claimed now
    (`not-uncertain`, `no-evidence`, `no-statement`, `too-early`, `live`, `no-relation`, `open-claim`)."""
    permit(actor, HANDLE)
    operation.refresh_from_db()
    with deed(actor=actor, action="claim-outcome", run=operation.run, operation=operation):
        if outcome not in Outcome.values:
            raise Refused("unknown-outcome", f"{outcome!r} is no outcome: use {', '.join(Outcome.values)}.")
        if not statement.strip():
            raise Refused("no-statement", "Say in your own words what you looked at and what it showed.")
        claim = Claim(
            operation=operation, outcome=outcome, statement=clean(statement.strip()), claimant=actor, related=related, effect_exists=effect_exists
        )
        check(claim, evidence)
        claim.digest = ledger.claim_digest(claim, list(evidence))
        try:
            with transaction.atomic():
                claim.save()
        except IntegrityError:
            raise Refused("open-claim", "Somebody has said what happened already. It waits for a second person.") from None
        claim.evidence.set(evidence)
        append_audit(
            actor=actor, action="outcome-claimed", session=operation.run.session_id,
            details={
                "operation": operation.key, "outcome": outcome, "claim": claim.pk, "digest": claim.digest, "evidence": [each.pk for each in evidence],
            },
        )  # fmt: skip
        if settings.SELF_RESOLUTION:
            settle(claim, actor, note="", alone=True)
    if settings.SELF_RESOLUTION:
        rejudge(operation)
    return claim
