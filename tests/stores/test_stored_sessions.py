"""Threads of stores as sessions: imported, imported again, shown, repaired, forked and handed out."""

from __future__ import annotations

import io
import shutil
import sqlite3
import zipfile
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from inspector.capture import store
from inspector.core import repair
from inspector.management.commands.import_sessions import candidates
from inspector.models import IndexedRow, Session
from inspector.queries.artifacts import source_of
from inspector.queries.derivation import inspection_of
from inspector.services.export_session import export_zip
from inspector.services.fork_session import fork_session
from inspector.services.import_sessions import Outcome, import_sessions
from inspector.services.repair_session import repair_session
from tests.shell.sessions import transcript
from tests.stores.recorded import Case

pytestmark = pytest.mark.django_db
PARTIAL = Case("langgraph-sqlite", "agent_parallel_partial_sync")
MANY = Case("langgraph-sqlite", "multi_thread")
NEW_ID = "0a7b4fd0-1df7-4c15-9c3e-0d2a1d3f5a11"
AT = "2026-12-01T00:00:00.000Z"
PANELS = ("row", "findings", "state", "request", "operations", "resume", "branches", "history")


def bring(path: Path, *threads: str, actor: User | None = None) -> list[Outcome]:
    with ExitStack() as stack:
        return import_sessions(candidates=candidates(path, stack, threads), actor=actor)


def test_a_store_brings_a_session_for_each_thread() -> None:
    assert [outcome.what for outcome in bring(MANY.sqlite)] == ["imported"] * 3
    found = {session.native_id: session for session in Session.objects.all()}
    assert set(found) == {"42", "alpha", "beta/ü 1"}
    assert (found["alpha"].client, found["alpha"].verdict, found["alpha"].rows) == ("langgraph", "finished", 24)
    assert found["alpha"].title == "hi from alpha"
    assert [outcome.what for outcome in bring(MANY.sqlite, "alpha")] == ["unchanged"]


def test_a_thread_that_went_on_gets_a_revision(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    shutil.copy(PARTIAL.sqlite, path)
    with closing(sqlite3.connect(path)) as connection:
        later = connection.execute("DELETE FROM writes WHERE task_path LIKE '~__pregel_push%' RETURNING *").fetchall()
        connection.commit()
        bring(path)
        connection.executemany(f"INSERT INTO writes VALUES ({', '.join('?' * len(later[0]))})", later)
        connection.commit()
    outcome = bring(path)[0]
    assert (outcome.what, outcome.revision.number, outcome.session.rows) == ("changed", 2, 10)


def test_a_folder_brings_its_stores_and_its_transcripts(tmp_path: Path) -> None:
    shutil.copy(MANY.sqlite, tmp_path / "checkpoints.db")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 100)
    assert len(bring(tmp_path)) == 3
    (tmp_path / "11111111-2222-4333-8444-555555555555.jsonl").write_bytes(transcript())
    assert sorted(outcome.what for outcome in bring(tmp_path)) == ["imported", "unchanged", "unchanged", "unchanged"]


def test_an_import_may_bring_no_more_threads_than_allowed(settings: pytest.FixtureRequest) -> None:
    settings.LIMITS = {**settings.LIMITS, "members": 2}  # type: ignore[attr-defined]
    with pytest.raises(CommandError, match="INSPECTOR_LIMIT_MEMBERS"):
        call_command("import_sessions", MANY.sqlite)
    assert not Session.objects.exists()


DRAWN = ["agent_parallel_partial_sync", "agent_hitl_middleware", "workflow_killed_in_act_sync", "type_zoo", "subgraph_interrupt"]


@pytest.mark.parametrize("name", DRAWN)
def test_every_page_of_a_thread_is_drawn(name: str, owner: User, client: Client) -> None:
    session = bring(Case("langgraph-sqlite", name).sqlite)[0].session
    client.force_login(owner)
    for row in IndexedRow.objects.filter(revision=session.current):
        for panel in PANELS if row.idx in (0, 4) else PANELS[:1]:
            shown = client.get(reverse("session", args=[session.pk]), {"panel": panel, "at": f"{row.part}:{row.idx}"})
            assert shown.status_code == 200
    for page in ("repair", "fork", "export", "compare", "report", "session-rows", "request-json"):
        assert client.get(reverse(page, args=[session.pk]), {"at": "0:4"}).status_code in (200, 302), page


def test_a_row_shows_what_its_blob_says(owner: User, client: Client) -> None:
    session = bring(PARTIAL.sqlite)[0].session
    client.force_login(owner)
    shown = client.get(reverse("session", args=[session.pk]), {"panel": "row", "at": "0:8"}).content.decode()
    assert "langchain_core.messages.tool.ToolMessage" in shown and "order B-2 -&gt; cancelled" in shown


def test_a_repaired_thread_is_handed_out_as_a_store(owner: User, tmp_path: Path) -> None:
    revision = bring(PARTIAL.sqlite)[0].revision
    derived = inspection_of(revision=revision)
    plan = repair.plan(derived.inspection, derived.findings, seed="s", at=AT)
    made = repair_session(revision=revision, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
    assert (made.number, made.session.verdict, made.counts["open_operations"]) == (2, "needs-reconciliation", 1)
    exported, packed = export_zip(revision=made, actor=owner)
    assert exported.files == ("t1.sqlite",)
    with packed, zipfile.ZipFile(io.BytesIO(packed.read())) as archive:
        (tmp_path / "t1.sqlite").write_bytes(archive.read("t1.sqlite"))
    again = store.open_store(tmp_path / "t1.sqlite")
    assert again is not None
    with closing(again):
        assert again.source("t1").parts[0].data == bytes(source_of(made).parts[0].data[0 : 1 << 20])
    masked, packed = export_zip(revision=made, actor=owner, mask_secrets=True)
    packed.close()
    assert not masked.files[0].endswith(".sqlite")


def test_a_forked_thread_is_a_session_of_its_own(owner: User) -> None:
    revision = bring(MANY.sqlite, "alpha")[0].revision
    made = fork_session(revision=revision, actor=owner, new_id=NEW_ID, at=AT, row="0:6")
    assert (made.native_id, made.client, made.parent) == (NEW_ID, "langgraph", revision.session)
    assert made.current is not None and made.current.hints["thread"] == NEW_ID
