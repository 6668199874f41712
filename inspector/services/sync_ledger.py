"""Take over into the kept ledger what a transcript leaves open: its uncertain operations, those of its sub-agents and those without a row."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.core.calls import Outcome as Answered
from inspector.core.canonical import canonical
from inspector.core.inspection import Inspection
from inspector.core.operations import Operation as Derived
from inspector.core.operations import call_key, only_kept
from inspector.core.targets import kind_of
from inspector.models import Evidence, Operation, Revision, Run, Session, Target
from inspector.models.text import clean, clean_json
from inspector.queries import ledger

from .append_audit import append_audit
from .moves import move
from .register_run import run_of

MARKS = (str(Answered.HAPPENED), str(Answered.DID_NOT_HAPPEN))
LONGEST = 1_000_000
"""Characters of a call's arguments that are kept beside the transcript."""
KEY = 200
"""Characters of a key, a call's id, a tool's name."""
State = Operation.State


def sync_ledger(*, session: Session, revision: Revision, inspection: Inspection, actor: AbstractBaseUser | None) -> bool:
    """Add or link what is open in this revision; returns whether the kept ledger now says more than the transcript by itself.

    A file that says that a person resolved a call is believed only where this ledger holds that resolution: else the operation is uncertain, and
    what the file says is kept beside it. A real result in a newly imported, longer file settles what was uncertain before.
    """
    found = [each for each in inspection.operations if not only_kept(each) and _asks(each)]
    with transaction.atomic():
        run = run_of(session)
        known = _known(session, found)
        new = [each for each in {each.key: each for each in found}.values() if _of(known, each) is None]
        made = _add(run, session, new, inspection, actor) if new else {}
        kept = {each.key: _of(known, each) or made[clean(each.key, KEY)] for each in found}
        session.ledger.add(*kept.values())
        if revision.kind == Revision.Kind.IMPORTED:
            _settled(session, inspection, {each.key for each in kept.values()})
    differs = any(kept[each.key].state != State.UNCERTAIN or each.state != "uncertain" for each in found)
    return differs or ledger.of_session(session).exclude(origin=Operation.Origin.RECORDED).exists()


def _asks(operation: Derived) -> bool:
    """Whether it is uncertain, or settled by nothing but a mark in the file."""
    return operation.state == "uncertain" or (operation.state == "resolved" and _marked(operation) is not None)


def _marked(operation: Derived) -> str | None:
    return next((each.says for each in operation.evidence if each.kind in MARKS), None)


def _known(session: Session, found: list[Derived]) -> dict[str, Operation]:
    """Kept operations by the key that a transcript gives them: also those that an application registered for their call."""
    known, keys = {}, [clean(each.key, KEY) for each in found]
    for start in range(0, len(keys), 500):
        known |= {each.key: each for each in Operation.objects.filter(client=session.client, key__in=keys[start : start + 500])}
    live = ledger.of_session(session).filter(origin=Operation.Origin.LIVE).exclude(call_id="").order_by("pk") if found else ()
    return known | {ledger.key_in_rows(each): each for each in live}


def _of(known: dict[str, Operation], operation: Derived) -> Operation | None:
    return known.get(clean(operation.key, KEY)) or known.get(call_key(operation))


def _add(run: Run, session: Session, new: list[Derived], inspection: Inspection, actor: AbstractBaseUser | None) -> dict[str, Operation]:
    """New uncertain operations by key, with one entry of the trail that names them all."""
    targets = {each.name: each for each in Target.objects.filter(active=True)}
    number = ledger.policy_number()
    made = [_operation(run, session, each, inspection, targets.get(each.declared_target)) for each in new]
    for each in made:
        each.digest = ledger.digest_of(each, number)
    Operation.objects.bulk_create(made, batch_size=500)
    marks = {clean(each.key, KEY): _marked(each) for each in new if each.state == "resolved"}
    Evidence.objects.bulk_create(
        Evidence(operation=each, kind=Evidence.Kind.FILE_MARK, says=f"The file itself says so: {clean(marks[each.key])}")
        for each in made
        if each.key in marks
    )
    details = {"operations": [each.key for each in made], "to": State.UNCERTAIN, "run": run.pk}
    append_audit(actor=actor, action="operations-found", session=session.pk, details=details)
    return {each.key: each for each in made}


def _operation(run: Run, session: Session, found: Derived, inspection: Inspection, target: Target | None) -> Operation:
    arguments = clean_json(found.arguments)
    kind = kind_of(found.tool, found.effect, found.arguments, session.client, target.kind if target else "")
    called = _moment(inspection.row(found.call).at) if found.call else None
    return Operation(
        run=run, origin=Operation.Origin.RECORDED, key=clean(found.key, KEY), intent=clean(found.key, KEY), call_id=clean(found.call_id, KEY),
        client=session.client, tool=clean(found.tool, KEY), arguments=arguments if len(canonical(arguments)) <= LONGEST else None,
        target_text=clean(found.target, 2000), target=target, target_kind=kind, effect=found.effect,
        why_effect=clean(found.why_effect), policy=clean(found.policy, 80), state=State.UNCERTAIN, sent_at=called,
        send_by=max(filter(None, (called, session.last_activity)), default=None), row=found.call or "",
        recorded=[{"kind": each.kind, "says": clean(each.says), "row": each.row, "grade": each.grade} for each in found.evidence],
    )  # fmt: skip


def _moment(at: str | None) -> datetime | None:
    """The time of a row, where it is one."""
    try:
        return datetime.fromisoformat(at).astimezone(UTC) if at else None
    except (ValueError, OverflowError):
        return None


def _settled(session: Session, inspection: Inspection, still: set[str]) -> None:
    """What was uncertain and has a real result in the newly imported file."""
    waiting = {each.key: each for each in session.ledger.filter(origin=Operation.Origin.RECORDED, state=State.UNCERTAIN) if each.key not in still}
    calls = {each.call_id for each in waiting.values()}
    for found in inspection.operations if waiting else ():
        kept = waiting.get(found.key) if (found.call_id or "") in calls else None
        if kept is not None and found.state == "confirmed":
            move(
                kept, to=State.CONFIRMED, actor=None, action="operation-recorded", reason="The file has grown: a result of the call was saved.",
                details={"row": found.result},
            )  # fmt: skip
