"""May this resume? Each condition as a line that passes or says what stands in the way: the same list for the page, the API and the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.utils import timezone

from inspector.core import reading
from inspector.models import Evidence, Lease, Operation, Revision, Session
from inspector.models.clock import DatabaseNow
from inspector.models.roles import DECIDE, HANDLE, may
from inspector.models.text import clean

from . import ledger, origin
from .derivation import inspection_of

State = Operation.State
MODES = ("plan", "default", "acceptEdits", "auto", "dontAsk", "bypassPermissions")
"""Permission modes of the client from the narrowest to the widest; one that is not listed counts as the widest."""


@dataclass(frozen=True, slots=True)
class Line:
    """One condition: `name` is stable, `says` a sentence, `operation` or `details` what it is about."""

    name: str
    passed: bool
    says: str
    operation: int | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What whoever wants to resume says of itself."""

    holder: str = ""
    fence: int | None = None
    """Of a lease that it has already; None before it takes one."""
    source_sha256: str = ""
    """Hash of the transcript as it lies before the client now, for a session that was uploaded."""
    permission_mode: str = ""
    """Mode that the client will be started in; blank for what it restores by itself."""
    attested: str = ""
    """Name of the person who says that the uploaded file has not changed and no client has it open; blank where nobody says so."""


def lines(session: Session, asked: Asked = Asked()) -> list[Line]:
    """All conditions, in the order in which a person meets them."""
    return [
        _lease(session, asked), *_known(session), _transcript(session), *_source(session, asked), *_responding(session, asked), *_approvals(session),
        _policy(session), *_targets(session), _permissions(session, asked),
    ]  # fmt: skip


def _lease(session: Session, asked: Asked) -> Line:
    held = Lease.objects.filter(ledger.runs_of(session), expires_at__gt=DatabaseNow()).select_related("run")
    lease = next((each for each in held if each.run.session_id != session.pk), None) or held.first()
    if lease is None:
        free = asked.fence is None
        return Line("lease", free, "Nobody has taken it over." if free else "The lease has run out: take it over again.")
    if asked.fence is not None:
        own = (lease.run.session_id, lease.holder, lease.fence) == (session.pk, asked.holder, asked.fence)
        return Line("lease", own, "The lease is current." if own else f"Someone else took over: {lease.holder}.")
    return Line("lease", False, f"{lease.holder} holds it until {lease.expires_at:%H:%M:%S %Z}.", details={"holder": lease.holder})


def _known(session: Session) -> Iterator[Line]:
    """One line for each operation that is under way or that nobody knows."""
    waiting = ledger.of_session(session).filter(state__in=(State.DISPATCHED, State.UNCERTAIN)).order_by("pk")
    for each in waiting:
        what = "is in progress" if each.state == State.DISPATCHED else "may have happened: nobody knows"
        yield Line("operations", False, f"{each.tool} {what}.", each.pk, {"state": each.state})
    unlisted = _unlisted(session)
    for tool, key in unlisted:
        says = f"{tool} may have happened, by the policy in force: an administrator must have its sessions judged again."
        yield Line("operations", False, says, details={"key": key})
    if not waiting and not unlisted:
        yield Line("operations", True, "Nothing is in progress, and nothing is unknown.")


def _unlisted(session: Session) -> list[tuple[str, str]]:
    """Tool and key of what the policy in force calls uncertain and the ledger does not hold yet: the session was not judged since it was saved."""
    agents = session.children.filter(relation=Session.Relation.SUB_AGENT).select_related("current")
    revisions = [each.current for each in (session, *agents) if each.current is not None]
    uncertain = [each for revision in revisions for each in inspection_of(revision=revision).inspection.operations if each.state == "uncertain"]
    rows = list(ledger.of_session(session).values_list("key", "call_id", "origin")) if uncertain else []
    kept = {key for key, _, _ in rows}
    live = {call for _, call, origin_ in rows if origin_ == Operation.Origin.LIVE} - {""}
    named = [(clean(each.tool, 200), clean(each.key, 200), clean(each.call_id, 200)) for each in uncertain]
    return [(tool, key) for tool, key, call in named if key not in kept and call not in live]


