"""Hand out a row whose bytes hold a secret: a permission, and an entry of the audit trail."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import transaction

from inspector.models import Revision

from .append_audit import append_audit

PERMISSION = "inspector.reveal_secret"


def reveal_secret(*, revision: Revision, ref: str, actor: AbstractUser) -> None:
    """Note that the row was handed out unmasked. Raises PermissionDenied without the permission."""
    if not actor.has_perm(PERMISSION):
        raise PermissionDenied("This row holds a secret. Ask somebody with the permission “reveal secret”.")
    with transaction.atomic():
        append_audit(actor=actor, action="secret-shown", session=revision.session_id, details={"revision": revision.number, "row": ref})
