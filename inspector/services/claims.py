"""What claims ask of evidence and time, and how they are closed: shared by who makes, decides and withdraws them."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from inspector.models import Claim, Evidence, Operation
from inspector.models.clock import DatabaseNow
from inspector.models.text import clean
from inspector.queries import ledger, origin

from .moves import Refused, move

Outcome, State = Operation.Outcome, Operation.State


def check(claim: Claim, evidence: Sequence[Evidence]) -> None:
    """Raises Refused unless what is claimed may be claimed now: asked when it is made and again when it is decided."""
    operation = claim.operation
    undone = claim.outcome == Outcome.COMPENSATED and operation.state == State.RESOLVED and operation.outcome == Outcome.APPLIED
    if operation.state != State.UNCERTAIN and not undone:
        raise Refused("not-uncertain", "Nothing is uncertain about it: it was settled meanwhile, or was not sent.")
    if any(each.operation_id != operation.pk for each in evidence):
        raise Refused("no-evidence", "That evidence is about another operation.")
    if claim.outcome == Outcome.APPLIED:
        _supported(evidence, "applied", "that it happened")
    elif claim.outcome == Outcome.NOT_APPLIED:
        _not_there(operation, evidence)
    elif claim.outcome == Outcome.SUPERSEDED:
        if claim.related_id == operation.pk:
            raise Refused("no-relation", "Nothing is made needless by itself: name the other operation.")
        if claim.related is None and not any(each.url for each in evidence):
            raise Refused("no-relation", "Name the operation, or link what made it needless.")
        if claim.effect_exists is None:
            raise Refused("no-relation", "Say whether its old effect exists.")
        _supported(evidence, "", "that it is no longer needed")
    else:
        _undone(operation, claim.related)
        _supported(evidence, "", "that it was undone")


def _supported(evidence: Sequence[Evidence], verdict: str, what: str) -> None:
    """A probe or a worker that says something else supports nothing; a mark in a file is a word, not evidence."""
    if not _good(evidence, verdict):
        raise Refused("no-evidence", f"Evidence is needed {what}: what did you look at, and what did it show?")


def _good(evidence: Sequence[Evidence], verdict: str) -> list[Evidence]:
    return [each for each in evidence if each.kind != Evidence.Kind.FILE_MARK and (not verdict or _verdict(each) in ("", verdict))]


def _verdict(evidence: Evidence) -> str:
    """Of a probe what it read, of a late result what the worker had heard of the target; blank for what only a person can judge."""
    if evidence.kind != Evidence.Kind.LATE_RESULT:
        return evidence.verdict
    return {"confirmed": "applied", "failed": "not-applied"}.get(evidence.details.get("end", ""), "unclear")


def _not_there(operation: Operation, evidence: Sequence[Evidence]) -> None:
    _supported(evidence, "not-applied", "that it did not happen")
    if any(_verdict(each) == "applied" for each in [*evidence, *operation.evidence.filter(kind=Evidence.Kind.LATE_RESULT)]):
        raise Refused("no-evidence", "A probe, or a worker whose result came too late, says that it happened.")
    quiet = ledger.quiet_until(operation)
    looked = max(each.at for each in _good(evidence, "not-applied"))
    if quiet is None or timezone.now() < quiet or looked < quiet:
        until = f" Look again after {quiet:%Y-%m-%d %H:%M:%S %Z}." if quiet else ""
        says = f"It may still arrive: a request can be under way, or a paused worker can send it late.{until}"
        raise Refused("too-early", says, until=quiet and quiet.isoformat())
    why = origin.live(operation)
    if why:
        raise Refused("live", f"Its client may still be at work ({why}): what is not there now may come. Close it first.")


def _undone(operation: Operation, related: Operation | None) -> None:
    done = related is not None and (related.state == State.CONFIRMED or (related.state == State.RESOLVED and related.outcome == Outcome.APPLIED))
    if not done or related is None or related.pk == operation.pk:
        raise Refused("no-relation", "Name the operation that undid it; that one must have happened.")


def settle(claim: Claim, actor: AbstractBaseUser, note: str, alone: bool) -> Operation:
    """Close the claim as approved and resolve its operation, inside the caller's transaction."""
    close(claim, Claim.State.APPROVED, actor, note, alone=alone)
    details = {"claim": claim.pk, "outcome": claim.outcome, "digest": claim.digest, "claimant": str(claim.claimant), "alone": alone}
    return move(
        claim.operation, to=Operation.State.RESOLVED, outcome=claim.outcome, actor=actor, action="operation-resolved", details=details
    )  # fmt: skip


def close(claim: Claim, state: str, actor: AbstractBaseUser, note: str, alone: bool = False) -> None:
    closed = Claim.objects.filter(pk=claim.pk, state=Claim.State.OPEN, digest=claim.digest).update(
        state=state, decided_by=actor, decided_at=DatabaseNow(), decision_note=clean(note.strip()), alone=alone
    )
    if closed != 1:
        raise Refused("changed-meanwhile", "It was decided by somebody else meanwhile.")
    claim.refresh_from_db()