def _transcript(session: Session) -> Line:
    revision = session.current
    if revision is None or session.status != Session.Status.READY:
        return Line("transcript", False, "The session could not be read whole.")
    if revision.refused:
        return Line("transcript", False, f"The client would not resume it: {revision.refused}.")
    faults = revision.counts.get("fatal", 0) + revision.counts.get("errors", 0)
    if faults:
        return Line("transcript", False, "The transcript needs a repair: review it and apply it.", details={"faults": faults})
    unwritten = unwritten_resolutions(revision)
    if unwritten:
        says = "What was found out is not in the transcript yet: review the repair and apply it."
        return Line("transcript", False, says, details={"keys": unwritten})
    return Line("transcript", True, f"Revision {revision.number} can be resumed.")


def unwritten_resolutions(revision: Revision) -> list[str]:
    """Keys of settled operations whose call a row of this revision answers with something else than what was found out."""
    if not ledger.has_settled(revision.session):  # most sessions: a large one need not be derived for it
        return []
    inspection = inspection_of(revision=revision).inspection
    settled = ledger.resolutions_of(inspection, revision.session)
    by_key = {each.key: each for each in inspection.operations} if settled else {}
    return [
        key
        for key, resolution in settled.items()
        if by_key[key].call is not None and by_key[key].on_branch and f"resolved-{resolution.outcome}" not in {e.kind for e in by_key[key].evidence}
    ]


def _source(session: Session, asked: Asked) -> Iterator[Line]:
    """Whether the file changed since it was imported, and whether its client is at work."""
    looked = origin.look(session)
    if looked.seen:
        changed = f"Since the import {looked.changed}: import it again." if looked.changed else "The file is as it was imported."
        yield Line("source", not looked.changed, changed)
        live = f"Its client is at work: {looked.live}. Close it first." if looked.live else "No client has it open, as far as its registry tells."
        yield Line("live", not looked.live, live)
        return
    own = session.source_kind == Session.SourceKind.FORK
    first = session.revisions.filter(kind=Revision.Kind.IMPORTED).order_by("-number").first()
    sha256 = first.parts.get(number=0).artifact_id if first else ""
    if own:
        yield Line("source", True, "It was made here: no client has written to it.")
    elif asked.source_sha256:
        same = asked.source_sha256.strip().lower() == sha256
        yield Line("source", same, "The file is as it was imported." if same else "The file is not the one that was imported: import it again.")
    elif asked.attested:
        yield Line("source", True, f"{asked.attested} says that the file has not changed since it was uploaded.")
    else:
        yield Line(
            "source", False, "It was uploaded, so we can't see whether its file has changed: give the SHA-256 of the file as it is now, or say that "
            "you compared it.", details={"sha256": sha256},
        )  # fmt: skip
    if looked.live:
        yield Line("live", False, f"Its client was at work when it was imported: {looked.live}. Close it and import it again.")
    elif own or asked.attested or asked.source_sha256:
        who = asked.attested or asked.holder or "The caller"
        yield Line("live", True, "No client has it open." if own else f"{who} says that no client has it open.")
    else:
        yield Line("live", False, "It was uploaded, so we can't see whether a client has it open.")


def _responding(session: Session, asked: Asked) -> Iterator[Line]:
    """Whether the session is making a response, for clients of which nothing outside tells that: not known counts as yes."""
    if not getattr(reading.CLIENTS.get(session.client), "UNKNOWN_IS_RESPONDING", False):
        return
    if asked.attested:
        yield Line("responding", True, f"{asked.attested} says that no response is being made.")
    else:
        yield Line("responding", False, "Nobody knows whether its session is making a response: look, and say that it is not.")


