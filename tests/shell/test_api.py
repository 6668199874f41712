"""The JSON API: who may call it, what it refuses and how it says so, and the whole life of an operation over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from inspector.models import ApiToken, AuditEntry, Evidence, Lease, Operation
from inspector.queries import audit
from inspector.services.revoke_token import revoke_token
from inspector.views.api import urls

from .api import Program, key_target

pytestmark = pytest.mark.django_db
PATHS = [
    ("POST", "/api/runs/"), ("POST", "/api/runs/1/lease/"), ("PATCH", "/api/runs/1/lease/"), ("DELETE", "/api/runs/1/lease/"),
    ("GET", "/api/runs/1/operations/"), ("POST", "/api/runs/1/operations/"), ("POST", "/api/runs/1/checkpoints/"), ("GET", "/api/operations/1/"),
    ("POST", "/api/operations/1/approve/"), ("POST", "/api/operations/1/cancel/"), ("POST", "/api/operations/1/dispatch/"),
    ("POST", "/api/operations/1/outcome/"), ("POST", "/api/operations/1/evidence/"), ("POST", "/api/operations/1/claim/"),
    ("POST", "/api/claims/1/decide/"), ("POST", "/api/claims/1/withdraw/"), ("GET", "/api/sessions/1/readiness/"),
    ("POST", "/api/sessions/1/claim/"), ("POST", "/api/sessions/1/renew/"), ("POST", "/api/sessions/1/release/"),
    ("GET", "/api/sessions/1/revisions/1/parts/0"),
]  # fmt: skip
"""Every method of every address."""


@pytest.fixture
def worker(owner: User) -> Program:
    return Program(owner)


@pytest.fixture
def mate(team_mate: User) -> Program:
    return Program(team_mate)


@pytest.fixture
def run(worker: Program) -> tuple[int, dict[str, Any]]:
    return worker.work()


def refund(worker: Program, run: int, **more: Any) -> dict[str, Any]:
    return worker.ok(f"/api/runs/{run}/operations/", tool="refund", arguments={"order": 7, "cents": 1900}, **more)["operation"]


def sent(worker: Program, mate: Program, run: tuple[int, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """An operation that was approved and dispatched."""
    operation = refund(worker, run[0], **more)
    mate.ok(f"/api/operations/{operation['id']}/approve/", digest=operation["digest"])
    return worker.ok(f"/api/operations/{operation['id']}/dispatch/", **run[1])["operation"]


def actions(since: int) -> list[str]:
    return list(AuditEntry.objects.filter(seq__gt=since).order_by("seq").values_list("action", flat=True))


def newest() -> int:
    return AuditEntry.objects.values_list("seq", flat=True).last() or 0


# --- Who may call ---


def test_the_list_of_addresses_here_is_whole() -> None:
    served = {(method, str(each.pattern)) for each in urls.urlpatterns for method in each.callback.methods}
    assert len(served) == len(PATHS)


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_only_a_current_token_comes_in_and_a_stranger_may_do_nothing(
    method: str, path: str, owner: User, stranger: User, client_of: Callable[[User], Client]
) -> None:
    before = newest()
    for answer in (client_of(owner).generic(method, path), Client().generic(method, path, headers={"authorization": "Basic b3duZXI6eA=="})):
        assert answer.status_code == 401 and answer.json()["error"]["code"] == "no-token" and answer["WWW-Authenticate"].startswith("Bearer")
    assert newest() == before
    status, answer = Program(stranger).send(method, path)
    assert status == 403 and "viewer" in answer["error"]["says"]
    assert Program(owner).send(method, path, token="inspector_unknown")[0] == 401


def test_revoked_expired_and_locked_tokens_are_refused(worker: Program, owner: User) -> None:
    worker.work()
    kept = ApiToken.objects.get()
    ApiToken.objects.update(expires_at=timezone.now())
    assert worker.post("/api/runs/", client="x", name="y")[0] == 401
    ApiToken.objects.update(expires_at=None)
    worker.work("run-2")
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert worker.post("/api/runs/", client="x", name="y")[0] == 401
    User.objects.filter(pk=owner.pk).update(is_active=True)
    revoke_token(token=kept, actor=None)
    status, answer = worker.post("/api/runs/", client="x", name="y")
    assert (status, answer["error"]["code"]) == (401, "bad-token")


def test_a_viewer_reads_and_changes_nothing(worker: Program, stranger: User, run: tuple[int, dict[str, Any]]) -> None:
    operation = refund(worker, run[0])
    stranger.groups.set(Group.objects.filter(name="viewer"))
    viewer, before = Program(stranger, "viewer"), newest() + 1
    assert viewer.get(f"/api/operations/{operation['id']}/")[1]["operation"]["digest"] == operation["digest"]
    assert [each["id"] for each in viewer.get(f"/api/runs/{run[0]}/operations/")[1]["operations"]] == [operation["id"]]
    bodies = {
        "/api/runs/": {"client": "a", "name": "b"}, f"/api/runs/{run[0]}/lease/": {"holder": "x"},
        f"/api/runs/{run[0]}/operations/": {"tool": "a", "arguments": 1},
        f"/api/runs/{run[0]}/checkpoints/": run[1] | {"kind": "approval", "name": "n"},
        f"/api/operations/{operation['id']}/approve/": {"digest": operation["digest"]},
        f"/api/operations/{operation['id']}/cancel/": {"reason": "x"}, f"/api/operations/{operation['id']}/dispatch/": run[1],
        f"/api/operations/{operation['id']}/outcome/": run[1] | {"end": "confirmed"},
        f"/api/operations/{operation['id']}/evidence/": {"says": "x"},
        f"/api/operations/{operation['id']}/claim/": {"outcome": "applied", "statement": "x", "evidence": []},
    }  # fmt: skip
    for path, body in bodies.items():
        assert viewer.post(path, **body)[0] == 403, path
    assert actions(before) == []


# --- What it refuses, and how it says so ---


@pytest.mark.parametrize(
    ("body", "says", "field"),
    [
        (b"{", "no JSON", None), (b"[]", "one JSON object", None), (b'{"client": NaN, "name": "x"}', "NaN", None),
        (b'{"client": "a", "client": "b"}', "twice", None), (b'{"client": 1e999}', "too great", None), (b"\xff\xfe\x00", "no JSON", None),
        (b'{"client": "x", "name": ' + b"[" * 200 + b"]" * 200 + b"}", "nested deeper", None),
        (b'{"client": "x", "name": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "no JSON", None),
        (b'{"client": "x"}', "missing", "name"), (b'{"client": "x", "name": 3}', "a text", "name"),
        (b'{"client": "x", "name": null}', "missing", "name"),
        (b'{"client": "x", "name": "y", "nmae": 1}', "no field", "nmae"), (b'{"client": " ", "name": "y"}', "needs a client", None),
    ],
)  # fmt: skip
def test_a_body_that_means_nothing_is_400_and_says_what_is_wrong(worker: Program, body: bytes, says: str, field: str | None) -> None:
    status, answer = worker.send("POST", "/api/runs/", body)
    assert status == 400 and says in answer["error"]["says"] and answer["error"].get("field") == field


def test_numbers_that_no_database_holds_and_text_that_it_refuses(worker: Program, run: tuple[int, dict[str, Any]]) -> None:
    for wrong in (-1, 2**63, 10**40, True, 1.5, "1"):
        status, answer = worker.send("PATCH", f"/api/runs/{run[0]}/lease/", {"holder": "x", "fence": wrong})
        assert (status, answer["error"]["field"]) == (400, "fence")
    assert worker.send("PATCH", f"/api/runs/{run[0]}/lease/", {"holder": "a\0\ud800", "fence": 2**63 - 1})[0] == 409
    huge = (f"operations/{10**30}/", f"operations/{'9' * 5000}/", f"sessions/1/revisions/{10**30}/parts/0")
    for path in [f"/api/{name}" for name in (*huge, "nothing", "runs")]:
        assert worker.get(path)[0] == 404, path
    assert worker.post(f"/api/runs/{run[0]}/operations/", tool="t", arguments={}, retry_of=2**63 - 1)[0] == 400
    assert worker.get(f"/api/runs/{run[0]}/operations/?state=x")[0] == worker.get(f"/api/runs/{run[0]}/operations/?before=x")[0] == 400
    hostile = refund(worker, run[0], environment="a\0b", intent="\ud800")
    assert worker.get(f"/api/operations/{hostile['id']}/")[1]["operation"]["environment"] == "a\ufffdb"


def test_too_long_and_wrong_methods(worker: Program) -> None:
    status, answer = worker.post("/api/runs/", client="x", name="y" * django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    assert (status, answer["error"]["code"]) == (413, "too-large")
    status, answer = worker.send("PUT", "/api/runs/")
    assert (status, answer["error"]["says"]) == (405, "Use POST here.")


def test_what_is_refused_is_409_with_its_details(worker: Program, mate: Program, run: tuple[int, dict[str, Any]]) -> None:
    status, answer = mate.post(f"/api/runs/{run[0]}/lease/", holder="other")
    assert (status, answer["error"]["code"], answer["error"]["holder"]) == (409, "busy", "worker")
    operation = refund(worker, run[0])
    status, answer = worker.post(f"/api/operations/{operation['id']}/approve/", digest=operation["digest"])
    assert (status, answer["error"]["code"]) == (409, "own-proposal")
    status, answer = mate.post(f"/api/operations/{operation['id']}/approve/", digest="0" * 64)
    assert (status, answer["error"]["digest"]) == (409, operation["digest"])
    status, answer = worker.post(f"/api/runs/{run[0]}/operations/", tool="refund", arguments={"cents": 1900, "order": 7})
    assert (status, answer["error"]["code"], answer["error"]["operation"]) == (409, "same-intent", operation["id"])
    assert worker.post(f"/api/operations/{operation['id']}/dispatch/", **run[1])[0] == 409
    assert Operation.objects.get().state == "proposed"


# --- The life of an operation ---


def test_a_whole_life_each_change_with_one_entry(worker: Program, mate: Program) -> None:
    since = newest()
    run, held = worker.work("4711")
    assert worker.ok("/api/runs/", client="crewai", name="4711")["run"]["lease"]["fence"] == held["fence"]
    operation = refund(worker, run)
    path = f"/api/operations/{operation['id']}"
    given = mate.ok(f"{path}/approve/", digest=operation["digest"])
    assert given["operation"]["state"] == "approved" and given["approval"]["approver"] == "team-mate" and not given["approval"]["alone"]
    going = worker.ok(f"{path}/dispatch/", **held)["operation"]
    assert going["state"] == "dispatched" and going["send_by"] and going["approvals"][0]["used_at"]
    assert worker.post(f"{path}/dispatch/", **held)[0] == 409
    done = worker.ok(f"{path}/outcome/", **held, end="confirmed", response={"id": "re_1"})["operation"]
    assert (done["state"], done["response"]) == ("confirmed", {"id": "re_1"})
    assert worker.ok(f"{path}/outcome/", **held, end="confirmed", response={"id": "re_1"})["operation"] == done  # its answer had got lost
    status, answer = worker.post(f"{path}/outcome/", **held, end="failed", response={"status": 422})
    assert (status, answer["error"]["code"], answer["error"]["state"]) == (409, "changed-meanwhile", "confirmed")
    saved = worker.ok(f"/api/runs/{run}/checkpoints/", **held, kind="resolved-mutation", name="refunded", operation=operation["id"])["checkpoint"]
    assert (saved["operation"], saved["by"]) == (operation["id"], "owner")
    suspended = worker.ok(f"/api/runs/{run}/checkpoints/", **held, kind="before-suspension", name="gather", details={"step": "gather"})["checkpoint"]
    assert (suspended["kind"], suspended["operation"]) == ("before-suspension", None)
    assert worker.send("PATCH", f"/api/runs/{run}/lease/", held | {"seconds": 60})[1]["lease"]["fence"] == held["fence"]
    assert worker.send("DELETE", f"/api/runs/{run}/lease/", held) == (200, {"released": True})
    assert actions(since) == [
        "run-registered", "lease-taken", "operation-proposed", "operation-approved", "operation-dispatched", "refused-dispatch-operation",
        "operation-confirmed", "refused-settle-operation", "evidence-added", "checkpoint-saved",
        "checkpoint-saved", "lease-renewed", "lease-released",
    ]  # fmt: skip
    assert audit.verify_chain().bad is None


def test_a_retry_is_a_new_operation_and_only_of_what_did_not_happen(worker: Program, mate: Program, run: tuple[int, dict[str, Any]]) -> None:
    first = sent(worker, mate, run)
    status, answer = worker.post(f"/api/runs/{run[0]}/operations/", tool="refund", arguments=first["arguments"], retry_of=first["id"])
    assert (status, answer["error"]["code"]) == (409, "no-retry")
    assert worker.post(f"/api/operations/{first['id']}/outcome/", **run[1], end="failed")[0] == 400
    worker.ok(f"/api/operations/{first['id']}/outcome/", **run[1], end="failed", response={"status": 422})
    second = refund(worker, run[0], retry_of=first["id"])
    assert (second["state"], second["retry_of"], second["intent"]) == ("proposed", first["id"], first["intent"])
    assert worker.ok(f"/api/operations/{second['id']}/cancel/", reason="not wanted")["operation"]["state"] == "cancelled"


def test_the_same_key_again_with_a_fresh_approval(worker: Program, mate: Program, run: tuple[int, dict[str, Any]]) -> None:
    key_target()
    first = sent(worker, mate, run, target="payments", idempotency_key="k-1")
    path = f"/api/operations/{first['id']}"
    assert first["key_valid_until"]
    lost = worker.ok(f"{path}/outcome/", **run[1], end="uncertain", reason="timeout")["operation"]
    assert lost["state"] == "uncertain" and worker.post(f"{path}/dispatch/", **run[1])[1]["error"]["code"] == "no-approval"
    mate.ok(f"{path}/approve/", digest=lost["digest"])
    again = worker.ok(f"{path}/dispatch/", **run[1])["operation"]
    assert (again["state"], again["key_valid_until"], len(again["approvals"])) == ("dispatched", first["key_valid_until"], 2)
    assert worker.ok(f"{path}/outcome/", **run[1], end="confirmed")["operation"]["state"] == "confirmed"


def test_who_lost_the_lease_is_refused_and_its_result_kept(worker: Program, mate: Program, run: tuple[int, dict[str, Any]]) -> None:
    operation = sent(worker, mate, run)
    Lease.objects.update(expires_at=timezone.now())
    mate.ok(f"/api/runs/{run[0]}/lease/", holder="other")
    status, answer = worker.post(f"/api/operations/{operation['id']}/outcome/", **run[1], end="confirmed", response={"id": "re_1"})
    assert (status, answer["error"]["code"]) == (409, "stale-lease")
    assert answer["error"]["says"] == "Someone else took over. Your change was not saved. Your result was kept as evidence."
    seen = worker.get(f"/api/operations/{operation['id']}/")[1]["operation"]
    assert seen["state"] == "uncertain" and [each["id"] for each in seen["evidence"]] == [answer["error"]["evidence"]]
    assert seen["evidence"][0]["details"]["response"] == {"id": "re_1"}
    assert worker.post(f"/api/runs/{run[0]}/checkpoints/", **run[1], kind="approval", name="x")[0] == 409
    assert worker.send("PATCH", f"/api/runs/{run[0]}/lease/", run[1])[0] == 409


def test_evidence_a_claim_and_its_decision(worker: Program, mate: Program, run: tuple[int, dict[str, Any]]) -> None:
    operation = sent(worker, mate, run)
    path = f"/api/operations/{operation['id']}"
    worker.ok(f"{path}/outcome/", **run[1], end="uncertain", reason="timeout")
    assert worker.post(f"{path}/evidence/")[0] == 400
    assert worker.post(f"{path}/evidence/", url="javascript:alert(1)")[0] == 400
    note = worker.ok(f"{path}/evidence/", says="The statement shows it.", url="https://bank.example/42")["evidence"]
    form = {"says": "The log.", "file": SimpleUploadedFile("../log.txt", b"refund 7 done")}
    answer = worker.browser.post(f"{path}/evidence/", form, headers={"authorization": f"Bearer {worker.token}"})
    file = answer.json()["evidence"]
    assert answer.status_code == 201 and (file["kind"], file["file_name"]) == ("file", "log.txt")
    assert Evidence.objects.get(pk=file["id"]).file.read() == b"refund 7 done"
    status, answer = worker.post(f"{path}/claim/", outcome="applied", statement="Seen.", evidence=[note["id"], 999])
    assert (status, answer["error"]["field"]) == (400, "evidence")
    claim = worker.ok(f"{path}/claim/", outcome="applied", statement="Seen.", evidence=[note["id"], file["id"]])["claim"]
    assert worker.post(f"/api/claims/{claim['id']}/decide/", digest=claim["digest"], approve=True)[1]["error"]["code"] == "own-claim"
    assert mate.post(f"/api/claims/{claim['id']}/decide/", digest="0" * 64, approve=True)[1]["error"]["code"] == "changed"
    assert mate.ok(f"/api/claims/{claim['id']}/decide/", digest=claim["digest"], approve=False, note="Wrong order.")["claim"]["state"] == "refused"
    claim = worker.ok(f"{path}/claim/", outcome="applied", statement="Order 7.", evidence=[note["id"]])["claim"]
    assert worker.ok(f"/api/claims/{claim['id']}/withdraw/", note="typo")["claim"]["state"] == "withdrawn"
    claim = worker.ok(f"{path}/claim/", outcome="applied", statement="Order 7, 19.00.", evidence=[note["id"]])["claim"]
    since = newest()
    assert mate.ok(f"/api/claims/{claim['id']}/decide/", digest=claim["digest"], approve=True)["claim"]["decided_by"] == "team-mate"
    assert actions(since) == ["operation-resolved"]
    seen = worker.get(f"{path}/")[1]["operation"]
    assert (seen["state"], seen["outcome"], len(seen["claims"])) == ("resolved", "applied", 3)


def test_the_list_goes_on_page_by_page(worker: Program, run: tuple[int, dict[str, Any]]) -> None:
    made = [worker.ok(f"/api/runs/{run[0]}/operations/", tool="t", arguments=number)["operation"]["id"] for number in range(101)]
    status, first = worker.get(f"/api/runs/{run[0]}/operations/?state=proposed")
    second = worker.get(first["next"])[1]
    assert [each["id"] for each in first["operations"] + second["operations"]] == made[::-1] and second["next"] is None


def test_answers_are_not_cached_and_hold_no_token(worker: Program, run: tuple[int, dict[str, Any]]) -> None:
    answer = worker.browser.get(f"/api/runs/{run[0]}/operations/", headers={"authorization": f"bearer {worker.token}"})
    assert answer.status_code == 200 and "private" in answer["Cache-Control"] and answer["Content-Type"] == "application/json"
    trail = "".join(AuditEntry.objects.values_list("body", flat=True))
    assert worker.token not in trail and worker.token not in json.dumps(list(ApiToken.objects.values("name", "digest")))
