"""An import stores bytes, indexes rows and knows the verdict; the same bytes are kept once; one that fails or is cancelled leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection

from inspector.capture.limits import LimitError
from inspector.core import inspection
from inspector.core.errors import ReadError
from inspector.core.source import Part
from inspector.models import Artifact, AuditEntry, Finding, IndexedRow, Revision, RevisionPart, Session
from inspector.queries import derivation as deriving
from inspector.queries import indexing
from inspector.queries.artifacts import source_of
from inspector.services import write_findings, write_revision
from inspector.services.artifacts import Incoming
from inspector.services.import_sessions import Cancelled, Progress, import_sessions, limits
from tests.core.checkpoints import recorded
from tests.shell.sessions import DAMAGED, OTHER, PARTS_OF_SID, SID, bring, bring_bytes, packed, transcript, uploaded, write_home

pytestmark = pytest.mark.django_db
commits = pytest.mark.django_db(transaction=True)
"""For what happens only when a transaction really ends: stored files are deleted."""
TABLES = (Session, Revision, RevisionPart, Artifact, IndexedRow, Finding)


def stored_files(data_dir: Path) -> list[str]:
    return sorted(path.name for path in (data_dir / "artifacts").rglob("*") if path.is_file()) if (data_dir / "artifacts").exists() else []


def everything(data_dir: Path) -> tuple[list[Any], list[str]]:
    """All rows and stored files: what must be the same before and after an import that failed."""
    return [sorted(table.objects.values_list(), key=repr) for table in TABLES], stored_files(data_dir)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_home(tmp_path)


def test_a_file_becomes_a_session_with_revision_rows_verdict_and_audit_entry(owner: User) -> None:
    outcome = bring_bytes(transcript(turns=3), actor=owner)
    session = Session.objects.get()
    assert outcome.what == "imported" and outcome.session == session
    assert (session.client, session.native_id, session.status, session.verdict) == ("claude-code", SID, "ready", "ready")
    assert (session.first_prompt, session.folder, session.version) == ("retry the refund 0", "/home/dev/shop", "2.1.332")
    assert (session.rows, session.messages, session.on_branch, session.reached, session.size) == (6, 6, 6, 6, len(transcript(turns=3)))
    assert session.last_activity is not None and session.last_activity.isoformat() == "2026-05-04T09:00:05+00:00"
    assert session.picker is True and session.imported_by == owner
    assert session.current == Revision.objects.get() == outcome.revision
    assert list(IndexedRow.objects.values_list("seq", "part", "idx", "type", "on_branch")) == [
        (number, 0, number, kind, True) for number, kind in enumerate(["user", "assistant"] * 3)
    ]
    entry = AuditEntry.objects.order_by("-seq")[0]
    assert (entry.action, entry.actor, entry.session) == ("session-imported", "owner", session.pk)


def test_the_index_holds_what_the_derivation_says() -> None:
    data = transcript(turns=3) + b'{"type":"custom-title","customTitle":"Refunds","sessionId":"x"}\nnot json\n'
    revision = bring_bytes(data).revision
    looked = inspection.inspect(source_of(revision))
    assert looked.request is not None
    places = {place.row: place.pointer for place in looked.request.places}
    drops = {drop.row: drop for drop in looked.request.drops}
    rows = list(IndexedRow.objects.filter(revision=revision))
    assert len(rows) == len(looked.session.rows) == 8
    for row in rows:
        assert (places.get(row.ref, ""), row.reason) == (row.pointers, str(drops[row.ref].reason) if row.ref in drops else "")
        assert bool(row.pointers) != bool(row.reason)
    assert revision.session.title == "Refunds"


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_bytes_are_imported_and_kept_exactly(name: str) -> None:
    revision = bring_bytes(DAMAGED[name]).revision
    source = source_of(revision)
    assert source.parts[0].data[0 : len(source.parts[0].data)] == DAMAGED[name]
    spans = list(IndexedRow.objects.filter(revision=revision, part=0).values_list("start", "end"))
    assert [0, *(end for _, end in spans)] == [*(start for start, _ in spans), len(DAMAGED[name])]
    assert revision.session.status == "ready"


def test_every_recorded_case_is_imported_exactly() -> None:
    corpus = Path(__file__).parent.parent / "corpus"
    outcomes = [outcome for folder in sorted(corpus.iterdir()) if any(folder.rglob("*.json*")) for outcome in bring(folder)]
    transcripts = {path.read_bytes() for path in [*corpus.rglob("*.jsonl"), *recorded()] if "subagents" not in path.parts}
    documents = {path.read_bytes() for path in corpus.rglob("*.json")}
    kept = {source_of(outcome.revision).parts[0].data[0:] for outcome in outcomes if "store" not in outcome.revision.hints}
    assert len(outcomes) > 30 and not transcripts - kept
    assert not kept - transcripts - documents
    assert {outcome.session.status for outcome in outcomes} == {"ready"}


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz"])
def test_a_home_is_imported_with_side_files_and_linked_sub_agents(home: Path, kind: str, tmp_path: Path) -> None:
    path = home
    if kind != "folder":
        path = tmp_path / f"home.{kind}"
        path.write_bytes(packed(home, kind).getvalue())
    outcomes = {outcome.session.native_id: outcome for outcome in bring(path)}
    assert set(outcomes) == {SID, OTHER}
    session = outcomes[SID].session
    assert list(outcomes[SID].revision.parts.values_list("name", flat=True)) == PARTS_OF_SID
    agent = session.children.get()
    assert (agent.relation, agent.agent, agent.parent, agent.rows, agent.picker) == ("sub-agent", "a1", session, 4, False)
    assert agent.native_id == "a1" and session.native_id == SID
    assert agent.current is not None and agent.current.parts.get().artifact == outcomes[SID].revision.parts.get(number=1).artifact


def test_the_same_bytes_twice_are_one_artifact_and_one_session(owner: User) -> None:
    first, second = bring_bytes(transcript(), actor=owner), bring_bytes(transcript(), actor=owner)
    assert (second.what, second.session, second.revision) == ("unchanged", first.session, first.revision)
    assert (Artifact.objects.count(), Session.objects.count(), Revision.objects.count()) == (1, 1, 1)


@commits
def test_the_same_bytes_under_two_names_are_one_artifact_and_two_sessions(data_dir: Path) -> None:
    bring_bytes(transcript())
    bring_bytes(transcript(), name=f"{OTHER}.jsonl")
    assert (Artifact.objects.count(), Session.objects.count()) == (1, 2)
    assert len(stored_files(data_dir)) == 1


def test_a_file_that_grew_becomes_a_new_revision_of_its_session(tmp_path: Path) -> None:
    file = tmp_path / f"{SID}.jsonl"
    file.write_bytes(transcript(turns=1))
    (first,) = bring(file)
    file.write_bytes(transcript(turns=2))
    (second,) = bring(file)
    assert (second.what, second.session.pk, second.revision.number, second.revision.parent) == ("changed", first.session.pk, 2, first.revision)
    assert Session.objects.get().rows == 4
    assert bring(file)[0].what == "unchanged"


def test_progress_counts_sessions_and_bytes(home: Path) -> None:
    seen: list[Progress] = []
    bring(home, progress=seen.append)
    assert [(at.done, at.total) for at in seen] == [(0, 2), (1, 2), (2, 2)]
    assert seen[0].bytes == 0 < seen[1].bytes < seen[2].bytes <= seen[2].total_bytes


def test_entries_are_listed_while_their_sessions_are_still_read(home: Path) -> None:
    def look(at: Progress) -> None:
        statuses.append(sorted(Session.objects.filter(parent=None).values_list("status", flat=True)))

    statuses: list[list[str]] = []
    bring(home, progress=look)
    assert statuses == [["importing", "importing"], ["importing", "ready"], ["ready", "ready"]]


def cancel_after(number: int) -> Any:
    def progress(at: Progress) -> None:
        if at.done == number:
            raise Cancelled

    return progress


@commits
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_cancelled_import_leaves_nothing(home: Path, data_dir: Path, number: int) -> None:
    bring_bytes(transcript(turns=7))
    before = everything(data_dir)
    with pytest.raises(Cancelled):
        bring(home, progress=cancel_after(number))
    assert everything(data_dir) == before
    assert AuditEntry.objects.order_by("-seq")[0].action == "import-undone"


@commits
def test_a_cancelled_import_takes_back_the_new_revision_of_a_known_session(home: Path, data_dir: Path) -> None:
    bring(home)
    before = everything(data_dir)
    grown = home / f"projects/-home-dev-shop/{SID}.jsonl"
    grown.write_bytes(grown.read_bytes() + transcript(turns=3))
    with pytest.raises(Cancelled):
        bring(home, progress=cancel_after(2))
    assert everything(data_dir) == before


@commits
@pytest.mark.parametrize("module, where", [(write_revision, "write_rows"), (write_revision, "write_parts"), (write_revision, "sync_ledger"),
    (write_findings, "describe"), (write_findings, "counts_of")])  # fmt: skip
def test_an_import_that_fails_in_the_middle_leaves_nothing(
    home: Path, data_dir: Path, module: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_bytes(transcript(turns=7))
    before = everything(data_dir)
    real, calls = getattr(module, where), []

    def fails(*args: Any, **asked: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:  # the second session, after the first and its sub-agent are committed
            raise OSError("No space left on device")
        return real(*args, **asked)

    monkeypatch.setattr(module, where, fails)
    with pytest.raises(OSError, match="No space left"):
        bring(home)
    assert len(calls) == 3 and everything(data_dir) == before


@commits
def test_an_import_that_fails_while_rows_are_written_leaves_nothing(home: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(data_dir)
    real = indexing.rows_of

    def broken(derivation: deriving.Derivation) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(real(derivation)):
            if number == 2:
                raise OSError("disk gone")
            yield row

    monkeypatch.setattr(write_revision, "rows_of", broken)
    with pytest.raises(OSError, match="disk gone"):
        bring(home)
    assert everything(data_dir) == before


def test_a_session_that_we_fail_to_derive_is_kept_with_its_rows_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(deriving.inspection, "inspect", fails)
    session = bring_bytes(transcript()).session
    assert (session.status, session.verdict, session.rows) == ("failed", "", 4)
    assert "ZeroDivisionError" in session.summary
    assert source_of(session.current).parts[0].data[0:] == transcript()


@pytest.mark.parametrize(
    ("limit", "value", "data"), [("rows", 3, transcript()), ("row_bytes", 100, transcript()), ("bytes", 500, transcript()), ("members", 1, b"")]
)
@commits
def test_over_a_limit_nothing_is_kept_and_the_error_names_it(settings: Any, data_dir: Path, limit: str, value: int, data: bytes) -> None:
    settings.LIMITS = {**settings.LIMITS, limit: value}
    before = everything(data_dir)
    with pytest.raises(LimitError, match=f"Over the limit {limit}") as caught:
        import_sessions(candidates=uploaded((f"{OTHER}.jsonl", data), (f"{SID}.jsonl", data), limits=limits()))
    assert caught.value.limit == limit and everything(data_dir) == before


def test_an_archive_over_the_nesting_limit_is_refused_as_a_whole(home: Path, settings: Any) -> None:
    settings.LIMITS = {**settings.LIMITS, "nesting": 2}
    with pytest.raises(CommandError, match="Over the limit nesting"):
        call_command("import_sessions", home)
    assert not Session.objects.exists()


@commits
def test_two_uploads_of_the_same_bytes_at_once_keep_the_file_of_the_first(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Incoming.take

    def take(incoming: Incoming, *asked: Any) -> Any:
        taken = real(incoming, *asked)
        monkeypatch.setattr(Incoming, "take", real)  # once: between our look and our commit, somebody else keeps the same bytes
        bring_bytes(transcript(), name=f"{OTHER}.jsonl")
        connection.close()  # of this thread
        return taken

    monkeypatch.setattr(Incoming, "take", take)
    bring_bytes(transcript())
    assert (Artifact.objects.count(), Session.objects.count(), len(stored_files(data_dir))) == (1, 2, 1)


def test_the_command_says_what_came_in_and_refuses_a_missing_path(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_sessions", home)
    call_command("import_sessions", home)
    assert capsys.readouterr().out.splitlines() == [".claude: 2 imported", ".claude: 2 unchanged"]
    with pytest.raises(CommandError, match="no such file") as caught:
        call_command("import_sessions", home / "absent")
    assert caught.value.returncode == 2 and str(caught.value).count("absent") == 1


def test_a_part_that_does_not_have_the_bytes_that_were_named_is_refused(data_dir: Path) -> None:
    with pytest.raises(ReadError, match="changed while it was read"), Incoming() as incoming:
        incoming._write(Part("main.jsonl", transcript()), Part("main.jsonl", b"other").sha256())
    assert stored_files(data_dir) == []
