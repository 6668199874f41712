"""Law: time grows in line with a transcript, however it is built. Each shape below once took time by its square."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from inspector.core import inspection, jsonspans, report, rulebook
from inspector.core.clients.claude_code.javascript import as_javascript
from inspector.core.shell import script_effect
from inspector.core.source import Part, Source

SECONDS = 10
"""Far above what a slow machine needs for these, far below what squares of them take."""
SESSION = "11111111-2222-4333-8444-555555555555"


def row(kind: str, number: int, parent: int | None, content: Any, message: str = "", **more: Any) -> bytes:
    body = {"role": kind, "content": content}
    if kind == "assistant":
        body |= {"id": message or f"msg_{number}", "model": "claude-opus-5-5", "type": "message"}
    value = {
        "parentUuid": None if parent is None else f"u{parent}", "isSidechain": False, "type": kind, "uuid": f"u{number}",
        "timestamp": f"2026-05-04T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z", "cwd": "/", "sessionId": SESSION, "version": "2.1.332",
        "message": body,
    }  # fmt: skip
    return json.dumps(value | more, separators=(",", ":")).encode() + b"\n"


def call(number: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}


def attempt(number: int, parent: int, more: str) -> bytes:
    """A call that writes, a result that only says that it was stopped, and words of the model."""
    given = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"echo {more} >> out.txt"}}
    stopped = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Request timed out", "is_error": True}
    said = [{"type": "text", "text": "Let me think about it. " * 100}]
    rows = (("assistant", [given]), ("user", [stopped]), ("assistant", said))
    return b"".join(row(kind, number + place, parent if place == 0 else number + place - 1, content) for place, (kind, content) in enumerate(rows))


START = row("user", 0, None, "hello")
SHAPES: dict[str, Callable[[], bytes]] = {
    "one row with many calls": lambda: START + row("assistant", 1, 0, [call(n) for n in range(6_000)]),
    "one message of many rows": lambda: START + b"".join(row("assistant", n, n - 1, [call(n)], "msg") for n in range(1, 6_000)),
    "one message, results beside the chain": lambda: (
        START
        + b"".join(row("assistant", n, n - 1, [call(n)], "msg") for n in range(1, 2000))
        + b"".join(row("user", 5000 + n, n, [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"}]) for n in range(1, 2000))
    ),
    "a long loop of calls": lambda: (
        START
        + b"".join(
            row("assistant", n, n - 1, [call(n)]) + row("user", n + 1, n, [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "x"}])
            for n in range(1, 8_000, 2)
        )
    ),
    "a long chain of small turns": lambda: (
        START + b"".join(row("assistant", n, n - 1, [{"type": "text", "text": "a"}]) + row("user", n + 1, n, "u") for n in range(1, 15_000, 2))
    ),
    "no parent is there": lambda: b"".join(row("user", n, 10**6 + n, "u") for n in range(6_000)),
    "one blank message of many rows": lambda: (
        START + b"".join(row("assistant", n, n - 1, [{"type": "text", "text": " "}], "msg") for n in range(1, 6_000))
    ),
    "nobody knows how any call ended": lambda: START + b"".join(attempt(n, n - 1, str(n)) for n in range(1, 6_000, 3)),
    "one call made again and again": lambda: START + b"".join(attempt(n, n - 1, "x") for n in range(1, 6_000, 3)),
    "many results of one call": lambda: (
        START + b"".join(row("user", n, n - 1, [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]) for n in range(1, 6_000))
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_derivation_takes_linear_time(shape: str) -> None:
    source = Source("a.jsonl", (Part("a.jsonl", SHAPES[shape]()),))
    started = time.process_time()
    looked = inspection.inspect(source)
    assert report.answer("a.jsonl", looked, rulebook.diagnose(looked))["rows"]
    assert time.process_time() - started < SECONDS


RECORD = b'{"type":"user","uuid":"u"}'


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (RECORD * 60_000 + b"x", 60_000),
        (b'{"type":' * 100_000, 0),
        (b'{"type":[' * 900 + b'"' + b"a" * 3_000_000, 0),
        ("ü".encode() * 1000 + b" " + RECORD + "ü{".encode() + RECORD.replace(b"u", b"\xff") + b" " + RECORD, 2),
    ],
    ids=["glued", "nested", "nested in one long string", "beside other bytes"],
)
def test_recovery_takes_linear_time(line: bytes, found: int) -> None:
    started = time.process_time()
    spans = jsonspans.recover(line)
    assert time.process_time() - started < SECONDS
    assert len(spans) == found and all(line[start:end] == RECORD for start, end in spans)


@pytest.mark.parametrize(
    "piece", ["a;", "a ", "a\n", "$(", "(", "`", "\\", "sudo ", "A=1 ", "a|", "a>", "cat <<A\n", "# \\\n", "if a; then ", "${", "'", "eval "]
)
def test_judging_a_script_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    assert script_effect.__wrapped__(piece * (50_000 // len(piece)) + "x").name != "read-only"
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("words", ["sudo " * 24, "sudo timeout " * 12, "timeout " * 24, "time " * 1900, "env nice " * 12])
def test_programs_that_start_each_other_take_no_time_of_their_own(words: str) -> None:
    started = time.process_time()
    assert script_effect.__wrapped__(words + "rm -rf /srv").name in ("destructive", "unknown")
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("depth", [400, 900])
@pytest.mark.parametrize("inner", ["1", "1e5", '"\\ud800"', "12345678901234567890"])
def test_a_deep_record_is_converted_without_recursion(depth: int, inner: str) -> None:
    text = ('{"a":[' * (depth // 2) + inner + "]}" * (depth // 2)).encode()
    value = as_javascript(jsonspans.loads(text), text)
    for _ in range(depth // 2):
        value = value["a"][0]
    assert value == {"1": 1, "1e5": 100000, '"\\ud800"': "\ufffd", "12345678901234567890": 12345678901234567000}[inner]
