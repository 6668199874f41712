"""The queue and the page of an operation: who sees them, who may do what, and what a refusal says where it was typed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from inspector.models import AuditEntry, Claim, Evidence, Operation, Session
from inspector.queries import queue
from inspector.services.approve_operation import approve_operation
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import register_run

from .sessions import bring_bytes

pytestmark = pytest.mark.django_db
KILLED = Path(__file__).parent.parent / "corpus" / "claude-code" / "live332-b_kill_bash"
As = Callable[[User], Client]
SAID = {"outcome": "applied", "statement": "I read the deploy log.", "note": "The log of staging shows it at 12:03."}


@pytest.fixture
def operation() -> Operation:
    file = next((KILLED / "source").rglob("*.jsonl"))
    return bring_bytes(file.read_bytes(), file.name).session.ledger.get(state="uncertain")


@pytest.fixture
def proposed(owner: User) -> Operation:
    run = register_run(actor=owner, client="orders-app", name="nightly-refunds")
    return propose_operation(run=run, actor=owner, tool="create_refund", arguments={"order": "A-17", "note": "Bearer s3cr3tTok3nValue99"})


def page(client: Client, operation: Operation, query: str = "") -> str:
    answer = client.get(f"/operations/{operation.pk}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def claimed(client: Client, operation: Operation, **more: object) -> Claim:
    assert client.post(f"/operations/{operation.pk}/claim/", SAID | more).status_code == 302
    return operation.claims.get()


def decided(client: Client, claim: Claim, do: str, note: str = "", digest: str = "") -> int:
    form = {"claim": claim.pk, "digest": digest or claim.digest, "do": do, "note": note}
    return client.post(f"/operations/{claim.operation_id}/decide/", form).status_code


def test_one_claims_the_other_approves_and_both_stay_visible(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    claim = claimed(client_of(owner), operation)
    own = page(client_of(owner), operation)
    assert "Who says what happened can&#x27;t approve it" in own and 'value="approve"' not in own and "Take back" in own
    other = page(client_of(team_mate), operation)
    assert "I read the deploy log." in other and 'value="approve"' in other and "Take back" not in other
    assert decided(client_of(owner), claim, "approve") == 409
    assert decided(client_of(team_mate), claim, "approve") == 302
    operation.refresh_from_db()
    assert operation.outcome == "applied"
    after = page(client_of(owner), operation)
    assert "It happened" in after and "Confirmed by team-mate from evidence" in after and "The log of staging shows it at 12:03." in after
    assert "Approved by team-mate" in after and "It was undone…" in after and "It did not happen…" not in after


def test_a_stranger_sees_nothing_and_does_nothing(operation: Operation, stranger: User, client_of: As) -> None:
    client = client_of(stranger)
    for address in ("/operations/", f"/operations/{operation.pk}/"):
        assert client.get(address).status_code == 403
    for deed in ("claim", "decide", "take-back", "approve", "withdraw", "evidence"):
        assert client.post(f"/operations/{operation.pk}/{deed}/", SAID | {"claim": "1"}).status_code in (403, 404)
    assert not Evidence.objects.exists() and not Claim.objects.exists()


def test_what_comes_too_early_is_said_where_it_was_typed_and_the_evidence_is_kept(operation: Operation, owner: User, client_of: As) -> None:
    Operation.objects.filter(pk=operation.pk).update(send_by=timezone.now() + timedelta(hours=1))
    assert "It may still arrive" in page(client_of(owner), operation, "?say=not-applied")
    answer = client_of(owner).post(f"/operations/{operation.pk}/claim/", SAID | {"outcome": "not-applied"})
    text = answer.content.decode()
    assert answer.status_code == 409 and "It may still arrive" in text and "Look again after" in text
    assert "I read the deploy log." in text and "What you attached was kept as evidence 1." in text
    assert f'name="evidence" value="{Evidence.objects.get().pk}" checked' in text
    assert not Claim.objects.exists() and AuditEntry.objects.filter(action="refused-claim-outcome").exists()


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"statement": ""}, "Say in your own words"),
        ({"note": ""}, "Evidence is needed"),
        ({"url": "javascript:alert(1)"}, "Give a whole link"),
        ({"outcome": "superseded"}, "Say whether its old effect exists."),
        ({"outcome": "compensated"}, "Name the operation that undid it"),
        ({"outcome": "compensated", "related": "99999"}, "There is no such operation."),
    ],
)
def test_a_form_that_is_not_whole_keeps_nothing(form: dict[str, str], says: str, operation: Operation, owner: User, client_of: As) -> None:
    answer = client_of(owner).post(f"/operations/{operation.pk}/claim/", SAID | form)
    assert answer.status_code == 400 and says in answer.content.decode()
    assert not Evidence.objects.exists() and not Claim.objects.exists()


def test_a_refusal_needs_a_note_and_a_changed_claim_is_not_decided(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    claim = claimed(client_of(owner), operation)
    assert decided(client_of(team_mate), claim, "refuse") == 409
    assert decided(client_of(team_mate), claim, "approve", digest="0" * 64) == 409
    assert decided(client_of(team_mate), claim, "refuse", "The log is of another day.") == 302
    assert "The log is of another day." in page(client_of(owner), operation)
    assert client_of(owner).post(f"/operations/{operation.pk}/take-back/", {"claim": claim.pk}).status_code == 409


def test_a_file_is_kept_with_its_hash_and_only_ever_downloaded(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    data = b"<script>alert(1)</script>"
    claim = claimed(client_of(owner), operation, file=SimpleUploadedFile('shot "x".html', data, "text/html"))
    piece = claim.evidence.get()
    answer = client_of(team_mate).get(f"/operations/{operation.pk}/evidence/{piece.pk}/")
    assert b"".join(answer.streaming_content) == data  # type: ignore[arg-type]
    assert answer["Content-Type"] == "application/octet-stream" and answer["Content-Disposition"].startswith("attachment;")
    assert hashlib.sha256(data).hexdigest() in page(client_of(team_mate), operation)


def test_a_proposal_is_approved_by_another_as_shown_or_withdrawn(proposed: Operation, owner: User, team_mate: User, client_of: As) -> None:
    own = page(client_of(owner), proposed)
    assert "Nothing was sent." in own and "Who proposed it can&#x27;t approve it" in own and "s3cr3tTok3nValue99" not in own
    address = f"/operations/{proposed.pk}/approve/"
    assert client_of(owner).post(address, {"digest": proposed.digest}).status_code == 409
    stale = client_of(team_mate).post(address, {"digest": "0" * 64})
    assert stale.status_code == 409 and "The action changed since it was shown to you" in stale.content.decode()
    assert client_of(team_mate).post(address, {"digest": proposed.digest}).status_code == 302
    assert "Approval for exactly this action, until" in page(client_of(owner), proposed)
    assert client_of(owner).post(f"/operations/{proposed.pk}/withdraw/", {"note": "Not needed."}).status_code == 302
    assert "Withdrawn" in page(client_of(owner), proposed)


def test_where_one_works_alone_the_form_itself_resolves(operation: Operation, owner: User, client_of: As, settings: object) -> None:
    settings.SELF_RESOLUTION = True  # type: ignore[attr-defined]
    assert "it counts at once" in page(client_of(owner), operation, "?say=applied")
    claimed(client_of(owner), operation)
    operation.refresh_from_db()
    assert operation.outcome == "applied" and "resolved without second person" in page(client_of(owner), operation)


def test_the_queue_shows_first_what_nobody_knows_and_pages_by_key(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    run = register_run(actor=owner, client="orders-app", name="many")
    made = [propose_operation(run=run, actor=owner, tool="send", arguments={"n": number}) for number in range(5)]
    approve_operation(operation=made[0], actor=team_mate, digest=made[0].digest)
    seen, after = [], ""
    while True:
        found = queue.queue(after=after, limit=2)
        seen += [each.pk for each in found.operations]
        if not (after := found.next):
            break
    assert seen == [operation.pk, *(each.pk for each in made[:0:-1]), made[0].pk]
    assert queue.counts() == {"unknown": 1, "claims": 0, "approval": 4, "under-way": 1, "settled": 0, "all": 6}
    claimed(client_of(owner), operation)
    text = client_of(team_mate).get("/operations/?show=claims").content.decode()
    assert text.count("<tr>") == 2 and "Waiting for a second person" in text and f"/sessions/{Session.objects.get().pk}/" in text
    assert "There is nothing" not in text and client_of(team_mate).get("/operations/?after=nonsense").status_code == 200


def test_what_was_withdrawn_or_did_not_happen_is_proposed_again_as_another(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    form = {"outcome": "not-applied", "statement": "The log has no such line.", "note": "Read at 12:40."}
    assert "New attempt" not in page(client_of(owner), operation)
    assert client_of(owner).post(f"/operations/{operation.pk}/again/").status_code == 409
    decided(client_of(team_mate), claimed(client_of(owner), operation, **form), "approve")
    operation.refresh_from_db()
    assert operation.outcome == "not-applied" and "after the last possible send." in page(client_of(owner), operation)
    assert "New attempt (needs approval)" in page(client_of(owner), operation)
    assert client_of(owner).post(f"/operations/{operation.pk}/again/").status_code == 302
    attempt = Operation.objects.get(retry_of=operation)
    assert attempt.state == "proposed" and f"op {operation.pk}" in page(client_of(team_mate), attempt)
    assert client_of(owner).post(f"/operations/{operation.pk}/again/").status_code == 409
    assert client_of(owner).post(f"/operations/{attempt.pk}/withdraw/", {"note": "Later."}).status_code == 302
    assert "Ask again" in page(client_of(owner), attempt)
    assert client_of(owner).post(f"/operations/{attempt.pk}/again/").status_code == 302
    assert Operation.objects.filter(intent=operation.intent, state="proposed").count() == 1


def test_an_approval_of_something_that_changed_since_is_no_longer_valid(operation: Operation, owner: User, team_mate: User, client_of: As) -> None:
    made = propose_operation(run=operation.run, actor=owner, tool="create_refund", arguments={"order": "A-17"})
    approve_operation(operation=made, actor=team_mate, digest=made.digest)
    Operation.objects.filter(pk=made.pk).update(environment="production")
    text = page(client_of(owner), made)
    assert "Approval no longer valid" in text and "The action changed since it was approved." in text and "Ask again" in text
    assert client_of(owner).post(f"/operations/{made.pk}/again/").status_code == 302
    made.refresh_from_db()
    assert made.state == "cancelled" and Operation.objects.filter(intent=made.intent, state="proposed").count() == 1


def test_a_number_leads_to_its_operation(operation: Operation, owner: User, client_of: As) -> None:
    for words in (str(operation.pk), f"op {operation.pk}"):
        assert f'href="/operations/{operation.pk}/"' in client_of(owner).get("/goto/", {"q": words}).content.decode()
