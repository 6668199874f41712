"""The messages of a request's body and what they are made of, whatever the dialect calls them: for pages that show any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LISTS = (("messages",), ("transcript", "entries"), ("input",))
"""Where dialects keep their messages."""
POINTER = re.compile("/(?:" + "|".join("/".join(path) for path in LISTS) + r")/(\d+)(?:/[A-Za-z]+/(\d+))?")


def messages_of(body: Mapping[str, Any] | None) -> list[Any]:
    """The messages, oldest first; empty for no body."""
    for path in LISTS:
        found: Any = body
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        if isinstance(found, list):
            return found
    return []


def list_at(body: Mapping[str, Any]) -> str:
    """JSON pointer of the list of messages."""
    return next(("/" + "/".join(path) for path in LISTS if path[0] in body), "/messages")


def rest_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body without its messages."""
    lists = {path[0] for path in LISTS}
    return {key: value for key, value in body.items() if key not in lists}


def blocks_of(message: Any) -> Any:
    """What a message holds: its blocks, segments or calls; a text where it is one; the message itself where it is no object."""
    if not isinstance(message, dict):
        return message
    inner = message.get("reasoning") if message.get("role") == "reasoning" else message
    holder = inner if isinstance(inner, dict) else message
    return next((holder[key] for key in ("content", "toolCalls", "contents", "arguments", "output", "summary") if key in holder), None)


def numbers_in(pointer: str) -> tuple[int | None, int | None]:
    """The numbers of the message and of the block that a JSON pointer names; None for what it does not name."""
    found = POINTER.match(pointer)
    if found is None:
        return None, None
    return int(found[1]), int(found[2]) if found[2] else None
