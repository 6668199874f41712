"""Sessions that are JSON documents, from the import to the repaired file: pages, search, masking, the gate."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from inspector.capture import folder
from inspector.core import repair
from inspector.models import Session
from inspector.queries import readiness, screen
from inspector.queries.artifacts import source_of
from inspector.queries.derivation import inspection_of
from inspector.services.export_session import export_file
from inspector.services.repair_session import repair_session
from tests.core.checkpoints import CORPUS, FACT, PLAN, checkpoint, encoded, planned
from tests.shell.sessions import bring, bring_bytes

pytestmark = pytest.mark.django_db
OPEN_CALL = (CORPUS / "06_toolcall_without_output" / "source" / "checkpoint.json").read_bytes()
AT = "2026-12-01T00:00:00.000Z"
KEY = "sk-ant-" + "a1B2" * 8


def test_a_tree_of_documents_is_imported_and_files_beside_them_are_not() -> None:
    outcomes = bring(CORPUS)
    assert {outcome.session.client for outcome in outcomes} == {"apple-workflow"} and len(outcomes) == 9
    assert sorted(outcome.session.verdict for outcome in outcomes) == sorted(
        ["needs-repair", "ready", "blocked", "ready", "needs-repair", "needs-reconciliation", "finished", "ready", "needs-reconciliation"]
    )
    assert {path.name for path in folder.session_files(CORPUS)} == {"checkpoint.json", "input.json"}


def test_every_page_and_panel_shows_what_the_rows_say(owner: User, client_of: Callable[[User], Client]) -> None:
    session = bring_bytes(OPEN_CALL, "checkpoint.json", actor=owner).session
    client = client_of(owner)
    body = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "Refund A-7781 in full (4250 cents)" in body and "create_refund" in body and "Fork" not in body.split("Resume as")[0]
    for panel in ("row", "findings", "state", "request", "operations", "resume", "branches", "history"):
        answer = client.get(f"/sessions/{session.pk}/?panel={panel}&at=0:20")
        assert answer.status_code == 200, panel
    row = client.get(f"/sessions/{session.pk}/?panel=row&at=0:20").content.decode()
    assert "toolCalls" in row and "CALL-2" in row and "Fork from here" not in row
    request = client.get(f"/sessions/{session.pk}/?panel=request&at=0:20").content.decode()
    assert "transcript.entries[11]" in request and "Copy as curl" not in request
    assert client.get(f"/sessions/{session.pk}/request.json").json()["transcript"]["entries"][0]["role"] == "instructions"
    export = client.get(f"/sessions/{session.pk}/export/").content.decode()
    assert ".claude" not in export and "put it where its program reads it" in export and "on that machine" not in export
    for page, status in (("repair", 200), ("export", 200), ("compare", 200), ("fork", 409), ("request.sh", 404)):
        assert client.get(f"/sessions/{session.pk}/{page}{'' if '.' in page else '/'}").status_code == status, page


def test_a_search_finds_text_that_is_stored_as_base64(owner: User) -> None:
    session = bring_bytes(OPEN_CALL, "checkpoint.json", actor=owner).session
    assert session.current is not None
    assert screen.search(revision=session.current, text="policy matches") == ["0:17"]
    assert screen.search(revision=session.current, text="schemaversion") == ["0:2"]
    assert screen.search(revision=session.current, text=" ") == [] == screen.search(revision=session.current, text="policy matches", part=3)


def test_a_repair_is_applied_and_exported(owner: User, tmp_path: Path) -> None:
    data = encoded(checkpoint({"plan": {}}, planned(), plan=PLAN) | {"voteGate": {"status": "passed"}})
    session = bring_bytes(data, "checkpoint.json", actor=owner).session
    assert session.current is not None
    derived = inspection_of(revision=session.current)
    plan = repair.plan(derived.inspection, derived.findings, seed="s", at=AT)
    revision = repair_session(revision=session.current, actor=owner, seed="s", at=AT, choices={}, digest=plan.digest())
    assert bytes(source_of(revision).parts[0].data[:]) == data.replace(b'"plan": {}', b'"gather": {}')
    call_command("export", str(session.pk), out=tmp_path / "out.json", verbosity=0)
    assert json.loads((tmp_path / "out.json").read_bytes())["step"] == {"gather": {}}


@pytest.mark.parametrize("form", ["base64", "bytes", "text", "object"])
def test_a_masked_export_masks_inside_the_stored_transcript(form: str, owner: User, tmp_path: Path) -> None:
    made = planned().response(f"The key is {KEY}.")
    session = bring_bytes(encoded(checkpoint("gather", made, form, plan=PLAN, gathered=[FACT])), "checkpoint.json", actor=owner).session
    assert session.current is not None
    export_file(revision=session.current, path=tmp_path / "out.json", actor=owner, mask_secrets=True)
    value = json.loads((tmp_path / "out.json").read_bytes())
    held = value["transcriptData"]
    said = base64.b64decode(held).decode() if form == "base64" else bytes(held).decode() if form == "bytes" else json.dumps(held)
    assert "[masked API key]" in said and KEY not in said and "CALL-1" in said


def test_the_bytes_of_a_row_with_an_encoded_secret_are_a_reveal(owner: User, viewer: User, client_of: Callable[[User], Client]) -> None:
    made = planned().response(f"The key is {KEY}.")
    session = bring_bytes(encoded(checkpoint("gather", made, plan=PLAN, gathered=[FACT])), "checkpoint.json", actor=owner).session
    assert session.current is not None
    ref = [row.ref for row in inspection_of(revision=session.current).inspection.session.rows if row.type == "response"][-1]
    assert client_of(owner).get(f"/sessions/{session.pk}/row/?at={ref}").status_code == 200
    assert client_of(viewer).get(f"/sessions/{session.pk}/row/?at={ref}").status_code == 403
    assert KEY not in client_of(viewer).get(f"/sessions/{session.pk}/?panel=row&at={ref}").content.decode()


def test_not_known_counts_as_responding_until_somebody_says_otherwise(owner: User) -> None:
    session = bring_bytes(encoded(checkpoint("gather", planned(), plan=PLAN, gathered=[FACT])), "checkpoint.json", actor=owner).session

    def responding(**asked: str) -> readiness.Line:
        return next(line for line in readiness.lines(Session.objects.get(pk=session.pk), readiness.Asked(**asked)) if line.name == "responding")

    assert not responding().passed and not responding(source_sha256="0" * 64).passed
    assert responding(attested="anna").passed and "anna says" in responding(attested="anna").says
    other = bring_bytes(b'{"type":"user"}\n').session
    assert all(line.name != "responding" for line in readiness.lines(other))
