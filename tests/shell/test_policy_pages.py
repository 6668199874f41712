"""The administrators' pages: rules for effects with their versions, targets, probes, tokens, and the help pages of the kinds of target."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from inspector.core.errors import PolicyError
from inspector.core.targets import KINDS
from inspector.models import ApiToken, AuditEntry, Evidence, Operation, PolicyVersion, Probe, Session, Target
from inspector.probes import KINDS as PROBES
from inspector.probes import Template, validate
from inspector.queries import audit, derivation, ledger, readiness, tokens
from inspector.queries.policies import differs
from inspector.services import save_policy as service
from inspector.services.approve_operation import approve_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.moves import Refused
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import register_run
from inspector.services.run_probe import run_probe
from inspector.services.save_policy import save_policy
from inspector.services.save_probe import save_probe
from inspector.services.save_target import save_target
from inspector.services.take_over import take_over
from inspector.views.probes import EXAMPLES

from .sessions import SID, bring_bytes, row, transcript

pytestmark = pytest.mark.django_db
WRITE = Path(__file__).parent.parent / "corpus" / "claude-code" / "live332-e9_perm_pending_kill"
ROLLOUT = {"client": "claude-code", "tool": "Bash", "pointer": "/command", "glob": "*rollout*", "effect": "read-only", "why": "a dry run"}
READ = {"tool": "Read", "effect": "mutating", "why": "it marks the file as seen"}


def call(tool: str, arguments: dict[str, Any], name: str = f"{SID}.jsonl") -> Session:
    """A session that ends with a call without a result."""
    asked = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": arguments}
    return bring_bytes(transcript() + row("user", 4, 3, "go on") + row("assistant", 5, 4, [asked]), name).session


def save(actor: User, *rules: dict[str, str], servers: Any = None, note: str = "because", base: int | None = None) -> PolicyVersion:
    base = ledger.policy_number() if base is None else base
    return save_policy(actor=actor, rules=list(rules), servers=servers or {}, note=note, base=base)[0]


def entry(action: str) -> dict[str, Any]:
    details: dict[str, Any] = json.loads(AuditEntry.objects.filter(action=action).latest("seq").body)["details"]
    return details


@pytest.fixture(autouse=True)
def nothing_held() -> None:
    """Derivations are held by the number of the policy, which begins at 1 in every test."""
    derivation.forget()


# --- saving a policy ---


def test_a_saved_policy_is_in_force_and_on_record(owner: User) -> None:
    version = save(owner, ROLLOUT, servers={"billing": {"look": {"readOnlyHint": True}}}, note="the dry run is harmless")
    assert (version.number, ledger.policy().version, ledger.policy().rules[0].why) == (1, 1, "a dry run")
    said = entry("policy-saved")
    assert (said["policy"], said["note"], said["rules"], said["servers"]) == (1, "the dry run is harmless", 1, ["billing"])
    assert audit.verify_chain().bad is None


@pytest.mark.parametrize(
    ("rules", "note", "base", "raised", "says"),
    [
        ([ROLLOUT], "  ", 0, Exception, "Say why"),
        ([], "nothing new", 0, Exception, "Nothing was changed"),
        ([ROLLOUT | {"effect": "harmless"}], "x", 0, PolicyError, "/rules/0/effect"),
        ([ROLLOUT, ROLLOUT | {"target": "bank"}], "x", 0, PolicyError, "/rules/1/target: no active target"),
        ([ROLLOUT], "x", 7, Refused, "was saved since"),
    ],
)
def test_what_is_not_whole_is_not_saved(rules: Any, note: str, base: int, raised: type[Exception], says: str, owner: User) -> None:
    with pytest.raises(raised, match=says):
        save(owner, *rules, note=note, base=base)
    assert not PolicyVersion.objects.exists()


def test_only_administrators_change_policy_targets_and_probes(viewer: User, tmp_path: Path) -> None:
    with pytest.raises(PermissionDenied, match="administrator"):
        save(viewer, ROLLOUT)
    with pytest.raises(PermissionDenied, match="administrator"):
        save_target(actor=viewer, target=Target(name="bank", kind="lookup"))
    with pytest.raises(PermissionDenied, match="administrator"):
        save_probe(actor=viewer, probe=Probe(name="file", kind="file-hash", config={"root": str(tmp_path)}, parameters={"path": ".+"}))


# --- judging again ---


def test_a_rule_that_says_read_only_settles_nothing_and_gives_two_people_evidence(owner: User, team_mate: User) -> None:
    session = call("Bash", {"command": "./rollout.sh staging"})
    operation = session.ledger.get()
    assert (operation.state, operation.effect, session.verdict) == ("uncertain", "unknown", "needs-reconciliation")
    old = operation.digest
    save(owner, ROLLOUT)
    operation.refresh_from_db()
    session.refresh_from_db()
    assert (operation.state, operation.effect, session.verdict) == ("uncertain", "read-only", "needs-reconciliation")
    assert "rule 1 of policy version 1" in operation.why_effect and operation.policy.endswith("policy 1") and operation.digest != old
    evidence = operation.evidence.get()
    assert evidence.kind == Evidence.Kind.LINK and evidence.url == "/policy/versions/1/" and "only reads" in evidence.says
    assert entry("policy-applied")["read_only"] == [operation.key]
    judged = next(json.loads(each.body) for each in audit.of_operation(operation) if each.action == "operation-judged")
    assert judged["details"]["effect"] == ["unknown", "read-only"]
    claim = claim_outcome(
        operation=operation, actor=owner, outcome="superseded", statement="It only reads.", evidence=[evidence], effect_exists=False
    )
    decide_claim(claim=claim, actor=team_mate, digest=claim.digest, approve=True)
    session.refresh_from_db()
    assert session.verdict != "needs-reconciliation"


def test_the_evidence_of_a_policy_is_kept_once(owner: User) -> None:
    operation = call("Bash", {"command": "./rollout.sh staging"}).ledger.get()
    save(owner, ROLLOUT)
    save(owner, ROLLOUT, READ)
    assert operation.evidence.count() == 1


def test_a_stricter_rule_brings_a_call_into_the_queue(owner: User) -> None:
    session = call("Read", {"file_path": "/home/dev/shop/a.py"})
    assert session.verdict != "needs-reconciliation" and not session.ledger.exists()
    applied = save_policy(actor=owner, rules=[READ], servers={}, note="reads count here", base=0)[1]
    assert (applied.found, applied.sessions) == (1, 1)
    operation = session.ledger.get()
    session.refresh_from_db()
    assert (operation.state, operation.effect) == ("uncertain", "mutating") and session.verdict == "needs-reconciliation"


def test_a_rule_can_name_the_target_of_a_recorded_call(owner: User) -> None:
    operation = call("Bash", {"command": "./rollout.sh staging"}).ledger.get()
    target = save_target(actor=owner, target=Target(name="staging", kind="lookup", quiet_seconds=60))
    save(owner, ROLLOUT | {"effect": "mutating", "target": "staging"})
    operation.refresh_from_db()
    assert (operation.target, operation.target_kind, operation.state) == (target, "lookup", "uncertain")


def test_only_what_a_change_speaks_of_is_judged_again(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    finished = bring_bytes(transcript(turns=3), "22222222-2222-4333-8444-555555555555.jsonl").session
    read = call("Read", {"file_path": "/home/dev/shop/a.py"}).pk
    applied = save_policy(actor=owner, rules=[READ | {"effect": "read-only"}], servers={}, note="as it is", base=0)[1]
    assert applied.sessions == 1 and finished.pk != read and applied.found == 0
    applied = save_policy(actor=owner, rules=[READ | {"effect": "read-only"}, READ | {"tool": "NoSuchTool"}], servers={}, note="x", base=1)[1]
    assert applied.sessions == 0


def test_what_there_was_no_time_for_does_not_pass_the_gate_and_is_judged_by_the_command(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SECONDS", -1)
    session = call("Read", {"file_path": "/home/dev/shop/a.py"})
    applied = service.save_policy(actor=owner, rules=[READ], servers={}, note="reads count here", base=0)[1]
    assert (applied.left, applied.sessions) == (1, 0) and not session.ledger.exists()
    assert [line.says for line in readiness.lines(session) if line.name == "operations" and "Read may have happened" in line.says]
    said = io.StringIO()
    call_command("judge_again", stdout=said)
    assert "policy 1: 1 session judged again, 1 newly uncertain" in said.getvalue() and session.ledger.get().state == "uncertain"


def test_a_moved_rule_touches_what_it_speaks_of() -> None:
    from inspector.core.policy import Policy

    def policy(*rules: dict[str, str], **servers: Any) -> Policy:
        return Policy.from_json({"version": 1, "rules": list(rules), "servers": servers})

    one, other = {"tool": "Bash", "effect": "mutating", "why": "x"}, {"tool": "Ba*", "effect": "unknown", "why": "y"}
    assert differs(policy(one, other), policy(other, one))("claude-code", "Bash")
    assert not differs(policy(one, other), policy(one, other))("claude-code", "Bash")
    assert differs(policy(one), policy())("claude-code", "Bash") and not differs(policy(one), policy())("claude-code", "Read")
    trusting = differs(policy(), policy(billing={"look": {"readOnlyHint": True}}))
    assert trusting("claude-code", "mcp__billing__look") and not trusting("claude-code", "mcp__billing__pay")


def test_what_was_approved_under_another_policy_is_not_sent(owner: User, team_mate: User) -> None:
    run = register_run(actor=owner, client="refund-agent", name="night")
    proposed = propose_operation(run=run, actor=owner, tool="refund", arguments={"order": 1})
    approved = propose_operation(run=run, actor=owner, tool="refund", arguments={"order": 2})
    approve_operation(operation=approved, actor=team_mate, digest=approved.digest)
    seen = proposed.digest
    save(owner, {"tool": "refund", "effect": "destructive", "why": "money is gone"})
    proposed.refresh_from_db()
    assert proposed.effect == "destructive" and proposed.digest != seen
    with pytest.raises(Refused, match="changed since it was shown"):
        approve_operation(operation=proposed, actor=team_mate, digest=seen)
    approve_operation(operation=proposed, actor=team_mate, digest=proposed.digest)
    lease = take_over(run=run, actor=owner, holder="worker", seconds=60)
    with pytest.raises(Refused, match="policy changed"):
        dispatch_operation(operation=approved, actor=owner, holder="worker", fence=lease.fence)


# --- the editor ---


def form(*rules: dict[str, str], do: str, **more: Any) -> dict[str, Any]:
    fields = ("client", "tool", "pointer", "glob", "effect", "why", "target")
    return {f"rule-{key}": [rule.get(key, "") for rule in rules] for key in fields} | {"do": do, "base": str(ledger.policy_number())} | more


def test_the_editor_adds_moves_removes_tries_and_saves(owner: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(owner)
    assert "No rule yet" in client.get("/policy/").content.decode()
    added = client.post("/policy/", form(ROLLOUT, do="add-rule"))
    assert [rule["tool"] for rule in added.context["rules"]] == ["Bash", ""]
    moved = client.post("/policy/", form(ROLLOUT, READ, do="up-1"))
    assert [rule["tool"] for rule in moved.context["rules"]] == ["Read", "Bash"]
    assert [rule["tool"] for rule in client.post("/policy/", form(ROLLOUT, READ, do="drop-rule-0")).context["rules"]] == ["Read"]
    sent = {"try-client": "claude-code", "try-tool": "Bash", "try-arguments": '{"command": "./rollout.sh x"}'}
    tried = client.post("/policy/", form(ROLLOUT, do="try", **sent)).context["tried"]
    assert (tried["effect"], tried["rule"], tried["kind"].name) == ("read-only", 1, "none")
    assert client.post("/policy/", form(do="try", **sent)).context["tried"]["effect"] == "unknown"
    assert not PolicyVersion.objects.exists()
    assert client.post("/policy/", form(ROLLOUT, do="save", note="harmless"))["Location"] == "/policy/"
    page = client.get("/policy/").content.decode()
    assert "harmless" in page and "Version 1 is in force" in page
    assert "a dry run" in client.get("/policy/versions/1/").content.decode()


@pytest.mark.parametrize(
    ("rule", "more", "field", "says"),
    [
        (ROLLOUT | {"effect": ""}, {}, "effect", "Choose what"),
        (ROLLOUT | {"why": ""}, {}, "why", "Say why"),
        (ROLLOUT | {"pointer": "command"}, {}, "pointer", "Write it as /command"),
        (ROLLOUT | {"target": "bank"}, {}, "target", "no active target"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(
    rule: dict[str, str], more: dict[str, Any], field: str, says: str, owner: User, client_of: Callable[[User], Client]
) -> None:
    answer = client_of(owner).post("/policy/", form(READ, rule, do="save", note="x"))
    assert answer.status_code == 400 and not PolicyVersion.objects.exists()
    errors = answer.context["rules"][1]["errors"]
    assert says.lower() in errors[field].lower() and answer.context["rules"][0]["errors"] == {}
    assert rule["glob"] in answer.content.decode()


@pytest.mark.parametrize(
    "pasted",
    [
        '{"id": 1, "result": {"tools": [{"name": "look", "inputSchema": {}, "annotations": {"title": "", "readOnlyHint": true}}]}}',
        '{"tools": [{"name": "look", "annotations": {"readOnlyHint": true}}]}',
        '[{"name": "look", "annotations": {"readOnlyHint": true}}]',
        '{"look": {"readOnlyHint": true}}',
    ],
)
def test_a_servers_own_answer_can_be_pasted(pasted: str, owner: User, client_of: Callable[[User], Client]) -> None:
    sent = form(do="save", note="we run it", **{"server-name": ["billing"], "server-tools": [pasted]})
    assert client_of(owner).post("/policy/", sent).status_code == 302
    assert ledger.policy().servers["billing"]["look"].read_only


@pytest.mark.parametrize(
    ("name", "pasted", "says"),
    [("billing", "{", "no JSON"), ("billing", "[]", "No tool"), ("", '{"a": {}}', "Name the server"), ("b", '{"a": {"readOnlyHint": 1}}', "neither")],
)
def test_what_is_no_answer_of_a_server_is_said(name: str, pasted: str, says: str, owner: User, client_of: Callable[[User], Client]) -> None:
    answer = client_of(owner).post("/policy/", form(do="save", note="x", **{"server-name": [name], "server-tools": [pasted]}))
    assert answer.status_code == 400 and says in answer.context["servers"][0]["error"]


def test_an_older_version_can_be_gone_on_from(owner: User, client_of: Callable[[User], Client], viewer: User) -> None:
    save(owner, ROLLOUT)
    save(owner, READ)
    assert [rule["tool"] for rule in client_of(owner).get("/policy/?from=1").context["rules"]] == ["Bash"]
    assert client_of(owner).get("/policy/?from=9").status_code == 404
    shown = client_of(viewer).get("/policy/versions/2/").content.decode()
    assert "it marks the file as seen" in shown and "a dry run" in shown and "Go on from" not in shown
    assert client_of(viewer).get("/policy/").status_code == 403


def test_hostile_text_in_a_policy_breaks_no_page(owner: User, client_of: Callable[[User], Client]) -> None:
    bad = "</textarea><script>alert(1)</script>"
    client = client_of(owner)
    client.post("/policy/", form(ROLLOUT | {"why": bad}, do="save", note=bad))
    for address in ("/policy/", "/policy/versions/1/", "/audit/"):
        assert "<script>alert(1)" not in client.get(address).content.decode()


# --- targets and probes ---


def test_targets_are_declared_changed_and_switched_off(owner: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(owner)
    sent = {"name": "bank", "kind": "key", "contract": "24 h, see docs", "key_valid_seconds": "86400", "quiet_seconds": "300"}
    sent |= {"probe_max_age_seconds": "900", "active": "on"}
    assert client.post("/policy/targets/new/", sent)["Location"] == "/policy/targets/"
    target = Target.objects.get()
    assert client.post(f"/policy/targets/{target.pk}/", sent | {"name": "other", "active": ""}).status_code == 302
    target.refresh_from_db()
    assert (target.name, target.active) == ("bank", False) and entry("target-saved")["changed"] == ["active"]
    assert "bank" in client.get("/policy/targets/").content.decode()
    wrong = client.post("/policy/targets/new/", sent | {"name": "bank2", "key_valid_seconds": "0"})
    assert wrong.status_code == 400 and "how long it knows a key" in wrong.content.decode()
    assert client.post("/policy/targets/new/", sent).status_code == 400 and Target.objects.count() == 1


def test_probes_are_set_up_from_an_example_and_faults_are_named(owner: User, tmp_path: Path, client_of: Callable[[User], Client]) -> None:
    client = client_of(owner)
    for kind in PROBES:
        page = client.get(f"/policy/probes/new/?kind={kind}").content.decode()
        assert "Config" in page and "Example" in page
    sent = {"name": "file", "kind": "file-hash", "config": json.dumps({"root": "relative"}), "parameters": '{"path": ".+"}', "active": "on"}
    wrong = client.post("/policy/probes/new/", sent)
    assert wrong.status_code == 400 and "must be the full path of a folder" in wrong.content.decode() and not Probe.objects.exists()
    assert client.post("/policy/probes/new/", sent | {"config": "{"}).status_code == 400
    assert client.post("/policy/probes/new/", sent | {"config": json.dumps({"root": str(tmp_path)})}).status_code == 302
    probe = Probe.objects.get()
    tmp_path.joinpath("gone").mkdir()
    assert client.post(f"/policy/probes/{probe.pk}/", sent | {"active": ""}).status_code == 302
    probe.refresh_from_db()
    assert not probe.active and entry("probe-saved")["active"] is False


def test_the_examples_are_faultless_but_for_their_places(tmp_path: Path) -> None:
    """Folders of the examples are nobody's; everything else of them must be as the kind wants it."""
    assert set(EXAMPLES) == set(PROBES)
    for kind, (config, parameters) in EXAMPLES.items():
        given = {key: str(tmp_path) if key in ("root", "repository") else value for key, value in config.items()}
        assert validate(Template("example", kind, given, parameters)) == [], kind


