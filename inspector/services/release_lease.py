"""Give a lease back: it runs out now. Its row and fence stay."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Lease, Run
from inspector.models.clock import DatabaseNow

from .append_audit import append_audit
from .moves import deed, hold


def release_lease(*, run: Run, actor: AbstractBaseUser, holder: str, fence: int) -> None:
    """Let it run out. Raises Refused (`stale-lease`) when it is not current."""
    with deed(actor=actor, action="release-lease", run=run):
        hold(run, holder=holder, fence=fence, actor=actor)
        Lease.objects.filter(run=run).update(expires_at=DatabaseNow())
        append_audit(actor=actor, action="lease-released", session=run.session_id, details={"run": run.pk, "holder": holder, "fence": fence})
