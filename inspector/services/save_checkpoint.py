"""Note that an application passed a business boundary: what is completed is not done again."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError

from inspector.models import Checkpoint, Operation, Run
from inspector.models.roles import HANDLE
from inspector.models.text import clean, clean_json

from .append_audit import append_audit
from .moves import deed, hold
from .permit import permit


def save_checkpoint(
    *, run: Run, actor: AbstractBaseUser, holder: str, fence: int, kind: str, name: str, details: Any = None, operation: Operation | None = None
) -> Checkpoint:
    """The checkpoint; needs the current lease. Raises PermissionDenied, ValidationError for an unknown kind, no name or another run's
    operation, Refused (`stale-lease`)."""
    permit(actor, HANDLE)
    if kind not in Checkpoint.Kind.values or not name.strip():
        raise ValidationError(f"A checkpoint needs a name and a kind: {', '.join(Checkpoint.Kind.values)}.")
    if operation is not None and operation.run_id != run.pk:
        raise ValidationError("That operation belongs to another run.")
    with deed(actor=actor, action="save-checkpoint", run=run):
        hold(run, holder=holder, fence=fence, actor=actor)
        saved = Checkpoint.objects.create(
            run=run, kind=kind, name=clean(name.strip(), 200), details=clean_json(details or {}), operation=operation, by=actor.get_username()
        )
        append_audit(
            actor=actor, action="checkpoint-saved", session=run.session_id, details={"run": run.pk, "kind": kind, "name": saved.name, "fence": fence}
        )
    return saved
