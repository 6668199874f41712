"""Roles at every address: nobody sees what the role does not allow, nobody changes what it does not allow. The list names every route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from inspector.models import Claim, Evidence, Operation, Probe, Session, Target
from inspector.services.add_evidence import add_evidence
from inspector.services.append_audit import append_audit
from inspector.services.cancel_operation import cancel_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import run_of
from inspector.services.report_operation import report_operation
from inspector.services.save_policy import save_policy
from inspector.services.save_probe import save_probe
from inspector.services.save_target import save_target
from tests.shell.sessions import bring_bytes, transcript
from tests.stores.recorded import Case

pytestmark = pytest.mark.django_db(transaction=True)
SECRET_WORD = "zebrafish"
OPEN_TO_ALL = {"launch", "login", "logout"}
"""Routes that bring people in and out."""
LOOK = 200
"""What a viewer's GET is answered with."""
ROUTES: dict[str, tuple[dict[str, Any], int]] = {
    "inbox": ({}, LOOK),
    "imports": ({}, 405),
    "session": ({"pk": 0}, LOOK),
    "session-rows": ({"pk": 0}, LOOK),
    "session-panel": ({"pk": 0, "name": "findings"}, LOOK),
    "row-bytes": ({"pk": 0}, LOOK),
    "request-json": ({"pk": 0}, LOOK),
    "request-curl": ({"pk": 0}, LOOK),
    "compare": ({"pk": 0}, LOOK),
    "repair": ({"pk": 0}, LOOK),
    "fork": ({"pk": 0}, LOOK),
    "export": ({"pk": 0}, LOOK),
    "delete": ({"pk": 0}, 403),
    "gate": ({"pk": 0}, LOOK),
    "ticket": ({"pk": 0, "number": 7}, LOOK),
    "report": ({"pk": 0}, 403),
    "stores": ({}, 403),
    "store": ({"name": "orders"}, 403),
    "operations": ({}, LOOK),
    "operation": ({"pk": 0}, LOOK),
    "evidence-file": ({"pk": 0, "evidence": 0}, LOOK),
    "operation-evidence": ({"pk": 0}, 405),
    "operation-claim": ({"pk": 0}, 405),
    "operation-decide": ({"pk": 0}, 405),
    "operation-take-back": ({"pk": 0}, 405),
    "operation-approve": ({"pk": 0}, 405),
    "operation-withdraw": ({"pk": 0}, 405),
    "operation-again": ({"pk": 0}, 405),
    "operation-probe": ({"pk": 0}, 405),
    "policy": ({}, 403),
    "policy-version": ({"number": 1}, LOOK),
    "targets": ({}, 403),
    "new-target": ({}, 403),
    "target": ({"pk": 0}, 403),
    "probes": ({}, 403),
    "new-probe": ({}, 403),
    "probe": ({"pk": 0}, 403),
    "tokens": ({}, LOOK),
    "target-kinds": ({}, LOOK),
    "target-kind": ({"name": "file"}, LOOK),
    "rules": ({}, LOOK),
    "rule": ({"code": "unresolved-call"}, LOOK),
    "errors": ({}, LOOK),
    "audit": ({}, LOOK),
    "audit-export": ({}, LOOK),
    "goto": ({}, LOOK),
}
"""Route -> its arguments (`pk` is that of the session, or of the operation that `OPERATIONS` names), and the answer to a viewer who looks."""
OPERATIONS = {
    "operation": "free", "evidence-file": "free", "operation-evidence": "free", "operation-claim": "free", "operation-decide": "claimed by another",
    "operation-take-back": "claimed", "operation-approve": "proposed", "operation-withdraw": "proposed", "operation-again": "withdrawn",
    "operation-probe": "free",
}  # fmt: skip
"""Route of an operation -> tool of the operation that it is tried with."""
ROWS: dict[str, Any] = {"target": Target, "probe": Probe}
"""Route of something that is declared -> its table, in which there is one."""
RULE = {"rule-tool": "Bash", "rule-effect": "mutating", "rule-why": "it runs"}
TARGET = {"name": "bank", "kind": "lookup", "key_valid_seconds": "0", "quiet_seconds": "1", "probe_max_age_seconds": "1", "active": "on"}
WRITES: dict[str, dict[str, Any]] = {
    "store": {"thread": "t1"},
    "imports": {"files": lambda: SimpleUploadedFile("a.jsonl", transcript())},
    "repair": {"do": "apply"},
    "fork": {"at": ""},
    "export": {"revision": "1"},
    "delete": {"reason": "because"},
    "report": {"what": "A mail arrived."},
    "operation-evidence": {"note": "seen"},
    "operation-claim": {"outcome": "applied", "statement": "It is there.", "note": "seen"},
    "operation-decide": {
        "claim": lambda: claim_of("claimed by another").pk,
        "digest": lambda: claim_of("claimed by another").digest,
        "do": "approve",
    },
    "operation-take-back": {"claim": lambda: claim_of("claimed").pk},
    "operation-approve": {"digest": lambda: Operation.objects.get(tool="proposed").digest},
    "operation-withdraw": {"note": "not needed"},
    "operation-again": {},
    "operation-probe": {"probe": lambda: Probe.objects.get().pk, "value-path": "nothing"},
    "policy": {"do": "save", "base": "1", "note": "because"} | {f"rule-{key}": "" for key in ("client", "pointer", "glob", "target")} | RULE,
    "new-target": TARGET,
    "target": TARGET | {"quiet_seconds": "7"},
    "new-probe": {"name": "other", "kind": "file-hash", "config": '{"root": "/"}', "parameters": '{"path": ".+"}', "active": "on"},
    "probe": {"config": "{}", "parameters": "{}"},
    "tokens": {"name": "agent", "user": "owner"},
}
"""Route that writes -> what is sent to it, whole enough that somebody who may would be heard."""


