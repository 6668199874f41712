"""Take over into the kept ledger what a transcript leaves open: its uncertain operations, those of its sub-agents and those without a row."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.core.calls import Outcome as Answered
from inspector.core.canonical import canonical
from inspector.core.inspection import Inspection
from inspector.core.operations import Operation as Derived
from inspector.core.operations import only_kept
from inspector.models import Evidence, Operation, Revision, Run, Session, Target
from inspector.models.text import clean, clean_json
from inspector.queries import ledger

from .append_audit import append_audit
from .moves import move
from .register_run import run_of

MARKS = (str(Answered.HAPPENED), str(Answered.DID_NOT_HAPPEN))
LONGEST = 1_000_000
"""Characters of a call's arguments that are kept beside the transcript."""
State = Operation.State


def sync_ledger(*, session: Session, revision: Revision, inspection: Inspection, actor: AbstractBaseUser | None) -> bool:
    """Add or link what is open in this revision; returns whether the kept ledger now says more than the transcript by itself.

    A file that says that a person resolved a call is believed only where this ledger holds that resolution: else the operation is uncertain, and
    what the file says is kept beside it. A real result in a newly imported, longer file settles what was uncertain before.
    """
    imported = revision.kind == Revision.Kind.IMPORTED
    uncertain = [each for each in inspection.operations if not only_kept(each) and _asks(each)]
    known = {each.key: each for each in Operation.objects.filter(client=session.client, key__in=[each.key for each in uncertain])}
    by_call = {each.call_id: each for each in ledger.of_session(session).exclude(call_id="")}
    differs = False
    with transaction.atomic():
        run = run_of(session) if uncertain else None
        for each in uncertain:
            kept = known.get(each.key) or by_call.get(each.call_id or "")
            if kept is None and run is not None:
                kept = _add(run, session, each, revision, actor)
            if kept is not None:
                kept.sessions.add(session)
                differs = differs or kept.state != State.UNCERTAIN or each.state != "uncertain"
        if imported:
            _settled(session, inspection, {each.key for each in uncertain})
    return differs or ledger.of_session(session).exclude(origin=Operation.Origin.RECORDED).exists()


def _asks(operation: Derived) -> bool:
    """Whether it is uncertain, or settled by nothing but a mark in the file."""
    return operation.state == "uncertain" or (operation.state == "resolved" and _marked(operation) is not None)


def _marked(operation: Derived) -> str | None:
    return next((each.says for each in operation.evidence if each.kind in MARKS), None)


def _add(run: Run, session: Session, found: Derived, revision: Revision, actor: AbstractBaseUser | None) -> Operation:
    row = inspection_time(found, revision)
    arguments = clean_json(found.arguments)
    target = Target.objects.filter(name=found.declared_target, active=True).first() if found.declared_target else None
    operation = Operation(
        run=run, origin=Operation.Origin.RECORDED, key=clean(found.key, 200), intent=clean(found.key, 200), call_id=clean(found.call_id, 200),
        client=session.client, tool=clean(found.tool, 200), arguments=arguments if len(canonical(arguments)) <= LONGEST else None,
        target_text=clean(found.target, 2000), target=target, target_kind=target.kind if target else "http-service", effect=found.effect,
        why_effect=clean(found.why_effect), policy=clean(found.policy, 80), state=State.UNCERTAIN, sent_at=row,
        send_by=max(filter(None, (row, session.last_activity)), default=None), row=found.call or "",
        recorded=[{"kind": each.kind, "says": clean(each.says), "row": each.row, "grade": each.grade} for each in found.evidence],
    )  # fmt: skip
    operation.digest = ledger.digest_of(operation)
    operation.save(force_insert=True)
    marked = _marked(found) if found.state == "resolved" else None
    if marked is not None:
        Evidence.objects.create(operation=operation, kind=Evidence.Kind.FILE_MARK, says=f"The file itself says so: {clean(marked)}")
    append_audit(
        actor=actor, action="operation-uncertain", session=session.pk,
        details={"operation": operation.key, "tool": operation.tool, "to": operation.state, "run": run.pk, "row": operation.row},
    )  # fmt: skip
    return operation


def inspection_time(operation: Derived, revision: Revision) -> datetime | None:
    """When its call was written, by the row index; None where no row with a time holds it."""
    if operation.call is None:
        return None
    part, _, number = operation.call.partition(":")
    at = revision.indexed_rows.filter(part=int(part), idx=int(number)).values_list("at", flat=True).first() if part.isdecimal() else None
    try:
        return datetime.fromisoformat(at).astimezone(UTC) if at else None
    except ValueError:
        return None


def _settled(session: Session, inspection: Inspection, still: set[str]) -> None:
    """What was uncertain and has a real result in the newly imported file."""
    waiting = {each.key: each for each in session.ledger.filter(origin=Operation.Origin.RECORDED, state=State.UNCERTAIN).exclude(key__in=still)}
    calls = {each.call_id for each in waiting.values()}
    for found in inspection.operations if waiting else ():
        kept = waiting.get(found.key) if found.call_id in calls else None
        if kept is not None and found.state == "confirmed":
            move(
                kept, to=State.CONFIRMED, actor=None, action="operation-recorded", reason="The file has grown: a result of the call was saved.",
                details={"row": found.result},
            )  # fmt: skip
