"""The kept ledger: digests of what approvers see, what is open, what was settled, as values that derivation, pages and the gate ask for."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from inspector.core.canonical import digest
from inspector.core.inspection import Inspection
from inspector.core.kept import Kept
from inspector.core.operations import answered, call_key, key_of
from inspector.core.policy import BUILT_IN, Policy
from inspector.core.steps import Resolution
from inspector.models import Approval, Claim, Evidence, Operation, PolicyVersion, Run, Session
from inspector.models.clock import DatabaseNow

State, Outcome = Operation.State, Operation.Outcome
QUIET = timedelta(seconds=300)
"""Quiet period of what has no declared target: the longest pause of a worker plus the longest time that a request may be under way."""


def policy() -> Policy:
    """The policy in force: the newest version, or the built-in tables alone."""
    newest = PolicyVersion.objects.first()
    return Policy.from_json(newest.policy) if newest else BUILT_IN


def policy_number() -> int:
    """Number of the policy in force; 0 for the built-in tables alone."""
    return PolicyVersion.objects.values_list("number", flat=True).first() or 0


def digest_of(operation: Operation, number: int | None = None) -> str:
    """SHA-256 of what an approver is shown. The revision of the transcript and the policy in force belong to it: a change of them asks again.

    `number` is that of the policy in force, for a caller that has asked already.
    """
    session = operation.run.session
    return digest(
        {
            "operation": operation.key, "tool": operation.tool, "arguments": operation.arguments,
            "target": [operation.target.name if operation.target else "", operation.target_text], "environment": operation.environment,
            "effect": operation.effect, "run": operation.run_id, "revision": session.current_id if session else None,
            "policy": [operation.policy, policy_number() if number is None else number], "key": operation.idempotency_key,
        }
    )  # fmt: skip


def claim_digest(claim: Claim, evidence: list[Evidence]) -> str:
    """SHA-256 of what the second person is shown of a claim."""
    return digest(
        {
            "operation": claim.operation.key, "outcome": claim.outcome, "statement": claim.statement, "related": claim.related_id,
            "effect_exists": claim.effect_exists, "claimant": claim.claimant_id,
            "evidence": [[each.pk, each.kind, each.says, each.url, each.sha256, each.verdict] for each in sorted(evidence, key=lambda each: each.pk)],
        }
    )  # fmt: skip


UNIQUE_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
"""A session's id that no other conversation has. Threads of stores are called as people like: `1` of one store is not `1` of another."""


def runs_of(session: Session, path: str = "run__") -> Q:
    """Runs of a session, for what has them under `path`: its own, and those of other copies of it, which are the same conversation."""
    own = Q(**{f"{path}session": session})
    if not UNIQUE_ID.fullmatch(session.native_id) or session.relation == Session.Relation.SUB_AGENT:
        return own
    return own | Q(**{f"{path}client": session.client, f"{path}name": session.native_id})


def of_session(session: Session) -> QuerySet[Operation]:
    """Operations that count for a session: those of its transcript and of its sub-agents, and those that were registered for its run. Those of
    another copy of it count as well: its client has one conversation of this id."""
    return Operation.objects.filter(
        Q(sessions=session) | runs_of(session) | Q(sessions__parent=session, sessions__relation=Session.Relation.SUB_AGENT)
    ).distinct()


def of_run(run: Run) -> QuerySet[Operation]:
    """Operations that count for a run, with or without a session."""
    return of_session(run.session) if run.session else run.operations.all()


def sorted_out(session: Session) -> tuple[list[Operation], list[Operation], list[Operation]]:
    """Operations of a session for whoever goes on with it: completed, so not to be done again; approved and not sent yet; all others, which are
    forbidden without a new approval."""
    completed, allowed, forbidden = [], [], []
    for each in of_session(session).select_related("run__session", "target").order_by("pk"):
        happened = each.state == State.CONFIRMED or (each.state == State.RESOLVED and each.outcome in (Outcome.APPLIED, Outcome.COMPENSATED))
        (completed if happened else allowed if each.state == State.APPROVED else forbidden).append(each)
    return completed, allowed, forbidden


def valid_approvals(operation: Operation) -> QuerySet[Approval]:
    """Approvals of exactly this, unused and not expired, oldest first. Whether a giver may still give one is asked by whoever uses it."""
    return operation.approvals.filter(digest=operation.digest, used_at=None, expires_at__gt=DatabaseNow()).select_related("approver").order_by("pk")


def key_in_rows(operation: Operation) -> str:
    """The key that a derivation gives the operation's call: what an application registered for one has a key of its own."""
    registered = operation.origin == Operation.Origin.LIVE and operation.call_id
    return key_of(operation.call_id, operation.tool, operation.arguments) if registered else operation.key


def quiet_until(operation: Operation) -> datetime | None:
    """From then on “not found” is evidence; None where it is not known when it was last sent."""
    if operation.send_by is None:
        return None
    return operation.send_by + (timedelta(seconds=operation.target.quiet_seconds) if operation.target else QUIET)


def happened_after_all(operation: Operation | None) -> bool:
    """Whether a result of this attempt, or of one before it, came too late and says that the target did it."""
    while operation is not None:
        if operation.evidence.filter(kind=Evidence.Kind.LATE_RESULT, details__end="confirmed").exists():
            return True
        operation = operation.retry_of
    return False


