"""Who holds what now, by the database's clock."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.models import Lease
from inspector.models.clock import DatabaseNow


def of_runs(runs: Iterable[int]) -> dict[int, Lease]:
    """Number of the run -> its lease, where one is current."""
    return {lease.run_id: lease for lease in Lease.objects.filter(run__in=list(runs), expires_at__gt=DatabaseNow())}


def of_sessions(sessions: Iterable[int]) -> dict[int, Lease]:
    """Number of the session -> the lease of its run, where one is current."""
    found = Lease.objects.filter(run__session__in=list(sessions), expires_at__gt=DatabaseNow()).select_related("run")
    return {lease.run.session_id: lease for lease in found if lease.run.session_id}
