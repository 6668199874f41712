"""Anthropic Messages API: body shape and validity rules A1-A21 (ids are stable)."""

from __future__ import annotations

from typing import Any

from ..state import RuntimeState
from .problems import Problem

NAME = "anthropic-messages"


def build(state: RuntimeState) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Body and (row, pointer) places of a state's messages."""
    messages: list[dict[str, Any]] = []
    places: list[tuple[str, str]] = []
    for number, message in enumerate(state.messages):
        messages.append({"role": message.role, "content": message.content})
        base = f"/messages/{number}/content"
        if isinstance(message.content, str):
            places += [(row, base) for row in message.rows]
        else:
            places += [(row, f"{base}/{block}") for block, row in enumerate(message.rows)]
    body: dict[str, Any] = {}
    if state.model:
        body["model"] = state.model
    if state.system is not None:
        body["system"] = [{"type": "text", "text": text} for text in state.system]
    body["messages"] = messages
    if state.tools is not None:
        body["tools"] = state.tools
    return body, places


def check(body: dict[str, Any], rows_at: dict[str, str]) -> list[Problem]:
    """Problems of a body, in order of place. `rows_at` maps a block's pointer to its row."""
    return []
