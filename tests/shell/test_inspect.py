"""`manage.py inspect`: answers, exit codes and errors as the contract has them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "corpus" / "claude-code"
CLEAN = next((CASES / "a_clean/source").glob("*.jsonl"))
KILLED = next((CASES / "live332-b_kill_bash/source").glob("*.jsonl"))


def run(*args: str, stdin: str = "") -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "manage.py", "inspect", *args], cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_one_json_document_and_nothing_else() -> None:
    code, out, err = run(str(KILLED), "--json")
    doc = json.loads(out)
    assert (code, err) == (1, "")
    assert doc["verdict"] == "needs-reconciliation"
    assert {"rows", "screen", "state", "request", "findings", "operations", "recorded_request"} <= doc.keys()


def test_a_clean_session_answers_zero() -> None:
    code, out, _ = run(str(CLEAN))
    assert code == 0
    assert out.startswith("Ready to resume: ")


def test_a_release_that_was_not_observed_is_named_with_what_was_simulated() -> None:
    _, out, _ = run(str(CLEAN), "--client-version", "9.9.9", "--json")
    assert json.loads(out)["simulated_note"] == "9.9.9 was not observed; simulated as 2.1.332"
    assert "9.9.9 was not observed; simulated as 2.1.332" in run(str(CLEAN), "--client-version", "9.9.9")[1]
    assert json.loads(run(str(CLEAN), "--client-version", "2.1.89", "--json")[1])["simulated_note"] is None


@pytest.mark.parametrize("form", ["screen", "rows", "state", "request", "findings", "operations"])
def test_a_form_brings_its_own_key_only(form: str) -> None:
    _, out, _ = run(str(CLEAN), "--form", form, "--json")
    forms = {"rows", "screen", "state", "request", "findings", "operations"}
    assert forms & json.loads(out).keys() == {form}


@pytest.mark.parametrize("form", ["screen", "rows", "request"])
def test_the_exit_code_is_the_same_whatever_form_is_asked_for(form: str) -> None:
    assert (run(str(KILLED), "--form", form)[0], run(str(CLEAN), "--form", form)[0]) == (1, 0)


def test_the_words_begin_with_what_matters() -> None:
    _, out, _ = run(str(KILLED))
    kinds = [line.split()[0] for line in out.splitlines()]
    order = [kinds.index(kind) for kind in ("Something", "error", "open", "Next:", "screen", "Next", "fact", "not", "row")]
    assert order == sorted(order)
    assert out.count("not recorded") == 1
    assert f"--out NEW.jsonl --resolve {json.loads(run(str(KILLED), '--json')[1])['operations'][0]['key']}=happened" in out


def test_several_sessions_are_listed_and_one_is_picked(tmp_path: Path) -> None:
    for file in (CLEAN, KILLED):
        shutil.copy(file, tmp_path)
    code, out, _ = run(str(tmp_path), "--json")
    threads = json.loads(out)["threads"]
    assert code == 0
    assert {one["thread"] for one in threads} == {CLEAN.stem, KILLED.stem}
    _, out, _ = run(str(tmp_path), "--thread", KILLED.stem, "--json")
    assert json.loads(out)["session"] == KILLED.stem


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("no-such-file.jsonl",), "no such file"),
        ((), "nothing to inspect"),
        ((str(CLEAN), "--client", "nobody"), "no client is called"),
        ((str(CLEAN), "--client-version", "newest"), "is no version number"),
        ((str(CLEAN), "--gate", "warp=on"), "is not known"),
        ((str(CLEAN), "--gate", "context-collapse"), "NAME=on"),
        ((str(CLEAN), "--thread", "other"), "no session is called"),
        ((str(CLEAN), "--form", "x"), "invalid choice"),
        ((str(CLEAN), "--bogus"), "inspect: unrecognized arguments: --bogus"),
        (("--batch", "no-such-file"), "no-such-file: no such file"),
    ],
)
def test_wrong_input_is_one_line_on_stderr_and_exit_two(args: tuple[str, ...], says: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_a_batch_answers_every_line_in_order_and_goes_on_after_bad_jobs() -> None:
    lines: list[Any] = [
        {"path": str(CLEAN), "form": "findings"},
        {"path": "gone"},
        "not json",
        {"form": "rows"},
        {"path": str(CLEAN), "form": "x"},
        {"path": str(KILLED)},
    ]
    given = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    code, out, _ = run("--batch", "-", stdin=given)
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(answers) == len(lines)
    assert [("error" in one) for one in answers] == [False, True, True, True, True, False]
    assert [one["path"] for one in answers] == [str(CLEAN), "gone", None, None, str(CLEAN), str(KILLED)]


def test_text_of_a_transcript_can_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / CLEAN.name
    file.write_bytes(CLEAN.read_bytes().replace(b'"do the task"', b'"\\u001b]0;owned\\u0007 \\u001b[2J"'))
    _, out, _ = run(str(file))
    assert "\x1b" not in out
    assert "\x07" not in out