# --- a look at a target ---


@pytest.fixture
def killed_write() -> Operation:
    """A recorded `Write` of p.txt: its client was killed before a result was saved."""
    file = next(WRITE.rglob("source/*.jsonl"))
    return bring_bytes(file.read_bytes(), file.name).session.ledger.get(tool="Write")


@pytest.fixture
def looker(owner: User, tmp_path: Path) -> Probe:
    (tmp_path / "shop").mkdir()
    probe = Probe(name="checkout", kind="file-hash", config={"root": str(tmp_path / "shop")}, parameters={"path": r"[\w./-]+"})
    return save_probe(actor=owner, probe=probe)


def test_a_click_compares_the_file_with_what_the_call_would_have_left(
    killed_write: Operation, looker: Probe, owner: User, tmp_path: Path, client_of: Callable[[User], Client]
) -> None:
    (tmp_path / "shop/p.txt").write_text("1")
    page = f"/operations/{killed_write.pk}/"
    assert "Check now" in client_of(owner).get(page).content.decode()
    answer = client_of(owner).post(f"{page}probe/", {"probe": looker.pk, "value-path": "p.txt"}, follow=True)
    assert answer.redirect_chain[0][0] == page and "exactly what the call would have left" in answer.content.decode()
    evidence = killed_write.evidence.get()
    assert (evidence.kind, evidence.verdict, evidence.probe, evidence.by) == ("probe", "applied", looker, owner)
    assert evidence.details["looked_at"] and "sha256" in evidence.details["output"] and len(evidence.sha256) == 64
    said = entry("probe-run")
    assert (said["operation"], said["verdict"], said["sha256"]) == (killed_write.key, "applied", evidence.sha256)


