"""May this resume? on the page: what stands in the way with its link, the ticket of whoever took over, and what the others see of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from inspector.models import AuditEntry, Checkpoint, Lease, Operation, Session
from inspector.services.add_evidence import add_evidence
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import run_of
from inspector.services.report_operation import report_operation
from inspector.services.save_checkpoint import save_checkpoint

from .sessions import bring_bytes, transcript

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def session(owner: User) -> Session:
    return bring_bytes(transcript(), actor=owner).session


def taken(client: Client, session: Session, **more: str) -> str:
    """Address of the ticket."""
    answer = client.post(f"/sessions/{session.pk}/gate/", {"attested": "1"} | more)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def text(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def test_each_failing_condition_leads_to_where_it_is_put_right(session: Session, owner: User, client_of: As) -> None:
    held = report_operation(session=session, actor=owner, tool="mail", what="A mail arrived.")
    refused = client_of(owner).post(f"/sessions/{session.pk}/gate/", {})
    said = refused.content.decode()
    assert refused.status_code == 409 and f'href="/operations/{held.pk}/"' in said and "You do not hold the session." in said
    assert "It was uploaded" in said and not Lease.objects.filter(run__session=session, fence__gt=1).exists()
    assert AuditEntry.objects.filter(action="resume-refused").exists()
    assert f'href="/operations/{held.pk}/"' in text(client_of(owner), f"/sessions/{session.pk}/panels/resume/")


def test_who_took_over_has_a_ticket_and_the_others_see_who_holds_it(session: Session, owner: User, team_mate: User, client_of: As) -> None:
    address = taken(client_of(owner), session, permission_mode="plan")
    own = text(client_of(owner), address)
    assert "You hold the session" in own and "--permission-mode plan" in own and "Give it back" in own and "fence" not in own.lower()
    assert "owner says that the file has not changed" in own
    for page in ("/", f"/sessions/{session.pk}/"):
        assert "hold it" in text(client_of(owner), page) and "owner in a browser" in text(client_of(team_mate), page)
        assert "holds it" in text(client_of(team_mate), page)
    other = text(client_of(team_mate), address)
    assert "holds it</strong> until" in other and "Give it back" not in other
    busy = client_of(team_mate).post(f"/sessions/{session.pk}/gate/", {"attested": "1"})
    assert busy.status_code == 409 and "owner in a browser holds it until" in busy.content.decode()
    assert client_of(team_mate).post(address, {"do": "release"}).status_code == 409


def test_a_ticket_that_was_overtaken_renews_nothing(session: Session, owner: User, team_mate: User, client_of: As) -> None:
    first = taken(client_of(owner), session)
    assert client_of(owner).post(first, {"do": "renew"}).status_code == 302
    assert client_of(owner).post(first, {"do": "release"}).status_code == 302
    assert "This ticket has run out" in text(client_of(owner), first)
    taken(client_of(team_mate), session)
    late = client_of(owner).post(first, {"do": "renew"})
    assert late.status_code == 409 and "Someone else took over. Your change was not saved." in late.content.decode()
    assert Lease.objects.get().user == team_mate


def test_a_viewer_takes_nothing_over_and_a_stranger_sees_nothing(
    session: Session, owner: User, viewer: User, stranger: User, client_of: As
) -> None:  # fmt: skip
    address = taken(client_of(owner), session)
    assert "Take over and resume" not in text(client_of(viewer), f"/sessions/{session.pk}/gate/")
    assert client_of(viewer).post(f"/sessions/{session.pk}/gate/", {"attested": "1"}).status_code == 403
    for page in (address, f"/sessions/{session.pk}/gate/", f"/sessions/{session.pk}/report/"):
        assert client_of(stranger).get(page).status_code == 403 and client_of(stranger).post(page, {"do": "release"}).status_code == 403
    assert Lease.objects.get().fence == 1


def test_a_ticket_lists_what_is_done_and_what_is_forbidden(session: Session, owner: User, team_mate: User, client_of: As) -> None:
    held = report_operation(session=session, actor=owner, tool="mail", what="A mail arrived.")
    seen = add_evidence(operation=held, actor=owner, says="The mail gateway's log.")
    claim = claim_outcome(operation=held, actor=owner, outcome="applied", statement="It was sent.", evidence=[seen])
    decide_claim(claim=claim, actor=team_mate, digest=claim.digest, approve=True)
    propose_operation(run=run_of(session), actor=owner, tool="refund", arguments={"order": "A-17"})
    said = text(client_of(owner), taken(client_of(owner), session))
    done, allowed, forbidden = said.index("Done: not to be done again"), said.index("Allowed: approved"), said.index("Forbidden without")
    assert done < said.index("A mail arrived.") < allowed < forbidden < said.index("A-17")


def test_history_shows_boundaries_and_moves_in_the_order_of_time(session: Session, owner: User, client_of: As) -> None:
    taken(client_of(owner), session)
    held = report_operation(session=session, actor=owner, tool="mail", what="A mail arrived.")
    save_checkpoint(
        run=run_of(session), actor=owner, holder="owner in a browser", fence=1, kind=Checkpoint.Kind.READ, name="<b>orders</b> read"
    )  # fmt: skip
    said = text(client_of(owner), f"/sessions/{session.pk}/panels/history/")
    expected = ("&lt;b&gt;orders&lt;/b&gt; read", "Operation reported", f"op {held.pk}", "Resume allowed", "Lease taken", "Session imported")
    assert [said.index(words) for words in expected] == sorted(said.index(words) for words in expected)
    assert "Read completed" in said and "Checkpoint saved" not in said


def test_a_report_says_what_is_missing_and_keeps_what_was_typed(session: Session, owner: User, client_of: As) -> None:
    empty = client_of(owner).post(f"/sessions/{session.pk}/report/", {"what": " ", "tool": "mail"})
    assert empty.status_code == 400 and "Say what may have happened" in empty.content.decode() and 'value="mail"' in empty.content.decode()
    made = client_of(owner).post(f"/sessions/{session.pk}/report/", {"what": "A mail arrived.", "tool": "mail"})
    held = Operation.objects.get()
    assert made["Location"] == f"/operations/{held.pk}/" and "Nobody knows" in text(client_of(owner), f"/sessions/{session.pk}/")
