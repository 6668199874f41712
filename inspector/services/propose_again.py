"""Propose once more, as a new operation, what was refused, did not happen, was withdrawn, or waits with an approval that no longer holds."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Operation
from inspector.models.roles import HANDLE
from inspector.queries import ledger

from .cancel_operation import cancel_operation
from .moves import Refused, deed
from .permit import permit
from .propose_operation import propose_operation

State = Operation.State
CHANGED = "The action changed since it was proposed, or its approval ran out: it was asked again."


def again(operation: Operation) -> str:
    """`retry` where a new attempt may be proposed, `ask` where the same may be asked again because it was not sent; blank where neither.

    What has a key at its target is left to the application, which alone can give it a new one.
    """
    if operation.idempotency_key:
        return ""
    if operation.state == State.FAILED or (operation.state == State.RESOLVED and operation.outcome == Operation.Outcome.NOT_APPLIED):
        return "" if Operation.objects.filter(retry_of=operation).exists() else "retry"
    if operation.state in (State.CANCELLED, State.EXPIRED):
        open_or_done = Operation.objects.filter(client=operation.client, intent=operation.intent, pk__gt=operation.pk)
        return "" if open_or_done.exists() else "ask"
    changed = operation.digest != ledger.digest_of(operation)
    if operation.state == State.PROPOSED:
        return "ask" if changed else ""
    return "ask" if operation.state == State.APPROVED and (changed or ledger.valid_approvals(operation).first() is None) else ""


def propose_again(*, operation: Operation, actor: AbstractBaseUser) -> Operation:
    """The new operation, waiting for approval. Raises PermissionDenied, and Refused (`no-retry`, and what `propose_operation` refuses)."""
    permit(actor, HANDLE)
    operation.refresh_from_db()
    way = again(operation)
    if not way:
        with deed(actor=actor, action="propose-again", run=operation.run, operation=operation):
            raise Refused("no-retry", "It can't be proposed again: it is open, was proposed again already, or nobody knows yet what happened.")
    if operation.state in (State.PROPOSED, State.APPROVED):
        cancel_operation(operation=operation, actor=actor, reason=CHANGED)
    return propose_operation(
        run=operation.run, actor=actor, tool=operation.tool, arguments=operation.arguments, intent=operation.intent,
        target=operation.target.name if operation.target else "", environment=operation.environment,
        retry_of=operation if way == "retry" else None,
    )  # fmt: skip