def test_a_fitting_digest_of_another_file_proves_nothing(killed_write: Operation, looker: Probe, owner: User, tmp_path: Path) -> None:
    (tmp_path / "shop/copy.txt").write_text("1")
    evidence = run_probe(operation=killed_write, probe=looker, values={"path": "copy.txt"}, actor=owner)
    assert evidence.verdict == "unclear" and "the call names another file" in evidence.says


def test_a_missing_file_and_a_changed_one_stay_unclear(killed_write: Operation, looker: Probe, owner: User, tmp_path: Path) -> None:
    assert run_probe(operation=killed_write, probe=looker, values={"path": "p.txt"}, actor=owner).verdict == "unclear"
    (tmp_path / "shop/p.txt").write_text("somebody else was here\n")
    assert run_probe(operation=killed_write, probe=looker, values={"path": "p.txt"}, actor=owner).verdict == "unclear"


def test_nothing_is_asked_with_values_that_the_probe_does_not_take(
    killed_write: Operation, looker: Probe, owner: User, viewer: User, client_of: Callable[[User], Client]
) -> None:
    address = f"/operations/{killed_write.pk}/probe/"
    for values in ({}, {"value-path": "a b;c"}, {"value-path": "p.txt", "value-other": "x"}):
        answer = client_of(owner).post(address, {"probe": looker.pk} | values, follow=True)
        assert "Nothing was asked" in answer.content.decode()
    assert client_of(viewer).post(address, {"probe": looker.pk, "value-path": "p.txt"}).status_code == 403
    looker.active = False
    save_probe(actor=owner, probe=looker)
    assert "switched off" in client_of(owner).post(address, {"probe": looker.pk, "value-path": "p.txt"}, follow=True).content.decode()
    assert client_of(owner).post(address, {"probe": "99999"}).status_code == 404
    assert not killed_write.evidence.exists()


