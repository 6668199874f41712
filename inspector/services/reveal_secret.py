"""Hand out a row whose bytes hold a secret: a permission, and an entry of the audit trail."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from inspector.models import Revision
from inspector.models.roles import REVEAL

from .append_audit import append_audit
from .permit import permit


def reveal_secret(*, revision: Revision, ref: str, actor: AbstractUser) -> None:
    """Note that the row was handed out unmasked. Raises PermissionDenied without the permission."""
    permit(actor, REVEAL)
    with transaction.atomic():
        append_audit(actor=actor, action="secret-shown", session=revision.session_id, details={"revision": revision.number, "row": ref})
