"""Transcripts as hypothesis makes them: a short conversation as the client writes it, and then damage of rows, links and bytes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from inspector.core.source import Part, Source

SESSION = "11111111-2222-4333-8444-555555555555"
GARBAGE = [b"null", b"42", b'["x"]', b"{}", b"", b"not json", b"\0\0\0\0", b'{"type":"user"}', b'{"type":"mode","mode":"normal"}', b"\xff\xfe"]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def row(number: int, parent: int | None, type: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One chain row with the fields that the client repeats."""
    return {
        "parentUuid": None if parent is None else uuid(parent), "isSidechain": False, "type": type, "message": message, "uuid": uuid(number),
        "timestamp": f"2026-11-30T08:{number // 60:02d}:{number % 60:02d}.000Z", "userType": "external", "entrypoint": "cli", "cwd": "/home/dev/shop",
        "sessionId": SESSION, "version": "2.1.332", "gitBranch": "main", **more,
    }  # fmt: skip


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of one to four turns: a prompt, an answer with thinking, text and calls, their results, a closing text."""
    rows: list[dict[str, Any]] = []
    calls = 0

    def add(type: str, content: Any, parent: int | None, **more: Any) -> int:
        message: dict[str, Any] = {"role": type, "content": content}
        if type == "assistant":
            message = {"id": more.pop("message_id"), "type": "message", "model": "claude-opus-5-5", "stop_reason": "end_turn", **message}
        rows.append(row(len(rows), parent, type, message, **more))
        return len(rows) - 1

    last: int | None = None
    for turn in range(draw(st.integers(1, 4))):
        last = add("user", f"prompt {turn}", last)
        message = f"msg_{turn}_a"
        if draw(st.booleans()):
            last = add("assistant", [{"type": "thinking", "thinking": "hm", "signature": "SIG=="}], last, message_id=message)
        if draw(st.booleans()):
            last = add(
                "assistant",
                [{"type": "text", "text": draw(st.sampled_from(["Working.", " ", "", "\ud83d half", "é\u2028x"]))}],
                last,
                message_id=message,
            )
        made = []
        for _ in range(draw(st.integers(0, 3))):
            call = {"type": "tool_use", "id": f"toolu_{calls}", "name": draw(st.sampled_from(["Bash", "Read", "Write"])), "input": {"command": "ls"}}
            last = add("assistant", [call], last, message_id=message)
            made.append((last, calls))
            calls += 1
        for parent, call_number in made:
            if draw(st.integers(0, 5)):
                result = {"type": "tool_result", "tool_use_id": f"toolu_{call_number}", "content": "done", "is_error": False}
                last = add("user", [result], parent, sourceToolAssistantUUID=uuid(parent))
        if draw(st.booleans()):
            last = add("assistant", [{"type": "text", "text": "Done."}], last, message_id=f"msg_{turn}_b")
    return rows


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The bytes of a conversation after up to four kinds of damage."""
    rows = draw(conversations())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(rows) - 1))
        kind = draw(st.sampled_from(["drop", "copy", "relink", "root", "sidechain", "same-id", "string", "empty", "time", "foreign", "swap"]))
        victim = rows[at]
        if kind == "drop" and len(rows) > 1:
            del rows[at]
        elif kind == "copy":
            rows.insert(draw(st.integers(0, len(rows))), victim)
        elif kind == "relink":
            rows[at] = {**victim, "parentUuid": uuid(draw(st.integers(0, len(rows) + 3)))}
        elif kind == "root":
            rows[at] = {**victim, "parentUuid": None}
        elif kind == "sidechain":
            rows[at] = {**victim, "isSidechain": True}
        elif kind == "same-id":
            rows[at] = {**victim, "uuid": uuid(draw(st.integers(0, len(rows))))}
        elif kind in ("string", "empty"):
            rows[at] = {**victim, "message": {**victim["message"], "content": "text" if kind == "string" else []}}
        elif kind == "time":
            rows[at] = {**victim, "timestamp": draw(st.sampled_from(["", "yesterday", "2020-01-01T00:00:00.000Z"]))}
        elif kind == "foreign":
            rows[at] = {**victim, "sessionId": "99999999-2222-4333-8444-555555555555"}
        elif kind == "swap":
            other = draw(st.integers(0, len(rows) - 1))
            rows[at], rows[other] = rows[other], rows[at]
    lines = [json.dumps(each, separators=(",", ":"), ensure_ascii=True).encode() for each in rows]
    if draw(st.booleans()):
        leaf = uuid(draw(st.integers(0, len(rows) + 1)))
        lines.append(json.dumps({"type": "last-prompt", "leafUuid": leaf, "sessionId": SESSION}, separators=(",", ":")).encode())
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["garbage", "cut", "splice", "nul", "flip"]))
        if kind == "garbage":
            lines.insert(at, draw(st.sampled_from(GARBAGE)))
        elif kind == "cut":
            lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
        elif kind == "splice" and at + 1 < len(lines):
            lines[at] = lines[at][: draw(st.integers(1, max(1, len(lines[at]))))] + lines.pop(at + 1)
        elif kind == "nul":
            lines[at] = b"\0" * draw(st.integers(1, 9)) + lines[at]
        elif kind == "flip" and lines[at]:
            place = draw(st.integers(0, len(lines[at]) - 1))
            lines[at] = lines[at][:place] + bytes([draw(st.integers(0, 255))]) + lines[at][place + 1 :]
    return b"\n".join(lines) + draw(st.sampled_from([b"\n", b"", b"\r\n"]))


def source(data: bytes) -> Source:
    return Source(f"{SESSION}.jsonl", (Part(f"{SESSION}.jsonl", data),))
