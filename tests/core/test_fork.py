"""Forks: a new session from any row, resumed with the same conversation, and nothing of the old one's ownership."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core.errors import PlanError
from inspector.core.fork import Fork, fork
from inspector.core.inspection import inspect
from inspector.core.session import RowKind
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs

from .transcripts import SESSION, Transcript, call, conversation, result, text

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "claude-code"
NEW = "99999999-2222-4333-8444-555555555555"
AT = "2026-12-01T10:00:00.000Z"


def forked(source: Source, **given: Any) -> Fork:
    return fork(inspect(source, client="claude-code"), new_id=NEW, at=AT, **given)


def records(made: Fork) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bytes(made.source.parts[0].data[:]).splitlines()]


def said(source: Source) -> str:
    request = inspect(source, ResumeAs(prompt="continue"), "claude-code").request
    assert request is not None
    return json.dumps(request.body["messages"])


def test_every_row_has_the_new_id_the_old_uuid_and_its_lineage() -> None:
    source = conversation().source()
    made = forked(source)
    rows = records(made)
    chain = [row for row in rows if "uuid" in row]
    assert made.source.parts[0].name == f"{NEW}.jsonl" and {row["sessionId"] for row in rows} == {NEW}
    assert [row["uuid"] for row in chain] == [row.id for row in inspect(source).session.rows]
    assert all(row["forkedFrom"] == {"sessionId": SESSION, "messageUuid": row["uuid"]} for row in chain)
    assert made.lineage == {f"0:{number}": f"0:{number}" for number in range(len(chain))}
    assert said(made.source) == said(source)


def test_a_fork_begins_at_any_row_of_any_branch() -> None:
    made = conversation()
    asked = json.loads(made.lines[3])["uuid"]
    made.user("Another way.", parentUuid=asked)
    made.assistant(text("Other answer."))
    for row, words, missing in (("0:3", "Shipped.", "Another way."), ("0:5", "Written.", "Another way."), ("0:7", "Other answer.", "Written.")):
        cut = forked(made.source(), row=row)
        assert cut.at == row and words in said(cut.source) and missing not in said(cut.source)
    for row in ("0:99", "1:0"):
        with pytest.raises(PlanError):
            forked(made.source(), row=row)


def parallel() -> Source:
    made = Transcript()
    made.user("Ship it.")
    first = made.assistant(call("T1"), message="m1")
    second = made.assistant(call("T2"), message="m1")
    made.user([result("T1")], parentUuid=first)
    made.user([result("T2")], parentUuid=second)
    made.assistant(text("Both done."))
    return made.source()


def test_a_fork_in_the_middle_of_one_answer_says_what_comes_along() -> None:
    notes = forked(parallel(), row="0:1").notes
    assert notes[-1] == "Rows 0:2, 0:3, 0:4 come along: the same answer of the model, with its results; choose 0:0 to stop before it."
    for row in ("0:0", "0:5"):
        assert not any("along" in note for note in forked(parallel(), row=row).notes)


def test_parallel_results_beside_the_chain_are_copied() -> None:
    source = parallel()
    assert said(forked(source).source) == said(source) and "T1" in said(source)


def test_queue_worktree_and_recorded_requests_stay_and_replacements_and_file_history_go_along() -> None:
    made = conversation()
    kept = ("content-replacement", "file-history-snapshot", "custom-title")
    for type in (*kept, "queue-operation", "api-request", "cost-state", "last-prompt"):
        made.record(type, replacements=[], operation="enqueue", content="later")
    tree = {"originalCwd": "/home/dev/shop", "worktreePath": "/home/dev/shop/.trees/a", "worktreeBranch": "a", "originalBranch": "main"}
    made.record("worktree-state", worktreeSession=tree)
    made.turn("In the tree.", "Done there.")
    made.lines[-1] = made.lines[-1].replace(b'"/home/dev/shop"', b'"/home/dev/shop/.trees/a"')
    fork = forked(made.source())
    rows = records(fork)
    assert [row["type"] for row in rows if "uuid" not in row] == [*kept, "last-prompt"]
    assert {row["cwd"] for row in rows if "cwd" in row} == {"/home/dev/shop"}
    assert fork.left_behind and any("worktree" in note for note in fork.notes) and any("same folder" in note for note in fork.notes)


def test_persisted_outputs_are_copied_and_their_paths_point_to_the_copy() -> None:
    source = source_of(session_files(CORPUS / "h1_fork" / "source")[0])
    old = source.parts[0].name.removesuffix(".jsonl")
    made = forked(source)
    assert [part.name for part in made.source.parts[1:]] == [part.name.replace(old, NEW) for part in source.parts[1:]]
    assert [bytes(part.data[:]) for part in made.source.parts[1:]] == [bytes(part.data[:]) for part in source.parts[1:]]
    assert f"{NEW}/tool-results/" in said(made.source) and f"{old}/tool-results/" not in said(made.source)


def test_backups_tasks_and_the_plan_are_copied_under_new_names_and_the_live_entry_is_not() -> None:
    made = conversation()
    made.lines = [line.replace(b'"type"', b'"slug": "calm-sea", "type"', 1) for line in made.lines]
    for name in (f"file-history/{SESSION}/ab@v1", f"tasks/{SESSION}/1.json", "plans/calm-sea.md", "sessions/77.json"):
        made.parts.append(Part(name, b"x"))
    fork = forked(made.source())
    assert fork.copied == [f"file-history/{NEW}/ab@v1", "plans/calm-sea-99999999.md", f"tasks/{NEW}/1.json"]
    assert {row["slug"] for row in records(fork) if "slug" in row} == {"calm-sea-99999999"}


def test_what_a_compaction_kept_goes_along() -> None:
    source = source_of(session_files(CORPUS / "live332-e7_compact_tui" / "source")[0])
    assert said(forked(source).source) == said(source)


def test_an_id_that_is_taken_and_a_session_that_would_be_refused_are_no_forks() -> None:
    with pytest.raises(PlanError):
        fork(inspect(conversation().source()), new_id=SESSION, at=AT)
    with pytest.raises(PlanError):
        forked(Source("empty.jsonl", (Part("empty.jsonl", b""),)))


BROKEN = ("fuzz-11-048", "j54l_lp_sidechain", "j58_empty", "j66_user_text_plus_result")
"""Cases that are to be repaired first: their own request is refused, or they are."""


@pytest.mark.parametrize("case", [case for case in sorted(CORPUS.iterdir()) if case.name not in BROKEN], ids=lambda case: str(case.name))
def test_recorded_sessions_can_be_forked_at_their_rows(case: Path) -> None:
    source = source_of(session_files(case / "source")[0])
    looked = inspect(source)
    rows = [row.ref for row in looked.session.main() if row.kind is RowKind.MESSAGE and row.id and not row.sidechain]
    for row in (None, rows[0], rows[len(rows) // 2]):
        assert fork(looked, new_id=NEW, at=AT, row=row).inspection.state.refused is None