def routes() -> list[URLPattern]:
    return [pattern for pattern in get_resolver().url_patterns if isinstance(pattern, URLPattern) and pattern.name not in OPEN_TO_ALL]


def claim_of(tool: str) -> Claim:
    return Claim.objects.get(operation__tool=tool)


@pytest.fixture
def session(owner: User, team_mate: User, settings: Any) -> Session:
    """A damaged session with operations as `OPERATIONS` needs them, and a store to bring threads in from."""
    settings.STORES = {"orders": str(Case("langgraph-sqlite", "agent_finished").sqlite)}
    data = transcript(word=SECRET_WORD)
    session = bring_bytes(data[: data.rindex(b"{")] + data[data.rindex(b"{") :][:-30], actor=owner).session
    for tool, claimant in (("claimed by another", team_mate), ("claimed", owner), ("free", None)):
        operation = report_operation(session=session, actor=owner, tool=tool, what=SECRET_WORD)
        seen = add_evidence(operation=operation, actor=owner, says=SECRET_WORD, file=SimpleUploadedFile("seen.txt", SECRET_WORD.encode()))
        if claimant is not None:
            claim_outcome(operation=operation, actor=claimant, outcome="applied", statement=SECRET_WORD, evidence=[seen])
    with transaction.atomic():
        append_audit(actor=owner, action="resume-allowed", session=session.pk, details={"fence": 7, "holder": "a browser", "revision": 1})
    withdrawn = propose_operation(run=run_of(session), actor=team_mate, tool="withdrawn", arguments={})
    cancel_operation(operation=withdrawn, actor=team_mate, reason="a test")
    propose_operation(run=run_of(session), actor=team_mate, tool="proposed", arguments={"word": SECRET_WORD})
    save_policy(actor=owner, rules=[{"tool": "Read", "effect": "read-only", "why": "it reads"}], servers={}, note="first", base=0)
    save_target(actor=owner, target=Target(name="staging", kind="lookup"))
    save_probe(actor=owner, probe=Probe(name="file", kind="file-hash", config={"root": "/"}, parameters={"path": "[a-z]+"}))
    session.refresh_from_db()
    return session


