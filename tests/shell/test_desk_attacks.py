"""What an adversary or a clumsy team may try at the desk: each was possible once, or nearly was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from inspector.core.errors import CoreError
from inspector.models import AuditEntry, Lease, Operation, Session
from inspector.queries import artifacts, audit, derivation, ledger, readiness
from inspector.services.add_evidence import add_evidence
from inspector.services.approve_operation import approve_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.claim_session import claim_session
from inspector.services.decide_claim import decide_claim
from inspector.services.delete_session import delete_session
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.fork_session import fork_session
from inspector.services.moves import Refused
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import register_run, run_of
from inspector.services.renew_lease import renew_lease
from inspector.services.report_operation import report_operation
from inspector.services.settle_operation import settle_operation
from inspector.services.take_over import take_over

from .api import Program, key_target, killed_session
from .sessions import OTHER, bring, bring_bytes, row, transcript
from .test_operations_desk import age

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "77777777-2222-4333-8444-555555555555"


def not_applied(operation: Operation, one: User, other: User) -> None:
    age(operation, hours=2)
    operation.refresh_from_db()
    seen = add_evidence(operation=operation, actor=one, says="The log of the host does not name it.")
    claim = claim_outcome(operation=operation, actor=one, outcome="not-applied", statement="I read the log.", evidence=[seen])
    decide_claim(claim=claim, actor=other, digest=claim.digest, approve=True)
    operation.refresh_from_db()


def test_a_session_whose_call_was_tried_again_can_be_deleted(owner: User, team_mate: User, data_dir: Path) -> None:
    session = killed_session()
    operation = session.ledger.get()
    add_evidence(operation=operation, actor=owner, file=SimpleUploadedFile("log.txt", b"nothing"))
    Operation.objects.filter(pk=operation.pk).update(send_by=operation.sent_at)
    not_applied(operation, owner, team_mate)
    again = propose_operation(run=operation.run, actor=owner, tool=operation.tool, arguments=operation.arguments, retry_of=operation)
    delete_session(session=session, actor=owner, reason="asked for")
    again.refresh_from_db()
    assert again.retry_of is None and not Operation.objects.filter(pk=operation.pk).exists()
    assert not [path for path in (data_dir / "files").rglob("*") if path.is_file()]


def test_a_session_whose_operation_is_named_in_another_ones_claim_can_be_deleted(owner: User, team_mate: User) -> None:
    session = killed_session()
    other = bring_bytes(transcript(OTHER), name=f"{OTHER}.jsonl").session
    reported = report_operation(session=other, actor=owner, tool="Bash", what="it may have run")
    seen = add_evidence(operation=reported, actor=owner, says="looked")
    claim_outcome(
        operation=reported, actor=owner, outcome="superseded", statement="s", evidence=[seen], related=session.ledger.get(), effect_exists=False
    )
    delete_session(session=session, actor=owner, reason="asked for")
    assert not session.ledger.exists()


def test_a_fork_waits_for_what_was_reported_or_registered_for_its_origin(owner: User) -> None:
    session = bring_bytes(transcript()).session
    report_operation(session=session, actor=owner, tool="refund", what="it may have run")
    fork = fork_session(revision=session.current, actor=owner, new_id=NEW, at="2026-11-30T12:00:00.000Z", row=None)
    assert "operations" in [line.name for line in readiness.lines(fork) if not line.passed]


def test_a_fork_made_before_waits_as_well(owner: User) -> None:
    session = bring_bytes(transcript()).session
    fork = fork_session(revision=session.current, actor=owner, new_id=NEW, at="2026-11-30T12:00:00.000Z", row=None)
    report_operation(session=session, actor=owner, tool="refund", what="it may have run")
    assert "operations" in [line.name for line in readiness.lines(fork) if not line.passed]


def test_another_copy_of_a_session_waits_for_what_is_unknown_and_for_its_holder(owner: User, team_mate: User) -> None:
    first = bring_bytes(transcript()).session
    report_operation(session=first, actor=owner, tool="refund", what="it may have run")
    take_over(run=run_of(first), actor=team_mate, holder="one")
    second = bring_bytes(transcript(turns=3)).session
    assert second.pk != first.pk
    failing = [line.name for line in readiness.lines(second) if not line.passed]
    assert "operations" in failing and "lease" in failing
    with pytest.raises(Refused, match="holds it"):
        take_over(run=run_of(second), actor=owner, holder="two")


def sent(operation: Operation, one: User, other: User, lease: Any) -> Operation:
    operation.refresh_from_db()
    approve_operation(operation=operation, actor=other, digest=ledger.digest_of(operation))
    return dispatch_operation(operation=operation, actor=one, holder=lease.holder, fence=lease.fence)


def test_an_approval_that_was_left_over_does_not_send_again(owner: User, team_mate: User) -> None:
    target = key_target()
    run = register_run(actor=owner, client="app", name="r")
    lease = take_over(run=run, actor=owner, holder="w")
    operation = propose_operation(run=run, actor=owner, tool="pay", arguments={"a": 1}, target=target.name, idempotency_key="k1")
    operation = sent(operation, owner, team_mate, lease)
    settle_operation(operation=operation, actor=owner, holder="w", fence=lease.fence, end="uncertain")
    operation.refresh_from_db()
    for _ in range(2):
        approve_operation(operation=operation, actor=team_mate, digest=ledger.digest_of(operation))
    operation = dispatch_operation(operation=operation, actor=owner, holder="w", fence=lease.fence)
    settle_operation(operation=operation, actor=owner, holder="w", fence=lease.fence, end="uncertain")
    with pytest.raises(Refused) as refused:
        dispatch_operation(operation=operation, actor=owner, holder="w", fence=lease.fence)
    assert refused.value.code == "no-approval"


def test_who_is_gone_proposes_nothing(owner: User, team_mate: User, viewer: User) -> None:
    gone = User.objects.create_user("gone")
    gone.groups.set(Group.objects.filter(name="operator"))
    run = register_run(actor=owner, client="app", name="r")
    operation = propose_operation(run=run, actor=gone, tool="pay", arguments={"a": 1})
    gone.delete()
    lease = take_over(run=run, actor=owner, holder="w")
    with pytest.raises(Refused) as refused:
        sent(operation, owner, team_mate, lease)
    assert refused.value.code == "no-approval"


def test_who_lost_the_role_keeps_no_lease(owner: User) -> None:
    person = User.objects.create_user("demoted")
    person.groups.set(Group.objects.filter(name="operator"))
    run = register_run(actor=owner, client="app", name="r")
    lease = take_over(run=run, actor=person, holder="w")
    person.groups.set(Group.objects.filter(name="viewer"))
    with pytest.raises(PermissionDenied):
        renew_lease(run=run, actor=User.objects.get(pk=person.pk), holder="w", fence=lease.fence)


def test_nothing_replaces_itself(owner: User) -> None:
    operation = killed_session().ledger.get()
    seen = add_evidence(operation=operation, actor=owner, says="looked")
    with pytest.raises(Refused) as refused:
        claim_outcome(
            operation=operation, actor=owner, outcome="superseded", statement="s", evidence=[seen], related=operation, effect_exists=False
        )
    assert refused.value.code == "no-relation"


def test_what_the_transcript_has_done_is_not_proposed_again_as_something_new(owner: User, team_mate: User) -> None:
    session = killed_session()
    operation = session.ledger.get()
    seen = add_evidence(operation=operation, actor=owner, says="The log shows it.")
    claim = claim_outcome(operation=operation, actor=owner, outcome="applied", statement="I read the log.", evidence=[seen])
    decide_claim(claim=claim, actor=team_mate, digest=claim.digest, approve=True)
    for more in ({"call_id": operation.call_id}, {"call_id": operation.call_id, "intent": "other"}, {}):
        with pytest.raises(Refused) as refused:
            propose_operation(run=operation.run, actor=owner, tool=operation.tool, arguments=operation.arguments, **more)
        assert refused.value.code == "same-intent"


def test_a_second_attempt_speaks_for_its_call(owner: User, team_mate: User) -> None:
    session = killed_session()
    recorded = session.ledger.get()
    run, lease = recorded.run, None
    Operation.objects.all().delete()
    session = Session.objects.get(pk=session.pk)
    lease = take_over(run=run, actor=owner, holder="w")
    first = propose_operation(run=run, actor=owner, tool=recorded.tool, arguments=recorded.arguments, call_id=recorded.call_id)
    first = sent(first, owner, team_mate, lease)
    settle_operation(operation=first, actor=owner, holder="w", fence=lease.fence, end="failed", response={"status": 400})
    first.refresh_from_db()
    again = propose_operation(
        run=run, actor=owner, tool=recorded.tool, arguments=recorded.arguments, call_id=recorded.call_id, retry_of=first
    )
    again = sent(again, owner, team_mate, lease)
    settle_operation(operation=again, actor=owner, holder="w", fence=lease.fence, end="confirmed", response={"status": 200})
    assert [each.outcome for each in ledger._settled(session).values()] == ["happened"]


def test_a_late_word_that_it_happened_stops_the_second_attempt(owner: User, team_mate: User) -> None:
    run = register_run(actor=owner, client="app", name="r")
    lease = take_over(run=run, actor=owner, holder="w")
    first = sent(propose_operation(run=run, actor=owner, tool="pay", arguments={"a": 1}), owner, team_mate, lease)
    settle_operation(operation=first, actor=owner, holder="w", fence=lease.fence, end="uncertain")
    first.refresh_from_db()
    not_applied(first, owner, team_mate)
    again = propose_operation(run=run, actor=owner, tool="pay", arguments={"a": 1}, retry_of=first)
    with pytest.raises(Refused):
        settle_operation(operation=first, actor=owner, holder="w", fence=lease.fence, end="confirmed", response={"id": "r1"})
    with pytest.raises(Refused) as refused:
        sent(again, owner, team_mate, lease)
    assert refused.value.code == "no-retry"


def test_long_values_of_the_api(owner: User) -> None:
    program, operation = Program(owner), killed_session().ledger.get()
    address = "https://example.org/" + "a" * 2020
    status, answer = program.send("POST", f"/api/operations/{operation.pk}/evidence/", {"url": address})
    assert (status, answer["error"]["code"]) == (400, "invalid")
    run = program.send("POST", "/api/runs/", {"client": "app", "name": "r"})[1]["run"]["id"]
    holder = "h" * 300
    status, answer = program.send("POST", f"/api/runs/{run}/lease/", {"holder": holder})
    assert status == 201
    status, answer = program.send("PATCH", f"/api/runs/{run}/lease/", {"holder": holder, "fence": answer["lease"]["fence"]})
    assert status == 200


@pytest.mark.parametrize("value", ["1e999", "NaN", "-Infinity", '"\\u0000\\ud800"', "[" * 300 + "]" * 300, "9" * 400])
def test_arguments_that_no_database_takes(value: str, owner: User) -> None:
    call = row("assistant", 1, 0, [{"type": "tool_use", "id": "toolu_1", "name": "mcp__pay__send", "input": {"x": "MARK"}}])
    data = row("user", 0, None, "go") + call.replace(b'"MARK"', value.encode())
    session = bring_bytes(data).session
    assert [each.tool for each in session.ledger.all()] == ["mcp__pay__send"]
    assert "operations" in [line.name for line in readiness.lines(session) if not line.passed]


NAMED = "hunter2pw9X"
SECRET = "sk-ant-api03-" + "Ab1" * 31


def test_a_secret_of_a_call_is_masked_for_who_may_not_see_it(owner: User, viewer: User, client_of: Any) -> None:
    call = [{"type": "tool_use", "id": "toolu_1", "name": "mcp__pay__send", "input": {"note": "x", "key": SECRET, "password": NAMED}}]
    session = bring_bytes(row("user", 0, None, "go") + row("assistant", 1, 0, call)).session
    operation = session.ledger.get()
    for path in (f"/operations/{operation.pk}/", "/operations/", "/audit/", f"/sessions/{session.pk}/", f"/sessions/{session.pk}/gate/"):
        page = client_of(viewer).get(path).content.decode()
        assert not [word for word in (SECRET, NAMED) if word in page], path
    status, answer = Program(viewer).send("GET", f"/api/operations/{operation.pk}/")
    assert status == 200 and not [word for word in (SECRET, NAMED) if word in json.dumps(answer)]
    status, answer = Program(owner).send("GET", f"/api/operations/{operation.pk}/")
    assert answer["operation"]["arguments"]["key"] == SECRET
    assert not any(SECRET in entry.body for entry in audit.entries())


def test_two_sessions_without_call_ids_do_not_share_an_operation(owner: User) -> None:
    call = [{"type": "tool_use", "name": "mcp__pay__send", "input": {"a": 1}}]
    one = bring_bytes(row("user", 0, None, "go") + row("assistant", 1, 0, call)).session
    two = bring_bytes(row("user", 10, None, "go", OTHER) + row("assistant", 11, 10, call, OTHER), name=f"{OTHER}.jsonl").session
    assert not set(one.ledger.values_list("pk")) & set(two.ledger.values_list("pk"))


def test_bytes_that_cannot_be_read_leave_no_lease_behind(owner: User, data_dir: Path) -> None:
    session = bring_bytes(transcript()).session
    derivation.forget()
    artifacts.forget()
    for path in (data_dir / "artifacts").rglob("*.zst"):
        path.unlink()
    with pytest.raises((OSError, CoreError)):
        claim_session(session=session, actor=owner, asked=readiness.Asked(holder="w"))
    assert not Lease.objects.filter(run__session=session, expires_at__gt=timezone.now()).exists()


def test_a_page_asks_no_more_of_the_database_for_more_unknown_calls(owner: User, client_of: Any, django_assert_max_num_queries: Any) -> None:
    calls = [
        row("assistant", n, n - 1, [{"type": "tool_use", "id": f"toolu_{n}", "name": "mcp__pay__send", "input": {"x": n}}]) for n in range(1, 151)
    ]
    session = bring_bytes(row("user", 0, None, "go") + b"".join(calls)).session
    assert session.ledger.count() == 150
    with django_assert_max_num_queries(100):
        assert client_of(owner).get(f"/sessions/{session.pk}/").status_code == 200
    with django_assert_max_num_queries(100):
        assert client_of(owner).get(f"/sessions/{session.pk}/gate/").status_code == 200


@pytest.mark.parametrize("how", ["folder", "gone", "link"])
def test_a_place_that_is_no_longer_the_file_is_a_change(how: str, tmp_path: Path) -> None:
    file = tmp_path / "home" / f"{NEW}.jsonl"
    file.parent.mkdir()
    file.write_bytes(transcript(NEW))
    session = bring(file)[0].session
    assert session.place and {line.name: line.passed for line in readiness.lines(session)}["source"]
    file.unlink()
    if how == "folder":
        file.mkdir()
    elif how == "link":
        (tmp_path / "other.jsonl").write_bytes(transcript(OTHER))
        file.symlink_to(tmp_path / "other.jsonl")
    assert not {line.name: line.passed for line in readiness.lines(session)}["source"]


@pytest.mark.parametrize("field", ["body", "actor", "action", "session", "prev", "hash", "at"])
def test_an_entry_changed_around_the_triggers_is_named(field: str, owner: User) -> None:
    session = bring_bytes(transcript()).session
    report_operation(session=session, actor=owner, tool="refund", what="it may have run")
    seq = AuditEntry.objects.order_by("seq")[0].seq
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE inspector_auditentry DISABLE TRIGGER USER")
        else:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type='trigger' AND tbl_name='inspector_auditentry'")
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {name}")
        was = getattr(AuditEntry.objects.get(seq=seq), field)
        value = {"session": 99_999, "at": timezone.now(), "action": "nothing"}.get(field, "f" * 64)
        AuditEntry.objects.filter(seq=seq).update(**{field: value})
        bad = audit.verify_chain().bad
        AuditEntry.objects.filter(seq=seq).update(**{field: was})
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE inspector_auditentry ENABLE TRIGGER USER")
        else:
            for _, sql in triggers:
                cursor.execute(sql)
    assert bad == seq
