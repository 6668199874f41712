"""`inspect`, `repair`, `fork` and `stores` on stores: which thread, what is written, and that the store stays as it is."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.stores.recorded import Case

PARTIAL = Case("langgraph-sqlite", "agent_parallel_partial_sync")
FORKED = Case("langgraph-sqlite", "agent_forked")
MANY = Case("langgraph-sqlite", "multi_thread")
NEW_ID = "0a7b4fd0-1df7-4c15-9c3e-0d2a1d3f5a11"


def run(*words: Any) -> tuple[int, dict[str, Any]]:
    """Exit code and the JSON answer of a command."""
    out = io.StringIO()
    try:
        call_command(*map(str, words), "--json", stdout=out)
    except SystemExit as left:
        return int(str(left.code)), json.loads(out.getvalue() or "{}")
    return 0, json.loads(out.getvalue())


def test_a_store_with_several_threads_is_listed_and_one_is_picked() -> None:
    code, said = run("inspect", MANY.sqlite)
    assert code == 0 and [(each["thread"], each["rows"]) for each in said["threads"]] == [("42", 6), ("alpha", 24), ("beta/ü 1", 6)]
    code, said = run("inspect", MANY.sqlite, "--thread", "beta/ü 1")
    assert (code, said["thread"], said["client"], said["verdict"]) == (0, "beta/ü 1", "langgraph", "finished")


def test_text_says_what_runs_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("inspect", str(PARTIAL.sqlite))
    said = capsys.readouterr().out
    assert "runs first  tools (unknown)" in said and "Two changes." in said and "--out NEW.sqlite" in said and "to a model" in said


def test_a_repair_writes_a_new_file_and_leaves_the_store(tmp_path: Path) -> None:
    before = PARTIAL.sqlite.read_bytes()
    out = tmp_path / "new" / "repaired.sqlite"
    code, said = run("repair", PARTIAL.sqlite, "--out", out, "--resolve", "call_p2=happened:in the ledger")
    assert (code, said["remains"], said["operations_open"]) == (0, [], [])
    assert said["out_sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert PARTIAL.sqlite.read_bytes() == before and sorted(each.name for each in PARTIAL.folder.iterdir()) == [
        "checkpoints.sqlite", "expected.json", "notes.md",
    ]  # fmt: skip
    code, again = run("inspect", out)
    assert (code, again["verdict"], again["findings"]) == (0, "ready", [])
    code, _ = run("repair", PARTIAL.sqlite, "--out", out)
    assert code == 2


def test_what_nobody_answered_stays_open(tmp_path: Path) -> None:
    code, said = run("repair", PARTIAL.sqlite, "--out", tmp_path / "a.sqlite")
    assert code == 1 and len(said["operations_open"]) == 1
    code, said = run("repair", tmp_path / "a.sqlite", "--out", tmp_path / "b.sqlite")
    assert code == 1 and said["steps"] == []
    code, said = run("repair", tmp_path / "a.sqlite", "--out", tmp_path / "c.sqlite", "--resolve", "call_p2=did-not-happen:no refund there")
    assert (code, said["operations_open"]) == (0, [])


def test_a_task_may_be_left_to_the_framework(tmp_path: Path) -> None:
    code, said = run("repair", PARTIAL.sqlite, "--dry-run")
    step = next(each for each in said["steps"] if each["finding"] == "task-outcome-unknown")
    code, said = run("repair", PARTIAL.sqlite, "--out", tmp_path / "a.sqlite", "--choose", f"{step['id']}=as-the-client")
    assert code == 1 and said["changed_bytes"] == 0


def test_a_fork_has_the_rows_up_to_its_checkpoint_under_its_own_id(tmp_path: Path) -> None:
    code, said = run("fork", FORKED.sqlite, "--out", tmp_path, "--at", "0:12", "--new-id", NEW_ID)
    assert said["forked_from"] == {"session": "t1", "row": "0:12"} and NEW_ID in said["resume"]
    _, forked = run("inspect", tmp_path / f"{NEW_ID}.sqlite")
    _, whole = run("inspect", FORKED.sqlite)
    assert forked["session"] == NEW_ID
    assert {fact["name"]: fact["value"] for fact in forked["state"]["facts"]}["newest"] == whole["rows"][12]["id"]
    assert len(forked["rows"]) == 15 and len(said["left_behind"]) == 1


def test_a_fork_needs_a_checkpoint(tmp_path: Path) -> None:
    assert run("fork", FORKED.sqlite, "--out", tmp_path, "--at", "0:99")[0] == 2
    assert run("fork", MANY.sqlite, "--out", tmp_path)[0] == 2


def test_a_thread_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        call_command("inspect", str(MANY.sqlite), "--thread", "gamma")
    assert left.value.code == 2 and "gamma" in capsys.readouterr().err
