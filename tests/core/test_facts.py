"""Runtime state facts of recorded sessions."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core.clients.claude_code import PROFILES, read, resume
from inspector.core.clients.claude_code.switching import ContinueChoice, continue_choice
from inspector.core.source import Part, Source
from inspector.core.state import Fact, ResumeAs

CORPUS = Path(__file__).parents[1] / "corpus"
CASES = sorted((CORPUS / "claude-code").iterdir())


def source_for(name: str, folder: str = "claude-code") -> Source:
    return source_of(session_files(CORPUS / folder / name / "source")[0])


def facts(source: Source | str, **how: Any) -> dict[str, Fact]:
    session = read(source_for(source) if isinstance(source, str) else source)
    return {item.name: item for item in resume(session, ResumeAs(**how)).facts}


def with_rows(name: str, *rows: dict[str, Any]) -> Source:
    source = source_for(name)
    data = bytes(source.parts[0].data[:]) + b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return replace(source, parts=(Part(source.parts[0].name, data), *source.parts[1:]))


def with_parts(source: Source, **files: bytes) -> Source:
    return replace(source, parts=(*source.parts, *(Part(name, data) for name, data in files.items())))


@pytest.mark.parametrize("how", ["normal", "fork", "path", "switch"])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_facts_of_every_case_are_named_once_and_point_at_rows(case: Path, how: str) -> None:
    session = read(source_of(session_files(case / "source")[0]))
    for version in (None, "2.1.197", "2.1.89"):
        found = resume(session, ResumeAs(how=how, version=version)).facts  # type: ignore[arg-type]
        names = [item.name for item in found]
        assert len(names) == len(set(names)) and {"session-id", "write-target", "candidate-leaves", "permission-mode"} <= set(names)
        assert json.dumps([asdict(item) for item in found])
        assert all(session.row(ref) for item in found for ref in item.rows)
        assert all(item.note and item.value is None for item in found if not item.known)


def test_metadata_comes_back_as_the_client_wrote_it_again() -> None:
    observed = json.loads((CORPUS / "claude-code-restores/metadata/observed.json").read_text())["written_again"]
    found = facts(source_for("metadata", "claude-code-restores"))
    names = {"title": "custom-title", "tag": "tag", "agent": "agent-setting", "pull-request": "pr-link", "cost": "cost-state"}
    for name, kind in names.items():
        for how in ("normal", "path", "fork"):
            assert getattr(found[name].restored, how) == (kind in observed[how]), (name, how)
    assert found["title"].value == observed["normal"]["custom-title"]
    assert found["agent"].value == {"agent": "Explore", "name": "My agent name", "color": "red"}
    assert found["content-replacements"].restored.fork == ("content-replacement" in observed["fork"])
    assert set(found["exit-without-prompt"].value) >= set(observed["normal"])


def test_an_older_release_restores_less_by_path() -> None:
    new, old = (facts(source_for("metadata", "claude-code-restores"), how="path", version=version) for version in (None, "2.1.89"))
    assert "title" not in new["path-differences"].value
    assert {"title", "tag", "agent", "content-replacements", "file-history"} <= set(old["path-differences"].value)


def test_normal_adopts_and_fork_does_not() -> None:
    normal, fork = facts("live332-e6_rename_mode"), facts("live332-e6_rename_mode", how="fork")
    assert normal["session-id"].value["after"] == "adopted" and fork["session-id"].value["after"] == "new"
    assert normal["write-target"].value.endswith(".jsonl") and fork["write-target"].value == "a new file"
    assert "custom-title" in normal["exit-without-prompt"].value and fork["exit-without-prompt"].value == []
    assert normal["title"].value == "Fancy Name"


def test_worktree_is_restored_but_never_by_a_fork() -> None:
    found = facts("live332-o3_worktree")["worktree"]
    assert found.value["worktreeBranch"] == "worktree-wt1"
    assert (found.restored.normal, found.restored.fork, found.restored.path) == (True, False, True)
    assert "nobody new" in facts("live332-o3_worktree", how="fork")["worktree"].note
    assert not facts("live332-o3_worktree", version="2.1.197")["worktree"].restored.normal


def test_permission_modes() -> None:
    mode = facts("live332-e6b_resume_mode_acceptEdits")["permission-mode"]
    assert mode.value == "acceptEdits" and mode.restored.normal
    assert not facts("live332-e6b_resume_mode_acceptEdits", version="2.1.197")["permission-mode"].restored.normal
    risky = facts(with_rows("j45b_content_replacement_big", {"type": "permission-mode", "permissionMode": "bypassPermissions"}))["permission-mode"]
    assert not risky.restored.normal and "a person must" in risky.note
    unknown = facts(with_rows("j45b_content_replacement_big", {"type": "permission-mode", "permissionMode": ["x"]}))["permission-mode"]
    assert not unknown.restored.normal and "Not a mode" in unknown.note


def test_a_queued_prompt_is_lost() -> None:
    found = facts("e4b_queued_kill")["queued-prompts"]
    assert found.value and found.rows and not found.restored.normal
    assert facts("live332-e4_queued")["queued-prompts"].value == []


def test_background_work_without_completion_record() -> None:
    assert [item["kind"] for item in facts("i3_bg_agent_and_bash")["background-tasks"].value] == ["command"]
    assert [item["kind"] for item in facts("i4_bg_agent_killed")["background-tasks"].value] == ["agent"]
    assert facts("live332-i3b_bg_finished_unread")["background-tasks"].value == []


def test_persisted_outputs_and_whether_their_files_are_here() -> None:
    source = source_for("h1_fork")
    found = facts(source)["persisted-outputs"]
    assert len(found.value) == 1 and found.value[0]["here"] and "All files are here" in found.note
    gone = facts(replace(source, parts=source.parts[:1]))["persisted-outputs"]
    assert not gone.value[0]["here"] and "1 of 1 files are missing" in gone.note


def test_missing_file_backups_are_named() -> None:
    source = source_for("fuzz-11-050")
    found = facts(source)["file-history"]
    assert found.value["missing"] == ["281aab7d264a7b09@v2"] and not found.value["backups_here"]
    assert {item["backup"] for item in found.value["files"]} == {None, "281aab7d264a7b09@v2"}
    here = facts(with_parts(source, **{"file-history/x/281aab7d264a7b09@v2": b"v1"}))["file-history"]
    assert here.value["missing"] == [] and here.value["backups_here"]


def test_tasks_and_registry_entries_of_this_session_only() -> None:
    source = source_for("live332-e6_rename_mode")
    name = source.parts[0].name.removesuffix(".jsonl")
    entry = json.dumps({"pid": 7, "sessionId": name, "kind": "interactive"}).encode()
    other = json.dumps({"pid": 8, "sessionId": "other"}).encode()
    files = {
        f"tasks/{name}/1.json": b'{"id":"1","subject":"s","status":"pending"}',
        "sessions/7.json": entry,
        "sessions/8.json": other,
        "tasks/x/1.json": b"{}",
    }
    found = facts(with_parts(source, **files))
    assert [item["subject"] for item in found["tasks"].value] == ["s"]
    assert [item["pid"] for item in found["live-process"].value["entries"]] == [7]
    assert not facts(source)["live-process"].known and not facts(source)["tasks"].known


def test_skills_are_kept_though_their_row_is_off_the_branch() -> None:
    row = {"type": "attachment", "uuid": "aaaaaaaa-0000-4000-8000-000000000000", "parentUuid": None, "timestamp": "2020-01-01T00:00:00.000Z"}
    skills = {"attachment": {"type": "invoked_skills", "skills": [{"name": "review", "path": "p", "content": "c"}]}}

    source = source_for("j45b_content_replacement_big")
    data = json.dumps({**row, **skills}).encode() + b"\n" + bytes(source.parts[0].data[:])
    found = facts(replace(source, parts=(Part(source.parts[0].name, data),)))["invoked-skills"]
    assert [(item["name"], item["row_survives"]) for item in found.value] == [("review", False)]


def test_content_replacements_and_their_gate() -> None:
    off, on = facts("j45b_content_replacement_big"), facts("j45b_content_replacement_big", gates=(("content-replacement", True),))
    assert off["content-replacements"].value[0]["call"] == "T1"
    assert "not applied" in off["content-replacements"].note and "gate is on" in on["content-replacements"].note


def test_context_collapse_shows_inputs_only_behind_its_gate() -> None:
    rows = ({"type": "marble-origami-commit", "n": 1}, {"type": "marble-origami-snapshot", "n": 2}, {"type": "marble-origami-snapshot", "n": 3})
    source = with_rows("j45b_content_replacement_big", *rows)
    assert "inputs" not in facts(source)["context-collapse"].value
    shown = facts(source, gates=(("context-collapse", True),))["context-collapse"]
    assert [item["record"]["n"] for item in shown.value["inputs"]] == [1, 3] and "not derived" in shown.note


def test_leaf_rules_differ_after_a_stale_last_prompt() -> None:
    rules = facts("j54e_lp_stale_before_branch")["candidate-leaves"].value["rules"]
    assert rules["last-prompt"] != rules["physical-last"]
    same = facts("live332-o3_worktree")["candidate-leaves"]
    assert set(same.value["rules"].values()) == {same.value["continued"]}


def test_the_consistency_check_counts_lost_history() -> None:
    good, compacted = facts("live332-e9c_reject_feedback")["consistency-check"], facts("live332-e7_compact_tui")["consistency-check"]
    assert good.value["result"] == compacted.value["result"] == "equal" and compacted.value["found"] > 30
    damaged = facts("fuzz-11-054", version="2.1.89")["consistency-check"]
    assert damaged.value["result"] == "different" and damaged.value["found"] < damaged.value["recorded"]


def test_cycles_do_not_hang() -> None:
    ids = [f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in range(3)]
    rows = [
        {
            "type": "user",
            "uuid": ids[n],
            "parentUuid": ids[(n + 1) % 3],
            "message": {"role": "user", "content": "x"},
            "timestamp": "2026-01-01T00:00:00Z",
        }
        for n in range(3)
    ]
    tail = {"type": "system", "subtype": "turn_duration", "messageCount": 3, "uuid": "b", "parentUuid": ids[0], "timestamp": "2026-01-01T00:00:01Z"}
    data = b"".join(json.dumps(row).encode() + b"\n" for row in [*rows, tail])
    found = facts(Source("x", (Part("x.jsonl", data),)))
    assert found["consistency-check"].value["found"] == 3
    assert found["candidate-leaves"].value["rules"]["physical-last"] == "0:3"


def test_a_switch_is_an_ordered_list() -> None:
    steps = facts("live332-e6_rename_mode", how="switch")["switch-order"].value
    does = [step["does"] for step in steps]
    order = [
        "SessionEnd",
        "SessionStart",
        "file history",
        "attribution",
        "agent",
        "read-file",
        "metadata",
        "worktree",
        "remote tasks",
        "replacements",
        "visible",
    ]
    places = [next(at for at, text in enumerate(does) if word in text) for word in order]
    assert places == sorted(places) and does[0].startswith("read the target")
    assert all(step["says"] for step in steps) and not steps[1]["recorded"]
    assert "switch-order" not in facts("live332-e6_rename_mode")


def test_stored_system_prompt_is_said_to_be_sent_only_by_releases_that_do() -> None:
    assert facts("live332-o3_worktree")["system-prompt"].restored.normal
    assert not facts("live332-o3_worktree", version="2.1.197")["system-prompt"].restored.normal


def in_project(name: str, slug: str, kind: str | None = None) -> Any:
    source = replace(source_for(name), hints={"slug": slug} | ({"live": "its process runs"} if kind else {}))
    entry = {"pid": 1, "sessionId": source.parts[0].name.removesuffix(".jsonl"), "kind": kind}
    return read(with_parts(source, **{"sessions/1.json": json.dumps(entry).encode()}) if kind else source)


def test_what_continue_would_pick() -> None:
    old, new = in_project("e4b_queued_kill", "a"), in_project("live332-e7_compact_tui", "a")
    busy = in_project("live332-e6b_resume_mode_acceptEdits", "a", "bg")
    mine = in_project("live332-e4_queued", "b", "interactive")
    empty = read(Source("x", (Part("x.jsonl", b'{"type":"mode","mode":"normal","sessionId":"s"}\n'),), {"slug": "c"}))
    first, second, third = continue_choice([old, busy, mine, new, empty])
    assert first == ContinueChoice("a", new.id, ((busy.id, "a client of kind bg is running it"),))
    assert second == ContinueChoice("b", mine.id, ())
    assert third.picked is None and third.skipped[0][1] == "it holds no message"


def test_every_profile_has_its_facts() -> None:
    for version in PROFILES:
        assert facts("live332-o3_worktree", version=version)["session-id"].known
