"""One form for derived and observed Messages requests: what a client adds at send time (context, reminders, cache marks) is left out of both."""

from __future__ import annotations

from typing import Any

LEFT_OUT = ("cache_control", "citations", "caller")
REMINDER = "<system-reminder>"


def canonical(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages without system messages and reminders, each content a list of blocks."""
    out = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        kept = [shown for block in blocks if (shown := _block(message["role"], block)) is not None]
        if kept and message["role"] != "system":
            out.append({"role": message["role"], "content": kept})
    return out


def _block(role: str, block: dict[str, Any]) -> dict[str, Any] | None:
    block = {key: value for key, value in block.items() if key not in LEFT_OUT and value is not None}
    if block["type"] == "text":
        if block["text"].lstrip().startswith(REMINDER):
            return None
        if role == "user":
            block["text"] = block["text"].removesuffix("\n")
    if block["type"] == "tool_result":
        content = block.get("content")
        if isinstance(content, str):
            block["content"] = content.split(f"\n\n{REMINDER}")[0]
        elif isinstance(content, list) and all(part.get("type") == "text" for part in content):
            block["content"] = "".join(part["text"] for part in content)
        if block.get("is_error") is False:
            del block["is_error"]
    return block