def decided(operation: Operation) -> Claim | None:
    """The claim that settled it, the last one where it was undone since."""
    return operation.claims.filter(state=Claim.State.APPROVED).select_related("claimant", "decided_by").last()


DERIVED = {
    State.PROPOSED: "waiting-approval", State.APPROVED: "waiting-approval", State.CANCELLED: "not-started", State.EXPIRED: "not-started",
    State.DISPATCHED: "uncertain", State.CONFIRMED: "confirmed", State.FAILED: "failed", State.UNCERTAIN: "uncertain", State.RESOLVED: "resolved",
}  # fmt: skip
"""State of the kept ledger -> state of a derivation."""


def kept_of(session: Session) -> tuple[Kept, ...]:
    """What the ledger says of a session's operations, for its derivation."""
    found = of_session(session).select_related("target").order_by("pk")
    return tuple(
        Kept(
            key=each.key, state=DERIVED[State(each.state)], says=says(each), call_id=each.call_id or None, tool=each.tool, arguments=each.arguments,
            effect=each.effect, why_effect=each.why_effect, target=each.target_text or None, policy=each.policy,
            own=each.origin != Operation.Origin.RECORDED,
        )
        for each in found
        if each.state != State.CONFIRMED or each.origin != Operation.Origin.RECORDED
    )  # fmt: skip


def says(operation: Operation) -> str:
    """What the ledger knows, in a sentence."""
    claim = decided(operation) if operation.state == State.RESOLVED else None
    if claim is not None:
        second = "without a second person" if claim.alone else f"{claim.decided_by or 'a person who is gone'} approved it"
        return f"{Outcome(operation.outcome).label}, says {claim.claimant or 'a person who is gone'}; {second}: “{claim.statement}”"
    if operation.origin == Operation.Origin.REPORTED:
        return f"{operation.proposer or 'A person'} reported that it may have happened: “{operation.reason}”"
    if operation.origin == Operation.Origin.LIVE:
        return f"An application registered it: {State(operation.state).label}."
    return "It stands in the ledger: nobody has found out yet what happened."


HAPPENED = {Outcome.APPLIED: True, Outcome.NOT_APPLIED: False, Outcome.COMPENSATED: True}
PREFIX = {Outcome.COMPENSATED: "It was undone since. ", Outcome.SUPERSEDED: "It is no longer needed. "}


def resolutions_of(inspection: Inspection, session: Session) -> dict[str, Resolution]:
    """What was settled about the operations of one revision, by their keys in it, as a repair tells it to the model; none for a call whose own
    result is there to be read."""
    settled = _settled(session)
    asked = [each for each in inspection.operations if not answered(each)] if settled else []
    found = {each.key: settled.get(each.key) or settled.get(call_key(each)) for each in asked}
    return {key: resolution for key, resolution in found.items() if resolution is not None}


def has_settled(session: Session) -> bool:
    """Whether anything was settled that a repair may have to tell the model."""
    return _settled_here(session).exists()


def _settled_here(session: Session) -> QuerySet[Operation]:
    settled = of_session(session).filter(state__in=(State.RESOLVED, State.CONFIRMED, State.FAILED))
    return settled.exclude(state__in=(State.CONFIRMED, State.FAILED), origin=Operation.Origin.RECORDED)


def _settled(session: Session) -> dict[str, Resolution]:
    """By the key that a transcript gives the operation."""
    found = {}
    for each in _settled_here(session).select_related("proposer").order_by("pk"):  # of several attempts the last speaks
        claim = decided(each)
        if claim is None:
            happened = each.state == State.CONFIRMED
            text, by, second, at = "The application recorded the target's own answer.", str(each.proposer or ""), "", each.changed
        else:
            happened = HAPPENED.get(Outcome(each.outcome), bool(claim.effect_exists))
            text, by = PREFIX.get(Outcome(each.outcome), "") + claim.statement, str(claim.claimant or "")
            second, at = "" if claim.alone else str(claim.decided_by or ""), claim.decided_at or each.changed
        found[key_in_rows(each)] = Resolution("happened" if happened else "did-not-happen", text, by, f"{at:%Y-%m-%dT%H:%M:%S.000Z}", second)
    return found


def as_json(operation: Operation) -> dict[str, Any]:
    """An operation as the API and the gate's ticket show it."""
    return {
        "id": operation.pk, "key": operation.key, "run": operation.run_id, "session": operation.run.session_id, "origin": operation.origin,
        "intent": operation.intent, "call_id": operation.call_id or None, "tool": operation.tool, "arguments": operation.arguments,
        "target": operation.target.name if operation.target else None, "target_text": operation.target_text or None,
        "environment": operation.environment or None, "effect": operation.effect, "why_effect": operation.why_effect, "policy": operation.policy,
        "state": operation.state, "outcome": operation.outcome or None, "digest": operation.digest,
        "idempotency_key": operation.idempotency_key or None, "key_valid_until": _iso(operation.key_valid_until), "sent_at": _iso(operation.sent_at),
        "send_by": _iso(operation.send_by), "quiet_until": _iso(quiet_until(operation)), "retry_of": operation.retry_of_id,
        "response": operation.response, "reason": operation.reason or None,
    }  # fmt: skip


def _iso(when: datetime | None) -> str | None:
    return when.isoformat() if when else None