def _approvals(session: Session) -> Iterator[Line]:
    for each in ledger.of_session(session).filter(state=State.APPROVED).select_related("proposer", "run__session", "target"):
        approval = ledger.valid_approvals(each).first()
        if approval is None or each.digest != ledger.digest_of(each):
            yield Line("approvals", False, f"The approval of {each.tool} is no longer valid: it ran out, or the action changed. Ask again.", each.pk)
        elif not may(approval.approver, DECIDE):
            yield Line("approvals", False, f"Who approved {each.tool} may not do so any more. Ask again.", each.pk)
        elif each.origin == Operation.Origin.LIVE and not may(each.proposer, HANDLE):
            yield Line("approvals", False, f"Who proposed {each.tool} may not do so any more.", each.pk)
        else:
            yield Line("approvals", True, f"{each.tool} is approved until {approval.expires_at:%H:%M:%S %Z}.", each.pk)


def _policy(session: Session) -> Line:
    number = ledger.policy_number()
    wrong = [each for each in ledger.of_session(session).filter(state__in=Operation.OPEN) if not each.policy.endswith(f"policy {number}")]
    if wrong:
        return Line("policy", False, f"The policy changed since {wrong[0].tool} was judged: look at it again.", wrong[0].pk)
    return Line("policy", True, f"Policy version {number} is in force." if number else "The built-in policy is in force.")


def _targets(session: Session) -> Iterator[Line]:
    for each in ledger.of_session(session).filter(state=State.APPROVED, target__probe__isnull=False).select_related("target__probe"):
        yield eligible(each)


def eligible(operation: Operation) -> Line:
    """Whether what an operation acts on was looked at shortly before: the target's probe, young enough, and not saying that it is done already."""
    target = operation.target
    if target is None or target.probe is None or not target.probe.active:
        return Line("targets", True, f"{operation.tool} needs no look at its target.", operation.pk)
    since = timezone.now() - timedelta(seconds=target.probe_max_age_seconds)
    reading = operation.evidence.filter(kind=Evidence.Kind.PROBE, probe=target.probe, at__gte=since).last()
    details = {"probe": target.probe.name, "target": target.name}
    if reading is None or reading.verdict == "failed":
        return Line("targets", False, f"Nobody has looked at {target.name} lately: run the probe “{target.probe.name}”.", operation.pk, details)
    if reading.verdict != "not-applied":
        says = f"The probe “{target.probe.name}” does not say that {operation.tool} is still to be done: {reading.says}"
        return Line("targets", False, says, operation.pk, details)
    return Line("targets", True, f"{target.name} was looked at {reading.at:%H:%M:%S %Z}.", operation.pk, details)


def _permissions(session: Session, asked: Asked) -> Line:
    """The client must not be started with wider permissions than it had."""
    had, restored = _modes(session)
    will = asked.permission_mode or restored or "default"
    if had is None:
        wide = will not in MODES[:2]
        says = f"No permission mode was recorded, and it would go on in “{will}”." if wide else f"It goes on in “{will}”."
        return Line("permissions", not wide, says)
    wider = _width(will) > _width(had)
    says = f"It was in “{had}” and would go on in “{will}”, which allows more." if wider else f"It was in “{had}” and goes on in “{will}”."
    return Line("permissions", not wider, says)


def _modes(session: Session) -> tuple[str | None, str | None]:
    """The mode that was recorded last, and the one that a resume restores; None where it is not known."""
    if session.current is None:
        return None, None
    facts = inspection_of(revision=session.current).inspection.state.facts
    fact = next((each for each in facts if each.name == "permission-mode" and each.known and isinstance(each.value, str)), None)
    return (fact.value, fact.value if fact.restored.normal else None) if fact else (None, None)


def _width(mode: str) -> int:
    return MODES.index(mode) if mode in MODES else len(MODES)
