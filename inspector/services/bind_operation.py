"""For a change in this very database: it and its operation are one transaction, so that nobody can ever be unsure of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Operation, Target
from inspector.models.roles import HANDLE

from .dispatch_operation import dispatch_operation
from .moves import Refused, deed
from .permit import permit
from .settle_operation import settle_operation


@contextmanager
def bind_operation(*, operation: Operation, actor: AbstractBaseUser, holder: str, fence: int) -> Iterator[Operation]:
    """Do the change inside the `with`, on the connection of this database: it is committed together with the operation as confirmed, or neither is.

    Raises Refused (`not-bound` for a target that is not declared as this database, and what `dispatch_operation` refuses) before the change.
    """
    permit(actor, HANDLE)
    if operation.target is None or operation.target.kind != Target.Kind.SAME_DATABASE:
        with deed(actor=actor, action="bind-operation", run=operation.run, operation=operation):
            raise Refused("not-bound", "Its target is not declared to be this database.")
    with deed(actor=actor, action="bind-operation", run=operation.run, operation=operation):
        sent = dispatch_operation(operation=Operation.objects.get(pk=operation.pk), actor=actor, holder=holder, fence=fence)
        yield sent
        try:
            settle_operation(operation=sent, actor=actor, holder=holder, fence=fence, end="confirmed", response={"transaction": "the same"})
        except Refused as refused:
            raise Refused(refused.code, "The lease ran out before the change was complete: nothing of it was saved.") from None
    operation.refresh_from_db()