# --- tokens and help ---


def test_people_make_and_revoke_their_own_tokens_and_administrators_everybodys(
    owner: User, viewer: User, client_of: Callable[[User], Client]
) -> None:
    made = client_of(viewer).post("/tokens/", {"do": "make", "name": "agent", "days": "30"})
    token = made.context["made"]
    assert token in made.content.decode() and tokens.user_of(token) == viewer
    assert token not in client_of(viewer).get("/tokens/").content.decode()
    assert client_of(viewer).post("/tokens/", {"do": "make", "name": "x", "user": owner.username}).status_code == 403
    assert client_of(viewer).post("/tokens/", {"do": "make", "name": "agent"}).status_code == 400
    assert "agent" in client_of(owner).get("/tokens/").content.decode()
    other = client_of(owner).post("/tokens/", {"do": "make", "name": "mine", "user": owner.username, "days": ""}).context["made"]
    assert "mine" not in client_of(viewer).get("/tokens/").content.decode()
    assert client_of(viewer).post("/tokens/", {"do": "revoke", "token": ApiToken.objects.get(name="mine").pk}).status_code == 403
    assert tokens.user_of(other) == owner
    client_of(owner).post("/tokens/", {"do": "revoke", "token": ApiToken.objects.get(name="agent").pk})
    assert tokens.user_of(token) is None and ApiToken.objects.get(name="agent").revoked_at <= timezone.now()


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_target_has_its_help_page(name: str, viewer: User, client_of: Callable[[User], Client]) -> None:
    page = client_of(viewer).get(f"/targets/{name}/")
    assert page.status_code == 200 and "When the window opens" in page.content.decode()
    assert f"/targets/{name}/" in client_of(viewer).get("/targets/").content.decode()


def test_an_unknown_kind_is_no_page(viewer: User, client_of: Callable[[User], Client]) -> None:
    assert client_of(viewer).get("/targets/nothing-such/").status_code == 404
