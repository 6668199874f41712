"""Sessions of the OpenAI Agents SDK through the inbox: uploaded as a store or a document, shown, repaired and handed out."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from inspector.core import repair
from inspector.models import IndexedRow, Session
from inspector.queries.artifacts import source_of
from inspector.queries.derivation import inspection_of
from inspector.services.export_session import export_zip
from inspector.services.repair_session import repair_session
from tests.stores.openai_cases import REPORTED, Case, sent
from tests.stores.openai_cases import source_of as stored_source

pytestmark = pytest.mark.django_db
AT = "2026-12-01T00:00:00.000Z"
PANELS = ("row", "findings", "state", "request", "operations", "resume", "branches", "history")
LOST = REPORTED / "50-agents-sdk-output-write-failed"
BRANCHES = Case("advanced-sqlite", "branches_and_turns")
APPROVED = Case("runstate", "interrupted_approval_approve")


def upload(client: Client, owner: User, *paths: Path) -> list[Session]:
    client.force_login(owner)
    before = set(Session.objects.values_list("pk", flat=True))
    files = [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]
    answer = client.post(reverse("imports"), {"files": files})
    assert answer.status_code == 302
    return list(Session.objects.exclude(pk__in=before).order_by("pk"))


def drawn(client: Client, session: Session) -> None:
    for row in IndexedRow.objects.filter(revision=session.current):
        for panel in PANELS if row.idx == 2 else PANELS[:1]:
            assert client.get(reverse("session", args=[session.pk]), {"panel": panel, "at": row.ref}).status_code == 200
    for page in ("repair", "export", "compare", "report", "session-rows", *(["request-json"] if session.verdict != "blocked" else [])):
        assert client.get(reverse(page, args=[session.pk]), {"at": "0:2"}).status_code in (200, 302), page


def test_a_store_is_uploaded(client: Client, owner: User) -> None:
    found = upload(client, owner, LOST / "input.sqlite")
    assert [(each.client, each.native_id, each.title, each.verdict) for each in found] == [
        ("openai-agents", "cust-881", "Refund order 881.", "needs-reconciliation")
    ]
    drawn(client, found[0])
    page = client.get(reverse("session", args=[found[0].pk])).content.decode()
    assert "Order 881 has been refunded." in page and "2</b> messages in the next request" in page


@pytest.mark.parametrize("name", ["runstate.json", "runstate_approved.json"])
def test_a_run_state_is_uploaded(client: Client, owner: User, name: str) -> None:
    found = upload(client, owner, APPROVED.folder / name)
    assert [each.client for each in found] == ["openai-agents"]
    assert found[0].verdict == ("blocked" if name == "runstate.json" else "needs-reconciliation")
    drawn(client, found[0])


def test_branches_are_shown(client: Client, owner: User) -> None:
    found = upload(client, owner, BRANCHES.folder / "sessions.sqlite")
    drawn(client, found[0])
    assert found[0].verdict == "ready"


def test_a_store_is_uploaded_with_its_log_and_beside_other_files(client: Client, owner: User, tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite"
    session = SQLiteSession("one", path)
    items: list[Any] = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]
    asyncio.run(session.add_items(items))
    log = tmp_path / "chats.sqlite-wal"
    assert log.exists()
    found = upload(client, owner, path, log, APPROVED.folder / "runstate.json")
    session.close()
    assert sorted(each.title for each in found) == ["Hello.", "hold C and refund 50"]


def test_a_repaired_session_is_handed_out_as_a_file_that_the_sdk_opens(client: Client, owner: User, tmp_path: Path) -> None:
    session = upload(client, owner, LOST / "input.sqlite")[0]
    assert session.current is not None
    derived = inspection_of(revision=session.current)
    plan = repair.plan(derived.inspection, derived.findings, seed="s", at=AT)
    made = repair_session(revision=session.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
    exported, stream = export_zip(revision=made, actor=owner)
    assert exported.name == "cust-881.sqlite"
    with zipfile.ZipFile(io.BytesIO(stream.read())) as packed:
        packed.extractall(tmp_path)
    assert sent(stored_source(next(tmp_path.rglob("*.sqlite")))) == sent(source_of(made))
