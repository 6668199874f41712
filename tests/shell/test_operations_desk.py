"""The desk from end to end: a killed call becomes an operation, one person claims, another approves, the repair tells it, the gate opens."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from inspector.core import repair
from inspector.models import AuditEntry, Claim, Operation, Session
from inspector.queries import audit, ledger, readiness
from inspector.queries.derivation import inspection_of
from inspector.services.add_evidence import add_evidence
from inspector.services.claim_outcome import claim_outcome
from inspector.services.claim_session import claim_session
from inspector.services.decide_claim import decide_claim
from inspector.services.moves import Refused
from inspector.services.repair_session import repair_session

from .sessions import bring_bytes

pytestmark = pytest.mark.django_db
KILLED = Path(__file__).parent.parent / "corpus" / "claude-code" / "live332-b_kill_bash"
AT = "2026-11-30T12:00:00.000Z"


@pytest.fixture
def killed() -> Session:
    file = next((KILLED / "source").rglob("*.jsonl"))
    outcome = bring_bytes(file.read_bytes(), file.name)
    return outcome.session


@pytest.fixture
def operation(killed: Session) -> Operation:
    return killed.ledger.get(state="uncertain")


def age(operation: Operation, **by: int) -> None:
    """Let time pass for an operation: everything that is dated about it moves back."""
    back = timedelta(**by)
    Operation.objects.filter(pk=operation.pk).update(sent_at=operation.sent_at - back, send_by=operation.send_by - back)


def settled(operation: Operation, one: User, other: User, outcome: str = "applied") -> Claim:
    seen = add_evidence(operation=operation, actor=one, says="The deploy log of staging shows the roll-out at 12:03.")
    claim = claim_outcome(operation=operation, actor=one, outcome=outcome, statement="I read the deploy log.", evidence=[seen])
    return decide_claim(claim=claim, actor=other, digest=claim.digest, approve=True)


def test_a_killed_call_is_an_operation_that_keeps_its_session_from_resuming(killed: Session, operation: Operation) -> None:
    assert (operation.tool, operation.state, operation.origin) == ("Bash", "uncertain", "recorded")
    assert operation.arguments and operation.recorded and operation.digest
    assert killed.verdict == "needs-reconciliation"
    failing = {line.name for line in readiness.lines(killed) if not line.passed}
    assert failing >= {"operations", "transcript", "source", "live"}


def test_one_claims_another_approves_and_the_repair_tells_the_model(killed: Session, operation: Operation, owner: User, team_mate: User) -> None:
    settled(operation, owner, team_mate)
    operation.refresh_from_db()
    assert (operation.state, operation.outcome) == ("resolved", "applied")
    killed.refresh_from_db()
    assert killed.verdict == "needs-repair" and killed.open_operations == 0
    found = ledger.resolutions_of(killed)
    looked = inspection_of(revision=killed.current)
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=found)
    revision = repair_session(revision=killed.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest(), resolutions=found)
    text = b"".join(part.data[0 : len(part.data)] for part in repair.apply(looked.inspection.session.source, plan).parts).decode()
    assert "owner checked on" in text and "team-mate confirmed it" in text and "resolved without second person" not in text
    killed.refresh_from_db()
    assert (killed.verdict, revision.number) == ("ready", 2)
    ticket = claim_session(session=killed, actor=owner, asked=readiness.Asked(holder="worker", attested="owner"))
    assert ticket.revision == revision and ticket.completed == [operation] and ticket.lease.fence == 1
    assert audit.verify_chain().bad is None


def test_nobody_decides_alone_and_a_stranger_does_nothing(operation: Operation, owner: User, team_mate: User, stranger: User) -> None:
    seen = add_evidence(operation=operation, actor=owner, says="The log.")
    claim = claim_outcome(operation=operation, actor=owner, outcome="applied", statement="It is there.", evidence=[seen])
    with pytest.raises(Refused, match="can't approve it"):
        decide_claim(claim=claim, actor=owner, digest=claim.digest, approve=True)
    with pytest.raises(PermissionDenied):
        decide_claim(claim=claim, actor=stranger, digest=claim.digest, approve=True)
    with pytest.raises(Refused, match="changed since"):
        decide_claim(claim=claim, actor=team_mate, digest="0" * 64, approve=True)
    operation.refresh_from_db()
    assert operation.state == "uncertain"
    assert AuditEntry.objects.filter(action="refused-decide-claim").count() == 2


def test_not_there_counts_only_after_the_quiet_period(operation: Operation, owner: User, team_mate: User) -> None:
    Operation.objects.filter(pk=operation.pk).update(send_by=operation.sent_at + timedelta(days=9999))
    operation.refresh_from_db()
    seen = add_evidence(operation=operation, actor=owner, says="No deploy in the log.")
    with pytest.raises(Refused, match="may still arrive"):
        claim_outcome(operation=operation, actor=owner, outcome="not-applied", statement="Not there.", evidence=[seen])


def test_where_one_person_works_alone_it_counts_at_once_and_is_stamped(killed: Session, operation: Operation, owner: User, settings: object) -> None:
    settings.SELF_RESOLUTION = True  # type: ignore[attr-defined]
    seen = add_evidence(operation=operation, actor=owner, says="The log.")
    claim_outcome(operation=operation, actor=owner, outcome="applied", statement="It is there.", evidence=[seen])
    operation.refresh_from_db()
    assert operation.outcome == "applied" and ledger.decided(operation).alone
    assert ledger.resolutions_of(killed)[operation.key].confirmed_by == ""
