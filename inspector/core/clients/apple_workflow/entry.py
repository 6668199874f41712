"""One entry of a transcript: its texts, its segments, and the mark of a repair on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MARK = "session-inspector "
"""How the id of a segment begins that a repair wrote; a JSON object follows. An id may be any text for Apple's decoder, a key of our own may not."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`extra` of a row that is an entry."""

    number: int
    text: str
    """What it says, of a structure its content as JSON."""
    marked: bool
    """Written by a repair."""


def blocks_of(value: Any) -> list[Any]:
    """The calls of a toolCalls entry, the segments of every other one."""
    if not isinstance(value, dict):
        return []
    holder = value.get("reasoning") if value.get("role") == "reasoning" else value
    found = value["toolCalls"] if "toolCalls" in value else holder.get("contents") if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def text_of(value: Any) -> str:
    """The words of an entry; calls as `name arguments`, a structure as its JSON."""
    return "\n".join(said for said in map(_said, blocks_of(value)) if said)


def _said(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    if isinstance(block.get("text"), str):
        return str(block["text"])
    if isinstance(block.get("name"), str):
        return f"{block['name']} {block.get('arguments', '')}".strip()
    structure = block.get("structure")
    if isinstance(structure, dict):
        try:
            return json.dumps(structure.get("content"), ensure_ascii=False)
        except RecursionError:
            return "[nested too deeply to show]"
    return f"[{block['type']}]" if isinstance(block.get("type"), str) and "text" not in block else ""


def mark_of(value: Any) -> dict[str, Any]:
    """The mark that a repair left on an entry; empty for others."""
    for segment in blocks_of(value):
        id = segment.get("id") if isinstance(segment, dict) else None
        if isinstance(id, str) and id.startswith(MARK):
            try:
                found = json.loads(id.removeprefix(MARK))
            except ValueError:
                continue
            if isinstance(found, dict):
                return found
    return {}
