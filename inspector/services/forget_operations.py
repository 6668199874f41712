"""Take sessions that are erased out of the kept ledger: what stands in no other session, nor belongs to another
copy of the same one, goes with them. The audit trail keeps every move."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from inspector.models import Evidence, Operation, Run, Session


def forget_operations(sessions: Collection[int]) -> None:
    """Inside the caller's transaction, before the sessions themselves are deleted. What an application registered stays, under its run's name."""
    own = Operation.objects.filter(Q(sessions__in=sessions) | Q(run__session__in=sessions)).exclude(origin=Operation.Origin.LIVE)
    elsewhere = Operation.sessions.through.objects.exclude(session_id__in=sessions).values("operation_id")
    copies = Session.objects.filter(client=OuterRef("run__client"), native_id=OuterRef("run__name")).exclude(native_id="").exclude(pk__in=sessions)
    gone = own.exclude(pk__in=elsewhere).exclude(Exists(copies)).distinct()
    for evidence in Evidence.objects.filter(operation__in=gone).exclude(file=""):
        transaction.on_commit(partial(evidence.file.storage.delete, evidence.file.name))
    Operation.objects.filter(pk__in=gone.values("pk")).delete()
    for run in Run.objects.filter(session__in=sessions):
        if not run.operations.exists() and not run.checkpoints.exists():
            run.delete()
            continue
        other = Run.objects.filter(session=None, client=run.client, name=run.name).first()
        if other is not None:
            run.operations.update(run=other)
            run.checkpoints.update(run=other)
            run.delete()
