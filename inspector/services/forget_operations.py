"""Take sessions that are erased out of the kept ledger: what stands in no other session goes with them. The audit trail keeps every move."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from inspector.models import Evidence, Operation, Run


def forget_operations(sessions: Collection[int]) -> None:
    """Inside the caller's transaction, before the sessions themselves are deleted. What an application registered stays, under its run's name."""
    own = Operation.objects.filter(Q(sessions__in=sessions) | Q(run__session__in=sessions)).exclude(origin=Operation.Origin.LIVE)
    elsewhere = Operation.sessions.through.objects.exclude(session_id__in=sessions).values("operation_id")
    gone = own.exclude(pk__in=elsewhere).distinct()
    for evidence in Evidence.objects.filter(operation__in=gone).exclude(file=""):
        evidence.file.delete(save=False)
    Operation.objects.filter(pk__in=list(gone.values_list("pk", flat=True))).delete()
    for run in Run.objects.filter(session__in=sessions):
        if not run.operations.exists() and not run.checkpoints.exists():
            run.delete()
            continue
        other = Run.objects.filter(session=None, client=run.client, name=run.name).first()
        if other is not None:
            run.operations.update(run=other)
            run.checkpoints.update(run=other)
            run.delete()
