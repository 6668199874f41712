"""The desk from end to end: a killed call becomes an operation, one person claims, another approves, the repair tells it, the gate opens."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from inspector.core import repair
from inspector.core.steps import Resolution
from inspector.models import AuditEntry, Claim, Operation, Session
from inspector.queries import audit, ledger, readiness
from inspector.queries.derivation import inspection_of
from inspector.services.add_evidence import add_evidence
from inspector.services.approve_operation import approve_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.claim_session import claim_session
from inspector.services.decide_claim import decide_claim
from inspector.services.delete_session import delete_session
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.moves import Refused
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import register_run
from inspector.services.repair_session import repair_session
from inspector.services.settle_operation import settle_operation
from inspector.services.take_over import take_over

from .sessions import OTHER, SID, bring, bring_bytes, row

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
    looked = inspection_of(revision=killed.current)
    found = ledger.resolutions_of(looked.inspection, killed)
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=found)
    revision = repair_session(revision=killed.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
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
    looked = inspection_of(revision=Session.objects.get(pk=killed.pk).current).inspection
    assert ledger.resolutions_of(looked, killed)[operation.key].confirmed_by == ""


def test_a_second_import_shares_the_operation_and_its_resolution(killed: Session, operation: Operation, owner: User, team_mate: User) -> None:
    file = next((KILLED / "source").rglob("*.jsonl"))
    settled(operation, owner, team_mate)
    again = bring_bytes(file.read_bytes() + b"\n", f"copy-{file.name}").session
    assert list(again.ledger.all()) == [operation] and Operation.objects.count() == 1
    assert (again.verdict, again.open_operations) == ("needs-repair", 0)


def test_what_only_the_file_says_is_not_believed(killed: Session, operation: Operation, owner: User) -> None:
    """A repaired file that came from elsewhere: its mark is a word of somebody, kept beside the operation."""
    looked = inspection_of(revision=killed.current)
    said = {operation.key: Resolution("happened", "trust me", "mallory", AT)}
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=said)
    made = repair.apply(looked.inspection.session.source, plan).parts[0]
    Session.objects.all().delete()
    Operation.objects.all().delete()
    foreign = bring_bytes(made.data[0 : len(made.data)], made.name).session
    held = foreign.ledger.get()
    assert held.state == "uncertain" and foreign.verdict == "needs-reconciliation"
    assert held.evidence.get().kind == "file-mark"
    with pytest.raises(Refused, match="Evidence is needed"):
        claim_outcome(operation=held, actor=owner, outcome="applied", statement="The file says so.", evidence=list(held.evidence.all()))


def test_a_result_that_comes_with_the_grown_file_settles_it(tmp_path: Path) -> None:
    clean = next((KILLED.parent / "live332-a_clean" / "source").rglob("*.jsonl")).read_bytes()
    lines = clean.splitlines(keepends=True)
    call = next(number for number, line in enumerate(lines) if b'"tool_use"' in line and b'"Write"' in line)
    file = tmp_path / "grown.jsonl"
    file.write_bytes(b"".join(lines[: call + 1]))
    session = bring(file)[0].session
    held = session.ledger.get()
    assert held.state == "uncertain"
    file.write_bytes(clean)
    assert bring(file)[0].session == session
    held.refresh_from_db()
    assert held.state == "confirmed" and AuditEntry.objects.filter(action="operation-recorded").count() == 1
    assert not [line for line in readiness.lines(Session.objects.get(pk=session.pk)) if not line.passed]
    file.write_bytes(clean[:-1] + b" \n")
    assert {line.name for line in readiness.lines(Session.objects.get(pk=session.pk)) if not line.passed} == {"source"}


def test_a_text_that_only_says_rejected_is_told_what_was_found(owner: User, team_mate: User) -> None:
    file = next((KILLED.parent / "live332-e2_esc_tool" / "source").rglob("*.jsonl"))
    session = bring_bytes(file.read_bytes(), file.name).session
    held = session.ledger.get()
    settled(held, owner, team_mate)
    session.refresh_from_db()
    assert "transcript" in {line.name for line in readiness.lines(session) if not line.passed}
    looked = inspection_of(revision=session.current)
    found = ledger.resolutions_of(looked.inspection, session)
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=found)
    repair_session(revision=session.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
    session.refresh_from_db()
    attested = readiness.Asked(holder="w", attested="owner")
    assert claim_session(session=session, actor=owner, asked=attested).completed == [held]


def test_an_application_that_registered_the_call_governs_it(owner: User, team_mate: User) -> None:
    """The transcript lost the result; the ledger has it."""
    file = next((KILLED / "source").rglob("*.jsonl"))
    call = next(block for line in map(json.loads, file.read_bytes().splitlines()) for block in contents(line) if block.get("type") == "tool_use")
    run = register_run(actor=owner, client="claude-code", name=file.stem)
    live = propose_operation(run=run, actor=owner, tool="Bash", arguments=call["input"], call_id=call["id"])
    approve_operation(operation=live, actor=team_mate, digest=live.digest)
    lease = take_over(run=run, actor=owner, holder="agent")
    dispatch_operation(operation=live, actor=owner, holder="agent", fence=lease.fence)
    settle_operation(operation=live, actor=owner, holder="agent", fence=lease.fence, end="confirmed", response={"exit": 0})
    session = bring_bytes(file.read_bytes(), file.name).session
    assert list(session.ledger.all()) == [live] and session.run == run and Operation.objects.count() == 1
    assert (session.verdict, session.open_operations) == ("needs-repair", 0)
    looked = inspection_of(revision=session.current).inspection
    assert [resolution.outcome for resolution in ledger.resolutions_of(looked, session).values()] == ["happened"]


def contents(line: dict[str, Any]) -> list[dict[str, Any]]:
    content = (line.get("message") or {}).get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def test_deleting_a_session_takes_its_operations_but_not_those_of_others(killed: Session, operation: Operation, owner: User) -> None:
    file = next((KILLED / "source").rglob("*.jsonl"))
    other = bring_bytes(file.read_bytes() + b"\n", f"copy-{file.name}").session
    delete_session(session=killed, actor=owner, reason="a test")
    assert list(other.ledger.all()) == [operation]
    delete_session(session=other, actor=owner, reason="a test")
    assert not Operation.objects.exists() and audit.verify_chain().bad is None


@pytest.mark.parametrize("case", ["live332-i2_subagent_killed", "live332-i4_bg_agent_killed", "live332-e2b_esc_parallel", "d1_parallel_bash"])
def test_all_that_is_open_can_be_settled_repaired_and_resumed(case: str, owner: User, settings: Any) -> None:
    """Work in the background, parallel calls, calls of sub-agents: the gate opens when each is settled and the repair has told it."""
    settings.SELF_RESOLUTION = True
    session = next(each.session for each in bring(KILLED.parent / case / "source") if not each.session.relation)
    assert session.ledger.filter(state="uncertain").exists()
    for held in session.ledger.filter(state="uncertain"):
        seen = add_evidence(operation=held, actor=owner, says="The log shows it.")
        claim_outcome(operation=held, actor=owner, outcome="applied", statement="It is there.", evidence=[seen])
    session.refresh_from_db()
    looked = inspection_of(revision=session.current)
    found = ledger.resolutions_of(looked.inspection, session)
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=found)
    repair_session(revision=session.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
    session.refresh_from_db()
    ticket = claim_session(session=session, actor=owner, asked=readiness.Asked(holder="w", attested="owner"))
    assert set(ticket.completed) == set(ledger.of_session(session)) and not ticket.forbidden


@pytest.mark.parametrize("lost", [True, False])
def test_a_repair_tells_the_registered_answer_only_where_the_transcript_has_none(lost: bool, owner: User, team_mate: User) -> None:
    file = next((KILLED / "source").rglob("*.jsonl")) if lost else next((KILLED.parent / "live332-a_clean" / "source").rglob("*.jsonl"))
    blocks = [block for line in map(json.loads, file.read_bytes().splitlines()) for block in contents(line)]
    call = next(block for block in blocks if block.get("type") == "tool_use")
    run = register_run(actor=owner, client="claude-code", name=file.stem)
    live = propose_operation(run=run, actor=owner, tool=call["name"], arguments=call["input"], call_id=call["id"])
    approve_operation(operation=live, actor=team_mate, digest=live.digest)
    lease = take_over(run=run, actor=owner, holder="agent")
    dispatch_operation(operation=live, actor=owner, holder="agent", fence=lease.fence)
    settle_operation(operation=live, actor=owner, holder="agent", fence=lease.fence, end="confirmed", response={"exit": 0})
    session = bring_bytes(file.read_bytes(), file.name).session
    looked = inspection_of(revision=session.current)
    found = ledger.resolutions_of(looked.inspection, session)
    plan = repair.plan(looked.inspection, looked.findings, seed="s", at=AT, resolutions=found)
    said = b"".join(part.data[0 : len(part.data)] for part in repair.apply(looked.inspection.session.source, plan).parts)
    assert (b"The application recorded" in said) is lost
    assert bool(readiness.unwritten_resolutions(session.current)) is lost


@pytest.mark.parametrize(("call_id", "operations"), [("call_2", 2), ("toolu_01AbCdEfGhIjKlMnOp", 1)])
def test_only_a_call_id_that_is_one_of_its_own_joins_sessions(call_id: str, operations: int) -> None:
    """Ids as short as tests and small frameworks write them say nothing about another session's call."""
    for number, session in enumerate((SID, OTHER)):
        called = [{"type": "tool_use", "id": call_id, "name": "Write", "input": {"file_path": "/a", "content": "x"}}]
        lines = row("user", 10 * number, None, "go", session) + row("assistant", 10 * number + 1, 10 * number, called, session)
        bring_bytes(lines, f"{session}.jsonl")
    assert Operation.objects.filter(tool="Write").count() == operations
    assert [each.ledger.filter(tool="Write").count() for each in Session.objects.all()] == [1, 1]
