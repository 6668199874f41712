"""The desk as its people use it: what the tests of crashes, races and invariants share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F

from inspector.models import Approval, Claim, Evidence, Lease, Operation, Run, Session, Target
from inspector.queries import readiness
from inspector.services.approve_operation import approve_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.claim_session import Ticket, claim_session
from inspector.services.decide_claim import decide_claim
from inspector.services.propose_operation import propose_operation
from inspector.services.take_over import take_over

LEASE, QUIET, KEY_VALID = 900, 300, 86_400
"""Seconds of a lease, of a target's quiet period, and of the time that a target knows a key."""
KINDS = ("key", "lookup", "http-service", "same-database")
DATES = {
    Lease: ("taken_at", "expires_at"), Operation: ("sent_at", "send_by", "key_valid_until"), Approval: ("given_at", "expires_at", "used_at"),
    Evidence: ("at",), Claim: ("made_at", "decided_at"),
}  # fmt: skip


def pass_time(seconds: float) -> None:
    """Let time pass: everything that is dated moves back, because the clock of a database can't be moved."""
    for model, names in DATES.items():
        model._default_manager.update(**{name: F(name) - timedelta(seconds=seconds) for name in names})


def declare_targets() -> dict[str, Target]:
    """One target of each kind, by its kind."""
    return {
        kind: Target.objects.create(name=f"the-{kind}", kind=kind, quiet_seconds=QUIET, key_valid_seconds=KEY_VALID if kind == "key" else 0)
        for kind in KINDS
    }


@dataclass
class Desk:
    """One session's run and its people: `owner` proposes and works, `other` approves and decides, `successor` takes over."""

    session: Session
    run: Run
    owner: User
    other: User
    successor: User
    targets: dict[str, Target]
    proposed: int = field(default=0)

    def take_over(self, user: User, holder: str) -> Lease:
        return take_over(run=self.run, actor=user, holder=holder, seconds=LEASE)

    def propose(self, kind: str, intent: str, retry_of: Operation | None = None) -> Operation:
        self.proposed += 1
        return propose_operation(
            run=self.run, actor=self.owner, tool="refund", arguments={"order": intent}, intent=intent, target=self.targets[kind].name,
            idempotency_key=f"key-{self.proposed}" if kind == "key" else "", retry_of=retry_of,
        )  # fmt: skip

    def approve(self, operation: Operation) -> Approval:
        return approve_operation(operation=operation, actor=self.other, digest=operation.digest)

    def approved(self, kind: str, intent: str, retry_of: Operation | None = None) -> Operation:
        operation = self.propose(kind, intent, retry_of)
        self.approve(operation)
        operation.refresh_from_db()
        return operation

    def resolve(self, operation: Operation, outcome: str, evidence: Evidence, statement: str = "I looked it up.", **more: Any) -> Claim:
        """One person claims it, another approves it."""
        claim = claim_outcome(operation=operation, actor=self.owner, outcome=outcome, statement=statement, evidence=[evidence], **more)
        decide_claim(claim=claim, actor=self.other, digest=claim.digest, approve=True)
        operation.refresh_from_db()
        return claim

    def job(self, do: str, user: User, lease: Lease, operation: Operation, kind: str, **more: Any) -> dict[str, Any]:
        """The order for a worker process."""
        return {
            "do": do, "user": user.pk, "holder": lease.holder, "fence": lease.fence, "operation": operation.pk, "kind": kind, **more
        }  # fmt: skip

    def gate(self, holder: str) -> Ticket:
        """A ticket to go on; raises Refused with the lines that fail."""
        asked = readiness.Asked(holder=holder, attested="owner", permission_mode="default")
        return claim_session(session=Session.objects.get(pk=self.session.pk), actor=self.successor, asked=asked)


def reading(operation: Operation, verdict: str, by: User) -> Evidence:
    """What a probe of the target answered."""
    return Evidence.objects.create(operation=operation, kind=Evidence.Kind.PROBE, verdict=verdict, says=f"The target says: {verdict}.", by=by)
