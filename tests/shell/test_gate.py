"""The gate over HTTP and as a command: every line that fails, then a ticket with the exact bytes; its lease is the only one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from inspector.models import AuditEntry, Evidence, Lease, Operation, Probe, Session
from inspector.services.import_sessions import Outcome

from .api import Program, key_target, killed_session
from .sessions import OTHER, SID, bring, bring_bytes, transcript, write_home

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(owner: User) -> Program:
    return Program(owner)


@pytest.fixture
def clean() -> Session:
    """A session that may resume once somebody says that no client has it open."""
    found: Outcome = bring_bytes(transcript())
    return found.session


def failing(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["name"]: line for line in answer["error"]["lines"]}


# --- Over HTTP ---


def test_it_names_each_failing_line_with_its_page(worker: Program) -> None:
    session = killed_session()
    status, answer = worker.post(f"/api/sessions/{session.pk}/claim/", holder="w")
    lines = failing(answer)
    assert (status, answer["error"]["code"]) == (409, "not-ready")
    assert set(lines) == {"operations", "transcript", "source", "live"} and all(line["link"] and line["says"] for line in lines.values())
    number = session.ledger.get().pk
    assert (lines["operations"]["operation"], lines["operations"]["link"]) == (number, f"/operations/{number}/")
    assert lines["transcript"]["link"] == f"/sessions/{session.pk}/repair/"
    assert worker.browser.get(lines["operations"]["link"]).status_code == 302  # a page, for a person who signs in
    seen = worker.get(f"/api/sessions/{session.pk}/readiness/")[1]
    assert not seen["ready"] and {line["name"] for line in seen["lines"] if not line["passed"]} == set(lines)
    assert worker.post(f"/api/sessions/{session.pk}/renew/", holder="w", fence=1)[0] == 409


def test_a_ticket_with_the_exact_bytes_and_one_holder(worker: Program, team_mate: User, clean: Session) -> None:
    path = f"/api/sessions/{clean.pk}"
    assert worker.send("POST", f"{path}/claim/", {"holder": "w", "attested": "owner"})[0] == 400
    ticket = worker.ok(f"{path}/claim/", holder="w", seconds=60, attested=True)["ticket"]
    assert (ticket["revision"], ticket["fence"], ticket["holder"], ticket["completed"], ticket["forbidden"]) == (1, 1, "w", [], [])
    assert all(line["passed"] for line in ticket["lines"]) and any("owner says" in line["says"] for line in ticket["lines"])
    assert ticket["audit_head"] == AuditEntry.objects.get(action="resume-allowed").hash
    answer = worker.browser.get(ticket["transcript"]["url"], headers={"authorization": f"Bearer {worker.token}"})
    data = answer.getvalue()
    assert data == transcript() and hashlib.sha256(data).hexdigest() == ticket["transcript"]["sha256"] == answer["X-Content-SHA256"]
    assert int(answer["Content-Length"]) == len(data) and AuditEntry.objects.filter(action="session-exported").count() == 1
    assert ticket["resume"].endswith(f"claude --resume {SID}")
    status, busy = Program(team_mate).post(f"{path}/claim/", holder="w2", attested=True)
    assert (status, busy["error"]["code"]) == (409, "busy")
    held = {"holder": "w", "fence": ticket["fence"]}
    assert worker.ok(f"{path}/renew/", **held, seconds=90)["lease"]["expires_at"] > ticket["expires_at"]
    assert worker.ok(f"{path}/release/", **held) == {"released": True}
    again = Program(team_mate, "2").ok(f"{path}/claim/", holder="w2", attested=True)["ticket"]
    assert again["fence"] == ticket["fence"] + 1 and worker.post(f"{path}/renew/", **held)[0] == 409


def test_the_hash_of_the_clients_file_is_compared(worker: Program, clean: Session) -> None:
    path, right = f"/api/sessions/{clean.pk}/claim/", hashlib.sha256(transcript()).hexdigest()
    assert set(failing(worker.post(path, holder="w", attested=True, source_sha256="0" * 64)[1])) == {"source"}
    assert set(failing(worker.post(path, holder="w", attested=True, permission_mode="bypassPermissions")[1])) == {"permissions"}
    assert worker.post(path, holder="w", attested=True, source_sha256=f" {right.upper()}\n")[0] == 200


def test_no_part_is_handed_out_that_an_export_would_not(worker: Program, tmp_path: Path) -> None:
    bring(write_home(tmp_path))
    session = Session.objects.get(native_id=OTHER, parent=None)
    entry = session.current.parts.get(name="sessions/999999.json")  # type: ignore[union-attr]
    before = AuditEntry.objects.count()
    for path in (f"revisions/1/parts/{entry.number}", "revisions/1/parts/99", "revisions/9/parts/0"):
        assert worker.get(f"/api/sessions/{session.pk}/{path}")[0] == 404
    assert AuditEntry.objects.count() == before


def test_completed_approved_and_forbidden_work_and_the_probe_that_is_missing(worker: Program, team_mate: User, clean: Session) -> None:
    mate, path = Program(team_mate), f"/api/sessions/{clean.pk}"
    run = worker.ok("/api/runs/", client="claude-code", name=SID)["run"]
    assert run["session"] == clean.pk
    lease = worker.ok(f"/api/runs/{run['id']}/lease/", holder="w")["lease"]
    held = {"holder": "w", "fence": lease["fence"]}
    target = key_target()
    target.probe = Probe.objects.create(name="look-up-refund", kind="http-get")
    target.save()

    def approved(number: int, **more: Any) -> dict[str, Any]:
        made = worker.ok(f"/api/runs/{run['id']}/operations/", tool="refund", arguments={"order": number}, **more)["operation"]
        return mate.ok(f"/api/operations/{made['id']}/approve/", digest=made["digest"])["operation"]

    done, withdrawn, waiting = approved(1), approved(2), approved(3, target="payments", idempotency_key="k3")
    worker.ok(f"/api/operations/{done['id']}/dispatch/", **held)
    assert set(failing_now(worker, path)) == {"lease", "operations", "source", "live", "targets"}
    worker.ok(f"/api/operations/{done['id']}/outcome/", **held, end="confirmed")
    worker.ok(f"/api/operations/{withdrawn['id']}/cancel/", reason="no")
    status, answer = worker.post(f"/api/operations/{waiting['id']}/dispatch/", **held)
    assert (status, answer["error"]["code"], answer["error"]["probe"]) == (409, "not-eligible", "look-up-refund")
    worker.send("DELETE", f"/api/runs/{run['id']}/lease/", held)
    status, answer = worker.post(f"{path}/claim/", holder="w", attested=True)
    assert status == 409 and failing(answer)["targets"]["probe"] == "look-up-refund"
    Evidence.objects.create(operation=Operation.objects.get(pk=waiting["id"]), kind="probe", probe=target.probe, verdict="not-applied", says="None.")
    ticket = worker.ok(f"{path}/claim/", holder="w", attested=True)["ticket"]
    assert [[each["id"] for each in ticket[name]] for name in ("completed", "allowed", "forbidden")] == [
        [done["id"]], [waiting["id"]], [withdrawn["id"]],
    ]  # fmt: skip


def failing_now(worker: Program, path: str) -> list[str]:
    return [line["name"] for line in worker.get(f"{path}/readiness/")[1]["lines"] if not line["passed"]]


# --- The command ---


def gate(*args: str, code: int = 0) -> str:
    out, err = StringIO(), StringIO()
    try:
        call_command("gate", *args, stdout=out, stderr=err)
    except SystemExit as ended:
        assert ended.code == code
        assert "--json" in args or (err.getvalue().count("\n") == 1 and err.getvalue().strip())
    else:
        assert code == 0 and not err.getvalue()
    return out.getvalue()


def test_claim_renew_release_and_the_files(clean: Session, owner: User, tmp_path: Path) -> None:
    out = tmp_path / "home"
    said = gate("claim", SID, "--as", "owner", "--holder", "w", "--attest", "--out", str(out))
    written = next(out.rglob("*.jsonl"))
    assert written.read_bytes() == transcript() and hashlib.sha256(transcript()).hexdigest() in said and "may resume until" in said
    lease = Lease.objects.get()
    assert (lease.user, lease.holder) == (owner, "w")
    fence = ["--as", "owner", "--holder", "w", "--fence", str(lease.fence)]
    assert "holds it until" in gate("renew", SID, *fence) and "given back" in gate("release", str(clean.pk), *fence)
    gate("renew", SID, *fence, code=1)
    with pytest.raises(CommandError, match="exists already.*given back") as refused:
        gate("claim", SID, "--as", "owner", "--attest", "--out", str(out))
    assert refused.value.returncode == 2 and Lease.objects.get().expires_at <= lease.expires_at
    ticket = json.loads(gate("claim", SID, "--as", "owner", "--attest", "--json"))["ticket"]
    assert ticket["transcript"]["sha256"] == hashlib.sha256(transcript()).hexdigest() and ticket["holder"].startswith("owner@")


def test_what_stands_in_the_way_is_exit_code_one(owner: User, stranger: User) -> None:
    session = killed_session()
    said = gate("claim", str(session.pk), "--as", "owner", code=1)
    assert [line.partition(":")[0] for line in said.splitlines()] == ["operations", "transcript", "source", "live"]
    pages = [f"/operations/{session.ledger.get().pk}/", f"/sessions/{session.pk}/repair/", "/", f"/sessions/{session.pk}/"]
    assert [line.rpartition("  ")[2] for line in said.splitlines()] == pages
    error = json.loads(gate("claim", str(session.pk), "--as", "owner", "--json", code=1))["error"]
    assert error["code"] == "not-ready" and len(error["lines"]) == 4
    assert json.loads(gate("claim", str(session.pk), "--as", "stranger", "--json", code=1))["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("claim", "nope", "--as", "owner"), "no session"), (("claim", SID, "--as", "nobody"), "no user"),
        (("renew", SID, "--as", "owner"), "--fence"),
        (("steal", SID), "invalid choice"), (("claim", SID), "--as USER"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_two(args: tuple[str, ...], says: str, clean: Session, owner: User, settings: Any) -> None:
    settings.TEAM_MODE = True
    with pytest.raises(CommandError, match=says) as refused:
        gate(*args)
    assert refused.value.returncode == 2


def test_in_local_mode_it_is_the_local_users_work(clean: Session, settings: Any) -> None:
    settings.TEAM_MODE = False
    gate("claim", SID, "--attest")
    assert Lease.objects.get().user.get_username() == "local"  # type: ignore[union-attr]


def test_errors_are_one_line_on_stderr(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    env = {"INSPECTOR_DATA_DIR": str(tmp_path / "d"), "PATH": "/usr/bin"}
    for command in (["migrate", "-v0"], ["gate", "claim", "nope"]):
        ended = subprocess.run([sys.executable, "manage.py", *command], cwd=root, env=env, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1) and "no session" in ended.stderr
