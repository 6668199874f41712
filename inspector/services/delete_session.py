"""Delete a session: its rows at once, its bytes unless another revision uses them. The audit entry says who, why and what, and stays."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from inspector.models import Finding, IndexedRow, Revision, RevisionPart, Session
from inspector.models.roles import ERASE
from inspector.models.text import clean

from .append_audit import append_audit
from .artifacts import erase_unused
from .forget_operations import forget_operations
from .permit import permit

ABANDONED = timedelta(days=1)
"""An import that is still not at its end after this time was killed."""


def delete_session(*, session: Session, actor: AbstractUser, reason: str) -> int:
    """Delete a session with its sub-agents and erase its bytes; returns the bytes freed in the store. Forks of it stay.

    Raises PermissionDenied without the permission, ValidationError without a reason.
    """
    permit(actor, ERASE)
    if not reason.strip():
        raise ValidationError("Say why the session is deleted. The reason stays in the audit trail.")
    return _erase(session, actor, "session-deleted", reason.strip())


def apply_retention() -> int:
    """Delete what is older than the setting RETENTION_DAYS allows, and what killed imports left behind; returns the number of sessions."""
    now = timezone.now()
    abandoned = Q(status=Session.Status.IMPORTING, created__lt=now - ABANDONED)
    kept_for = settings.RETENTION_DAYS
    old = Q(created__lt=now - timedelta(days=kept_for)) if kept_for else Q(pk__in=[])
    gone = 0
    for session in Session.objects.filter(abandoned | old).exclude(relation=Session.Relation.SUB_AGENT).order_by("pk"):
        left = session.status == Session.Status.IMPORTING
        _erase(session, None, "session-expired", "its import was cut off" if left else f"older than {kept_for} days")
        gone += 1
    return gone


def _erase(session: Session, actor: AbstractUser | None, action: str, reason: str) -> int:
    with transaction.atomic():
        sessions = [session.pk, *session.children.filter(relation=Session.Relation.SUB_AGENT).values_list("pk", flat=True)]
        revisions = list(Revision.objects.filter(session__in=sessions).values_list("pk", flat=True))
        parts = RevisionPart.objects.filter(revision__in=revisions)
        hashes = set(parts.values_list("artifact_id", flat=True))
        main = list(parts.filter(number=0, revision__session=session).order_by("pk").values_list("artifact_id", flat=True))
        for rows in (IndexedRow, Finding):
            rows.objects.filter(revision__in=revisions).delete()
        parts.delete()
        Session.objects.filter(pk__in=sessions).update(current=None)
        Revision.objects.filter(pk__in=revisions).delete()
        pk = session.pk
        forget_operations(sessions)
        Session.objects.filter(pk__in=sessions).delete()
        freed = erase_unused(hashes)
        details = {"name": session.name, "native_id": session.native_id, "reason": clean(reason), "sha256": main, "freed": freed}
        append_audit(actor=actor, action=action, session=pk, details=details)
    return freed
