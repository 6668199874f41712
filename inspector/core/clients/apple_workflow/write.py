"""Bodies of rows as a repair writes them: entries that Apple's decoder takes, members in the encoding that they had."""

from __future__ import annotations

import json
from typing import Any

from ...session import Row, Session
from .checkpoint import step_of, step_written
from .entry import MARK, blocks_of, mark_of
from .envelope import SEGMENTS, demands_options, kind_of

__all__ = ["mark_of", "mended", "result_row", "rewritten", "step_row", "with_result", "without_unknown"]


def dumps(value: Any) -> bytes:
    """JSON as this framework writes it: no spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def rewritten(raw: bytes, value: Any) -> bytes:
    """The body of a changed entry."""
    return dumps(value)


def result_row(
    session: Session, call: Row, call_id: str, text: str, *, error: bool, interrupted: bool, id: str, at: str, mark: dict[str, Any]
) -> bytes:
    """The tool entry that answers one call with `text`. Its id is the call's, as the encoder writes it; the mark is in the segment's id."""
    named = next((block.get("name") for block in blocks_of(session.value(call)) if isinstance(block, dict) and block.get("id") == call_id), "")
    return dumps({"role": "tool", "id": call_id, "toolCallID": call_id, "toolName": named, "contents": [_segment(text, mark)]})


def _segment(text: str, mark: dict[str, Any]) -> dict[str, Any]:
    return {"id": MARK + json.dumps(mark, ensure_ascii=False, sort_keys=True), "type": "text", "text": text}


def with_result(value: dict[str, Any], block: int, text: str, error: bool, mark: dict[str, Any]) -> dict[str, Any]:
    """The tool entry with what a person found out: in the place of a repair's text, behind a tool's own."""
    kept = [] if mark_of(value) else blocks_of(value)
    return {**value, "contents": [*kept, _segment(text, mark)]}


def step_row(session: Session, row: Row, step: str) -> bytes:
    """The body of the saved step's row with another step, in the encoding that it has."""
    body = session.body_of(row)
    colon = body.index(b":", body.index(b'"step"') + 6) + 1
    start = colon + len(body[colon:]) - len(body[colon:].lstrip())
    old = body[start:-1]
    _, form = step_of(session.record(row)["step"])
    return body[:start] + step_written(step, old, form) + b"}"


def mended(value: dict[str, Any], number: int, version: Any, tools: dict[str, str]) -> dict[str, Any]:
    """Entry `number` with the keys that Apple's decoder demands put in where they are missing, empty or made from what the entry says; `tools`
    maps call ids to the names of their tools. What has a key of a wrong type, or is of an unknown kind, stays as it is."""
    kind = kind_of(value)
    made = dict(value)
    if kind is None:
        return made
    made.setdefault("id", made.get("toolCallID") if kind == "toolOutput" else f"entry-{number}")
    if kind == "toolOutput":
        made.setdefault("toolName", tools.get(str(made.get("toolCallID")), ""))
    if kind == "prompt" and demands_options(version):
        made.setdefault("options", {})
        made.setdefault("contextOptions", {})
    if kind == "reasoning" and isinstance(made.get("reasoning"), dict):
        made["reasoning"] = {**made["reasoning"], "contents": _with_ids(made["reasoning"].get("contents"), number)}
    elif kind not in ("toolCalls", "reasoning"):
        made["contents"] = _with_ids(made.get("contents"), number)
    if isinstance(made.get("tools"), list):
        made["tools"] = [_tool(tool) for tool in made["tools"]]
    return made


def _with_ids(contents: Any, number: int) -> Any:
    if not isinstance(contents, list):
        return contents
    return [
        {"id": f"entry-{number}-{place}", **segment} if isinstance(segment, dict) and segment.get("type") in SEGMENTS else segment
        for place, segment in enumerate(contents)
    ]  # fmt: skip


def _tool(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, dict) else None
    schema = function.get("parameters") if isinstance(function, dict) else None
    if not isinstance(schema, dict) or not isinstance(function, dict):
        return tool
    names = list(schema["properties"]) if isinstance(schema.get("properties"), dict) else []
    demanded = {"title": str(function.get("name", "")), "x-order": names, "required": [], "additionalProperties": False}
    return {**tool, "function": {**function, "parameters": {**demanded, **schema}}}


def without_unknown(value: dict[str, Any]) -> dict[str, Any] | None:
    """The entry without segments of unknown kinds; None where its role is not known."""
    kind = kind_of(value)
    if kind is None:
        return None
    if kind == "toolCalls":
        return value
    known = [segment for segment in blocks_of(value) if isinstance(segment, dict) and segment.get("type") in SEGMENTS]
    if kind == "reasoning":
        return {**value, "reasoning": {**value["reasoning"], "contents": known}} if isinstance(value.get("reasoning"), dict) else value
    return {**value, "contents": known}