def address(name: str, session: Session) -> str:
    arguments = dict(ROUTES[name][0])
    if "pk" in arguments:
        arguments["pk"] = ROWS[name].objects.get().pk if name in ROWS else session.pk
        if name in OPERATIONS:
            arguments["pk"] = Operation.objects.get(tool=OPERATIONS[name]).pk
    if "evidence" in arguments:
        arguments["evidence"] = Evidence.objects.get(operation=arguments["pk"]).pk
    return reverse(name, kwargs=arguments) + ("?at=0:0" if name == "row-bytes" else f"?q={SECRET_WORD}" if name in ("goto", "inbox") else "")


def rows_of_all_tables() -> dict[str, int]:
    """Rows of every table of ours, so that a write anywhere is noticed; the trail of who looked and signed in stays out."""
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if name.startswith("inspector_")]
        counts = {}
        for name in names:
            cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(name)}")
            counts[name] = cursor.fetchone()[0]
    return counts


def body(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()


def test_the_list_names_every_route() -> None:
    assert {pattern.name for pattern in routes()} == set(ROUTES), "a new route belongs into ROUTES, and into WRITES if it writes"


@pytest.mark.parametrize("name", ROUTES)
def test_each_route_answers_each_person_as_the_role_says(
    name: str, session: Session, owner: User, team_mate: User, viewer: User, stranger: User, client_of: Callable[[User], Client]
) -> None:
    for person in (owner, team_mate):
        assert client_of(person).get(address(name, session)).status_code in (200, 405)
    assert client_of(viewer).get(address(name, session)).status_code == ROUTES[name][1]
    before = rows_of_all_tables()
    for ask in (client_of(stranger).get, client_of(stranger).post, client_of(stranger).head):
        answer = ask(address(name, session))
        assert answer.status_code == 403
        said = body(answer)
        assert SECRET_WORD not in said and session.native_id not in said
    assert "role “viewer”" in body(client_of(stranger).get(address(name, session)))
    assert rows_of_all_tables() == before


def test_the_session_is_there_to_be_seen(session: Session, owner: User, client_of: Callable[[User], Client]) -> None:
    """Else the test above would prove nothing: these pages do show the word that a stranger must not see."""
    for name in ("inbox", "session", "session-rows", "row-bytes", "request-json", "goto", "operations", "operation", "evidence-file"):
        assert SECRET_WORD in body(client_of(owner).get(address(name, session))), name


@pytest.mark.parametrize("name", WRITES)
def test_a_viewer_writes_nothing(name: str, session: Session, viewer: User, owner: User, client_of: Callable[[User], Client]) -> None:
    def sent(person: User) -> Any:
        data = {key: value() if callable(value) else value for key, value in WRITES[name].items()}
        if name == "repair":
            page = client_of(owner).get(address(name, session)).context
            data |= {"digest": page["digest"], "seed": page["seed"], "time": page["time"], "newest": "1"}
        return client_of(person).post(address(name, session), data)

    before = rows_of_all_tables()
    refused = sent(viewer)
    assert refused.status_code == 403 and "Ask an administrator for the role" in body(refused)
    assert rows_of_all_tables() == before
    done = sent(owner)
    assert done.status_code in (200, 302)
    assert rows_of_all_tables() != before


def test_a_viewer_is_offered_no_button_that_would_be_refused(
    session: Session, viewer: User, owner: User, client_of: Callable[[User], Client]
) -> None:
    offers = (
        ("inbox", "Bring a session in"), ("inbox", "/policy/"), ("session", "Delete…"), ("session", "Fork…"),
        ("session", "Export…"), ("repair", 'value="apply"'), ("fork", "Make the fork"), ("export", "Download the zip"),
        ("operation", "Add evidence"), ("operation", "Check now"), ("operation", "It happened…"),
    )  # fmt: skip
    for name, words in offers:
        assert words in body(client_of(owner).get(address(name, session)))
        assert words not in body(client_of(viewer).get(address(name, session)))


def test_who_loses_the_role_sees_nothing_from_the_next_click_on(session: Session, viewer: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(viewer)
    assert client.get(address("session", session)).status_code == 200
    viewer.groups.clear()
    assert client.get(address("session", session)).status_code == 403
