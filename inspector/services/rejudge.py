"""Judge the sessions of an operation again after the ledger changed: their verdicts, findings and counts."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from inspector.models import Finding, Operation, Session
from inspector.queries.derivation import inspection_of

from .write_findings import write_findings


def rejudge(operation: Operation) -> None:
    """Every session whose transcript or run the operation belongs to, its copies, and the sessions that started it. Bytes and row index stay."""
    run = operation.run
    copies = Q(client=run.client, native_id=run.name) & ~Q(native_id="")
    own = Session.objects.filter(Q(ledger=operation) | Q(run=run) | copies)
    parents = Session.objects.filter(children__in=own, children__relation=Session.Relation.SUB_AGENT)
    for session in Session.objects.filter(Q(pk__in=own.values("pk")) | Q(pk__in=parents.values("pk"))).select_related("current"):
        rejudge_session(session)


def rejudge_session(session: Session) -> None:
    """Derive a session's current revision with what the ledger says now, and write what lists and the page say of it."""
    revision = session.current
    if revision is None:
        return
    revision.session = session
    derivation = inspection_of(revision=revision)
    with transaction.atomic():
        Finding.objects.filter(revision=revision).delete()
        write_findings(revision, derivation)
