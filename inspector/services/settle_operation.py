"""Record how a sent operation ended: only what the target itself said counts as done or refused. What comes too late is kept as evidence."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db.models import Q

from inspector.models import Evidence, Operation
from inspector.models.roles import HANDLE
from inspector.models.text import clean, clean_json

from .append_audit import append_audit
from .moves import Refused, deed, hold, move
from .permit import permit

ENDS = {
    "confirmed": (Operation.State.CONFIRMED, "operation-confirmed"),
    "failed": (Operation.State.FAILED, "operation-failed"),
    "uncertain": (Operation.State.UNCERTAIN, "operation-uncertain"),
}
"""What a worker may say -> the state and the entry of the trail. `failed` means: the target said that it did nothing."""
SENT_BEFORE = "It was refused when it was sent again, which does not tell what came of the first time."
SERVER_ERRORS, TIMED_OUT = 500, 408


def settle_operation(
    *, operation: Operation, actor: AbstractBaseUser, holder: str, fence: int, end: str, response: Any = None, reason: str = ""
) -> Operation:
    """The operation as it is then; `failed` of one that was sent twice leaves it uncertain.

    Raises PermissionDenied, ValidationError for an unknown `end`, and Refused (`stale-lease`, `changed-meanwhile`); the response is then kept as
    evidence of the kind late-result.
    """
    permit(actor, HANDLE)
    if end not in ENDS:
        raise ValidationError(f"{end!r} is no end of an operation: use {', '.join(ENDS)}.")
    if end == "failed" and response is None:
        raise ValidationError("“failed” means that the target said it did nothing: send its response. After a timeout or a 5xx say “uncertain”.")
    status = response.get("status") if isinstance(response, dict) else None
    if end == "failed" and isinstance(status, int) and (status >= SERVER_ERRORS or status == TIMED_OUT):
        raise ValidationError(f"A status of {status} does not say that nothing was done: say “uncertain”.")
    operation.refresh_from_db()
    state, action = ENDS[end]

    def keep() -> int:
        late = Evidence.objects.create(
            operation=operation, kind=Evidence.Kind.LATE_RESULT, by=actor,
            says=f"{clean(holder, 200)} said “{end}” when it could no longer settle it.",
            details={"end": end, "response": clean_json(response), "fence": fence, "reason": clean(reason)},
        )  # fmt: skip
        append_audit(
            actor=actor, action="evidence-added", session=operation.run.session_id,
            details={"operation": operation.key, "evidence": late.pk, "kind": late.kind},
        )  # fmt: skip
        return late.pk

    with deed(actor=actor, action="settle-operation", run=operation.run, operation=operation, keep=keep):
        hold(operation.run, holder=holder, fence=fence, actor=actor)
        if end == "failed" and operation.approvals.exclude(used_at=None).count() > 1:
            (state, action), reason = ENDS["uncertain"], f"{SENT_BEFORE} {reason}"
        if (operation.state, operation.fence, operation.response) == (state, fence, clean_json(response)):
            return operation  # it was said before, and the answer got lost
        if operation.state != Operation.State.DISPATCHED or operation.fence != fence:
            raise Refused("changed-meanwhile", "It is not in progress under this lease. Your change was not saved.", state=operation.state)
        return move(
            operation, to=state, actor=actor, action=action, where=Q(fence=fence), details={"fence": fence}, response=clean_json(response),
            reason=clean(reason),
        )  # fmt: skip
