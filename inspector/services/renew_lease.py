"""Renew a lease while it is current: the holder's heartbeat."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser

from inspector.models import Lease, Run
from inspector.models.clock import DatabaseNow
from inspector.models.roles import HANDLE

from .append_audit import append_audit
from .moves import deed, hold
from .permit import permit
from .take_over import LONGEST, SECONDS


def renew_lease(*, run: Run, actor: AbstractBaseUser, holder: str, fence: int, seconds: int = SECONDS) -> Lease:
    """The lease, now for `seconds` from now. Raises PermissionDenied, and Refused (`stale-lease`) when it ran out or somebody took over.

    What the gate looks at is not looked at again: the holder's own client writes to the file from now on.
    """
    permit(actor, HANDLE)
    with deed(actor=actor, action="renew-lease", run=run):
        hold(run, holder=holder, fence=fence, actor=actor)
        Lease.objects.filter(run=run).update(expires_at=DatabaseNow() + timedelta(seconds=max(1, min(seconds, LONGEST))))
        append_audit(actor=actor, action="lease-renewed", session=run.session_id, details={"run": run.pk, "holder": holder, "fence": fence})
    return Lease.objects.get(run=run)
