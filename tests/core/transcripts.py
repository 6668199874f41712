"""A small Claude Code transcript, row by row, as tests need it: every row hangs from the one before unless it says otherwise."""

from __future__ import annotations

import json
from typing import Any

from inspector.core.inspection import Inspection, inspect
from inspector.core.policy import BUILT_IN, Policy
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs

SESSION = "11111111-2222-4333-8444-555555555555"
MODEL = "claude-opus-4-8"


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thinking() -> dict[str, Any]:
    return {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def call(id: str = "T1", name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given or {"command": "make ship"}}


def result(id: str = "T1", content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


class Transcript:
    """Rows are added in file order; each method returns the new row's id. Times are one second apart."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.parts: list[Part] = []
        self.leaf: str | None = None

    def raw(self, data: bytes) -> None:
        self.lines.append(data)

    def record(self, type: str, **fields: Any) -> None:
        self.raw(json.dumps({"type": type, "sessionId": SESSION, **fields}).encode() + b"\n")

    def row(self, type: str, **fields: Any) -> str:
        number = len(self.lines)
        value = {
            "parentUuid": self.leaf, "isSidechain": False, "type": type, "uuid": uuid(number), "sessionId": SESSION,
            "timestamp": f"2026-05-04T09:{number // 60:02d}:{number % 60:02d}.000Z", "cwd": "/home/dev/shop", "version": "2.1.332",
        }  # fmt: skip
        value.update(fields)
        self.raw(json.dumps({name: item for name, item in value.items() if item is not ...}).encode() + b"\n")
        self.leaf = value["uuid"]
        return str(self.leaf)

    def user(self, content: Any = "go on", **fields: Any) -> str:
        return self.row("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: dict[str, Any], message: str | None = None, model: str = MODEL, **fields: Any) -> str:
        body = {"id": message or f"msg_{len(self.lines)}", "role": "assistant", "model": model, "content": list(blocks)}
        return self.row("assistant", message={**body, **fields.pop("message_fields", {})}, **fields)

    def turn(self, prompt: str = "go on", answer: str = "Done.") -> None:
        self.user(prompt)
        self.assistant(text(answer))

    def tool(self, id: str = "T1") -> None:
        self.assistant(call(id))
        self.user([result(id)])

    def source(self, name: str = f"{SESSION}.jsonl") -> Source:
        return Source(name, (Part(name, b"".join(self.lines)), *self.parts))

    def inspect(self, policy: Policy = BUILT_IN, **how: Any) -> Inspection:
        return inspect(self.source(), ResumeAs(**how), policy=policy)


def conversation() -> Transcript:
    """Two turns, one with a tool: rows 0 to 5. Nothing is wrong with it."""
    made = Transcript()
    made.user("Ship it.")
    made.tool()
    made.assistant(text("Shipped."))
    made.turn("Thanks. And the docs?", "Written.")
    return made
