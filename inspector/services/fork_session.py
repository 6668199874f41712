"""Make a fork as a session of its own."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.core import fork
from inspector.models import Operation, Revision, Session
from inspector.models.roles import HANDLE
from inspector.queries import ledger
from inspector.queries.derivation import inspection_of

from .add_revision import add_fork
from .permit import permit
from .rejudge import rejudge_session

State = Operation.State
SENT = (State.DISPATCHED, State.UNCERTAIN, State.CONFIRMED, State.FAILED, State.RESOLVED)


def fork_session(*, revision: Revision, actor: AbstractBaseUser, new_id: str, at: str, row: str | None) -> Session:
    """The new session. `at` is an ISO 8601 time; `row` the ref that the fork goes on from (None: where a resume would).

    Raises PermissionDenied, PlanError where the fork would not be resumed as it should.
    """
    permit(actor, HANDLE)
    made = fork.fork(inspection_of(revision=revision).inspection, new_id=new_id, at=at, row=row)
    plan = {"fork": made.session, "at": made.at, "left_behind": made.left_behind, "notes": made.notes}
    note = f"forked at row {made.at}"
    with transaction.atomic():
        session = add_fork(base=revision, source=made.source, plan=plan, lineage=made.lineage, actor=actor, note=note).session
        # Its rows name the calls of the transcript; what no row names has happened, or may have, for both as well.
        beside = ledger.of_session(revision.session).filter(state__in=SENT).exclude(origin=Operation.Origin.RECORDED)
        session.ledger.add(*beside)
    if beside:
        rejudge_session(session)
    return session
