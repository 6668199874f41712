"""The commands `repair` and `fork`: files, exit codes, JSON."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
CLEAN = next((CORPUS / "defects" / "d00_clean").glob("*.jsonl"))
KILLED = next((CORPUS / "defects" / "d01_tail_mutating_tool_use").glob("*.jsonl"))
WITH_FOLDER = next((CORPUS / "claude-code" / "h1_fork" / "source").glob("*.jsonl"))
NEW = "99999999-2222-4333-8444-555555555555"


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, JSON answer, stderr."""
    code = 0
    try:
        call_command(*map(str, args), "--json")
    except SystemExit as exit:
        code = int(exit.code or 0)
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_sound_session_is_written_as_it_is(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer, _ = run(capsys, "repair", CLEAN, "--out", tmp_path / "out.jsonl")
    assert code == 0 and answer["steps"] == [] and answer["changed_bytes"] == 0
    assert (tmp_path / "out.jsonl").read_bytes() == CLEAN.read_bytes()
    assert answer["base_sha256"] == answer["out_sha256"] == sha256(CLEAN)


def test_an_open_operation_keeps_the_answer_at_1_until_a_person_resolves_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = KILLED.read_bytes()
    code, answer, _ = run(capsys, "repair", KILLED, "--out", tmp_path / "first.jsonl")
    assert code == 1 and len(answer["operations_open"]) == 1 and answer["out_sha256"] == sha256(tmp_path / "first.jsonl")
    assert [edit["kind"] for step in answer["steps"] for edit in step["edits"]] == ["insert-row", "insert-row"]
    code, answer, _ = run(capsys, "repair", tmp_path / "first.jsonl", "--out", tmp_path / "second.jsonl")
    assert code == 1 and answer["steps"] == [] and sha256(tmp_path / "first.jsonl") == sha256(tmp_path / "second.jsonl")
    key = answer["operations_open"][0]
    code, answer, _ = run(capsys, "repair", tmp_path / "second.jsonl", "--out", tmp_path / "third.jsonl", "--resolve", f"{key}=did-not-happen:looked")
    assert code == 0 and answer["operations_open"] == [] and b"Their words" in (tmp_path / "third.jsonl").read_bytes()
    assert KILLED.read_bytes() == before


def test_a_dry_run_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer, _ = run(capsys, "repair", KILLED, "--out", tmp_path / "out.jsonl", "--dry-run")
    assert code == 1 and answer["out"] is None and answer["steps"] and list(tmp_path.iterdir()) == []


def test_the_session_folder_goes_along_and_nothing_is_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / WITH_FOLDER.name
    assert run(capsys, "repair", WITH_FOLDER, "--out", out)[0] == 0
    (copied,) = [path for path in tmp_path.rglob("*") if path.is_file() and path != out]
    assert copied.read_bytes() == next(path for path in WITH_FOLDER.with_suffix("").rglob("*") if path.is_file()).read_bytes()
    code, answer, err = run(capsys, "repair", WITH_FOLDER, "--out", out)
    assert code == 2 and answer == {} and "exists already" in err and err.count("\n") == 1


def test_nothing_to_resume_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = tmp_path / f"{NEW}.jsonl"
    empty.touch()
    code, answer, _ = run(capsys, "repair", empty, "--out", tmp_path / "out.jsonl")
    assert code == 1 and answer["refused"] and not (tmp_path / "out.jsonl").exists()
    code, answer, _ = run(capsys, "fork", empty, "--out", tmp_path / "fork")
    assert code == 1 and answer["refused"] and not (tmp_path / "fork").exists()


@pytest.mark.parametrize("extra", [["--resolve", "nobody=happened"], ["--resolve", "x"], ["--choose", "no-step=leave-out"], ["--choose", "x"]])
def test_a_wrong_command_line_is_2_and_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path, extra: list[str]) -> None:
    code, answer, err = run(capsys, "repair", KILLED, "--out", tmp_path / "out.jsonl", *extra)
    assert code == 2 and answer == {} and err.count("\n") == 1 and list(tmp_path.iterdir()) == []


def test_a_fork_is_written_with_its_folder_under_the_new_id(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer, _ = run(capsys, "fork", WITH_FOLDER, "--out", tmp_path, "--new-id", NEW)
    assert code == 0 and answer["session"] == NEW and answer["forked_from"]["session"] == WITH_FOLDER.stem
    assert answer["resume"] == f"claude --resume {NEW}" and answer["out_sha256"] == sha256(tmp_path / f"{NEW}.jsonl")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == sorted(answer["files"])
    assert run(capsys, "fork", WITH_FOLDER, "--out", tmp_path, "--new-id", NEW)[0] == 2
    code, answer, err = run(capsys, "fork", WITH_FOLDER, "--out", tmp_path, "--at", "0:0")
    assert code == 2 and "no place to go on from" in err


def test_a_fork_of_a_session_with_an_open_operation_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer, _ = run(capsys, "fork", KILLED, "--out", tmp_path)
    assert code == 1 and len(answer["operations_open"]) == 1


def said(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str]:
    """Exit code and the words for a person."""
    try:
        call_command(*map(str, args))
        code = 0
    except SystemExit as exit:
        code = int(exit.code or 0)
    return code, capsys.readouterr().out


def test_a_call_that_is_left_out_stays_open_over_a_second_run_until_it_is_resolved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, answer, _ = run(capsys, "repair", KILLED, "--dry-run")
    step = next(step["id"] for step in answer["steps"] if "leave-out" in step["choices"])
    (key,) = answer["operations_open"]
    for source, out, extra in ((KILLED, "1.jsonl", ["--choose", f"{step}=leave-out"]), (tmp_path / "1.jsonl", "2.jsonl", [])):
        code, answer, _ = run(capsys, "repair", source, "--out", tmp_path / out, *extra)
        assert code == 1 and answer["operations_open"] == [key] and "uncertain-operation" in [found["code"] for found in answer["remains"]]
    assert sha256(tmp_path / "1.jsonl") == sha256(tmp_path / "2.jsonl")
    code, answer, _ = run(capsys, "repair", KILLED, "--out", tmp_path / "3.jsonl", "--choose", f"{step}=leave-out", "--resolve", f"{key}=happened")
    assert code == 0 and answer["operations_open"] == []
    code, answer, _ = run(capsys, "fork", tmp_path / "1.jsonl", "--out", tmp_path / "fork", "--new-id", NEW)
    assert code == 1 and answer["operations_open"] == [key]


def test_the_words_say_what_is_open_and_how_to_close_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, words = said(capsys, "repair", KILLED, "--dry-run")
    assert code == 1 and "2 steps" in words and "=happened" in words and "Open: `" in words
    code, words = said(capsys, "fork", KILLED, "--out", tmp_path)
    assert code == 1 and "projects folder" in words and "Remains: unresolved-call" in words and "=happened" in words and "(1 file)" in words
