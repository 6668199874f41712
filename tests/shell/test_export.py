"""An export is byte for byte what was brought in, in the client's own folders, and never replaces a file."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from inspector.capture import folder
from inspector.core.source import Part, Source
from inspector.models import AuditEntry, Revision, Session
from inspector.queries.artifacts import source_of
from inspector.services.add_revision import add_fork, add_revision
from inspector.services.export_session import export_zip
from tests.core.checkpoints import recorded
from tests.shell.sessions import DAMAGED, OTHER, SID, bring, bring_bytes, row, transcript, write_home

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_bytes_come_out_as_they_went_in(name: str, owner: User) -> None:
    exported, packed = export_zip(revision=bring_bytes(DAMAGED[name]).revision, actor=owner)
    with packed, zipfile.ZipFile(packed) as archive:
        assert archive.read(exported.files[0]) == DAMAGED[name]
    assert (exported.sha256, exported.size) == (hashlib.sha256(DAMAGED[name]).hexdigest(), len(DAMAGED[name]))


def test_every_recorded_case_comes_out_as_it_went_in(tmp_path: Path) -> None:
    corpus = Path(__file__).parent.parent / "corpus"
    outcomes = [outcome for case in sorted(corpus.iterdir()) if any(case.rglob("*.json*")) for outcome in bring(case)]
    for number, outcome in enumerate(each for each in outcomes if "store" not in each.revision.hints):
        call_command("export", str(outcome.session.pk), out=tmp_path / f"{number}.jsonl", verbosity=0)
    transcripts = {path.read_bytes() for path in [*corpus.rglob("*.jsonl"), *recorded()] if "subagents" not in path.parts}
    documents = {path.read_bytes() for path in corpus.rglob("*.json")}
    exported = {path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    assert not transcripts - exported
    assert not exported - transcripts - documents


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_the_files_lie_where_the_client_looks_for_them(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    home = write_home(tmp_path)
    bring(home)
    out = tmp_path / ("out.zip" if kind == "zip" else "out")
    call_command("export", SID, out=out)
    said = capsys.readouterr().out
    assert f"cd /home/dev/shop && claude --resume {SID}" in said
    assert hashlib.sha256((home / f"projects/-home-dev-shop/{SID}.jsonl").read_bytes()).hexdigest() in said
    if kind == "zip":
        zipfile.ZipFile(out).extractall(tmp_path / "out")
    made = {path.relative_to(tmp_path / "out").as_posix(): path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert set(made) == {
        f"projects/-home-dev-shop/{SID}.jsonl",
        f"projects/-home-dev-shop/{SID}/subagents/agent-a1.jsonl",
        f"projects/-home-dev-shop/{SID}/subagents/agent-a1.meta.json",
        f"projects/-home-dev-shop/{SID}/tool-results/t1.txt",
        f"file-history/{SID}/abc@v1",
        f"tasks/{SID}/1.json",
        "plans/calm-river.md",
    }
    assert all((home / name).read_bytes() == data for name, data in made.items())
    if kind == "folder":
        again = folder.source_of(out / f"projects/-home-dev-shop/{SID}.jsonl")
        assert list(again.names()) == list(source_of(Session.objects.get(native_id=SID).current).names())


def test_a_registry_entry_is_never_handed_out(tmp_path: Path) -> None:
    bring(write_home(tmp_path))
    session = Session.objects.get(native_id=OTHER, parent=None)
    assert session.current is not None and session.current.parts.filter(name="sessions/999999.json").exists()
    exported, packed = export_zip(revision=session.current, actor=None)
    packed.close()
    assert exported.files == (f"projects/-home-dev-shop/{OTHER}.jsonl", "projects/-home-dev-shop/agent-0ld.jsonl")


@pytest.mark.parametrize("name", ["out.jsonl", "out.zip", "out"])
def test_no_file_is_replaced(tmp_path: Path, name: str) -> None:
    session = bring_bytes(transcript()).session
    out = tmp_path / name
    call_command("export", str(session.pk), out=out)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert before
    with pytest.raises(CommandError, match="already") as caught:
        call_command("export", str(session.pk), out=out)
    assert caught.value.returncode == 2
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_export_that_fails_leaves_no_file(tmp_path: Path, data_dir: Path) -> None:
    revision = bring_bytes(transcript() + row("user", 9, 3, "x" * 3_000_000)).revision
    (stored,) = [path for path in (data_dir / "artifacts").rglob("*") if path.is_file()]
    stored.write_bytes(stored.read_bytes()[:-10])
    for name in ("out.jsonl", "out.zip", "out"):
        with pytest.raises(CommandError, match="damaged"):
            call_command("export", str(revision.session_id), out=tmp_path / name)
    assert [path for path in tmp_path.rglob("out*") if path.is_file()] == []


SECRET = "sk-" + "ant-api03-" + "Ab1_" * 10


def test_masked_exports_hold_no_secret_and_change_nothing_else(tmp_path: Path) -> None:
    data = transcript() + row("user", 4, 3, f"use {SECRET} now") + b"not json, password='hunter22'\n\0\0\n"
    session = bring_bytes(data).session
    call_command("export", str(session.pk), out=tmp_path / "plain.jsonl")
    call_command("export", str(session.pk), out=tmp_path / "masked.jsonl", mask_secrets=True)
    plain, masked = ((tmp_path / name).read_bytes().split(b"\n") for name in ("plain.jsonl", "masked.jsonl"))
    assert b"\n".join(plain) == data
    assert SECRET.encode() not in b"".join(masked) and b"hunter22" not in b"".join(masked)
    assert [number for number, (one, other) in enumerate(zip(plain, masked, strict=True)) if one != other] == [4, 5]
    assert json.loads(masked[4])["message"]["content"] == "use [masked API key] now"


def repaired(revision: Revision, **asked: Any) -> Revision:
    source = source_of(revision)
    longer = Source(
        source.name, (Part(source.parts[0].name, bytes(source.parts[0].data[0:]) + row("user", 90, 3, "more")), *source.parts[1:]), source.hints
    )
    return add_revision(base=revision, source=longer, plan={"steps": [{"why": "a\0b"}]}, lineage={"0:0": "0:0"}, **asked)


def test_repaired_and_original_revisions_are_both_kept_and_exported(tmp_path: Path, owner: User) -> None:
    first = bring_bytes(transcript()).revision
    second = repaired(first, actor=owner, note="added a row")
    session = Session.objects.get()
    assert (second.number, second.parent, second.kind, second.author, second.note) == (2, first, "repaired", owner, "added a row")
    assert session.current == second and session.rows == 5 and second.plan == {"steps": [{"why": "a\ufffdb"}]}
    call_command("export", SID, out=tmp_path / "new.jsonl")
    call_command("export", SID, revision=1, out=tmp_path / "old.jsonl")
    assert (tmp_path / "old.jsonl").read_bytes() == transcript()
    assert (tmp_path / "new.jsonl").read_bytes() == transcript() + row("user", 90, 3, "more")
    with pytest.raises(CommandError, match="no revision 7"):
        call_command("export", SID, revision=7, out=tmp_path / "none.jsonl")


def test_a_fork_is_a_session_of_its_own_that_names_its_parent(owner: User) -> None:
    first = bring_bytes(transcript()).revision
    source = Source(f"{OTHER}.jsonl", (Part(f"{OTHER}.jsonl", transcript(OTHER)),), {"slug": "-x", "live": "still running"})
    made = add_fork(base=first, source=source, plan=None, lineage={"0:0": "0:0"}, actor=owner)
    assert (made.kind, made.number, made.parent, made.hints) == ("forked", 1, first, {"slug": "-x"})
    assert (made.session.native_id, made.session.parent, made.session.relation, made.session.verdict) == (OTHER, first.session, "fork", "ready")
    assert Session.objects.get(native_id=SID).current == first
    assert [entry.action for entry in AuditEntry.objects.order_by("-seq")[:2]] == ["session-forked", "session-imported"]


def test_a_name_that_fits_no_or_several_sessions_is_said(tmp_path: Path) -> None:
    bring_bytes(transcript())
    bring_bytes(transcript(turns=3))
    for named, says in ((SID, "several"), ("nope", "no session"), ("999999999", "no session")):
        with pytest.raises(CommandError, match=says):
            call_command("export", named, out=tmp_path / "x.zip")


def test_every_export_carries_the_hash_of_its_own_audit_entry(owner: User, tmp_path: Path, client_of: Any) -> None:
    session = bring_bytes(transcript()).session
    exported, packed = export_zip(revision=session.current, actor=owner)
    entry = AuditEntry.objects.latest("seq")
    assert exported.audit == f"entry {entry.seq}, {entry.hash}"
    with packed, zipfile.ZipFile(packed) as read:
        assert read.comment.decode() == f"Audit trail: {exported.audit}" and read.testzip() is None
    assert entry.hash in client_of(owner).get(f"/sessions/{session.pk}/export/").content.decode()
    said = io.StringIO()
    call_command("export", str(session.pk), "--out", str(tmp_path / "a.jsonl"), stdout=said)
    newest = AuditEntry.objects.latest("seq")
    assert newest.seq == entry.seq + 1 and f"Audit trail: entry {newest.seq}, {newest.hash}" in said.getvalue()
