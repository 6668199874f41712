"""Anthropic Messages API: body shape and validity rules A1-A22 (ids are stable)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from ..images import pixels
from ..state import RuntimeState
from .problems import Problem

NAME = "anthropic-messages"

RULES: dict[str, str] = {
    "A1": "Every tool call of an assistant message is answered in the next user message.",
    "A2": "Every tool result belongs to a call of the assistant message right before it.",
    "A3": "The ids of tool calls are unique over the whole request.",
    "A4": "A call is answered once.",
    "A5": "In a user message, tool results come before everything else.",
    "A6": "Nothing follows the last tool call of an assistant message.",
    "A7": "The thinking of the latest assistant message is sent exactly as it was received.",
    "A8": "An assistant message does not end with thinking.",
    "A9": "With thinking switched on, an assistant message that continues a tool loop begins with thinking.",
    "A10": "Thinking carries the signature that it was received with.",
    "A11": "Text is not empty or white space only.",
    "A12": "An empty text carries no cache mark.",
    "A13": "The conversation ends with a user message.",
    "A14": "Where the last message may be the assistant's, its text does not end in white space.",
    "A15": "Images keep to the limits of pixels and bytes.",
    "A16": "A tool's name has at most 200 characters.",
    "A17": "The input of a tool call is an object.",
    "A18": "The body is valid UTF-8: no half of a surrogate pair.",
    "A19": "A server tool's call and its result stand in the same assistant message.",
    "A20": "Messages of the role system may stand between the others.",
    "A21": "Neighbouring messages of one role are merged by the provider.",
    "A22": "There are messages, each with content made of objects; only the assistant calls tools.",
}
"""Id -> what holds in a valid request. A7 needs the bytes that the provider sent, so no body can show that it is broken; A20 and A21 permit."""

UNCONFIRMED = frozenset(("A6", "A9", "A10", "A14"))
"""Rules that no report of a refusal confirms for every body that they match: warnings."""

NAME_LIMIT = 200
IMAGE_BYTES = 5 << 20
"""Length of the base64 text."""
IMAGE_PIXELS = 8000
MANY_IMAGES = 20
"""With more images than this in one request the smaller limit of pixels holds."""
MANY_IMAGE_PIXELS = 2000
THINKING = ("thinking", "redacted_thinking")


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
            places += [(row, f"{base}/{block}") for block, row in message.riders]
    body: dict[str, Any] = {}
    if state.model:
        body["model"] = state.model
    if state.system is not None:
        body["system"] = [{"type": "text", "text": text} for text in state.system]
        if state.system_row is not None:
            places += [(state.system_row, f"/system/{number}") for number in range(len(state.system))]
    body["messages"] = messages
    if state.tools is not None:
        body["tools"] = state.tools
    return body, places


def sent_calls(state: RuntimeState) -> set[str]:
    """Ids of the calls in a state's messages."""
    return {
        block["id"]
        for message in state.messages
        if isinstance(message.content, list)
        for block in message.content
        if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str)
    }


@dataclass(slots=True)
class _Turn:
    """Neighbouring messages of one role, as the provider merges them: `blocks` are (pointer, value)."""

    role: str
    pointer: str
    blocks: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def of(self, *types: str) -> list[tuple[str, dict[str, Any]]]:
        return [(pointer, block) for pointer, block in self.blocks if block.get("type") in types]


class _Findings:
    """Collects problems with the rows behind their pointers."""

    def __init__(self, rows_at: dict[str, str]) -> None:
        self.rows_at = rows_at
        self.problems: list[Problem] = []

    def add(self, rule: str, message: str, pointers: Iterable[str]) -> None:
        at = list(pointers)
        rows = tuple(dict.fromkeys(self.rows_at[pointer] for pointer in at if pointer in self.rows_at))
        self.problems.append(Problem(rule, at[0], rows, message, blocking=rule not in UNCONFIRMED))


def check(body: dict[str, Any], rows_at: dict[str, str]) -> list[Problem]:
    """Problems of a body, in order of place. `rows_at` maps a block's pointer to its row.

    Neighbouring messages of one role are judged together, as the provider merges them; messages of the role system are passed over.
    """
    found = _Findings(rows_at)
    messages = body.get("messages")
    messages = messages if isinstance(messages, list) else []
    turns = _turns(messages, found)
    if not turns:
        found.add("A22", "There is no message to send.", ["/messages"])
        return found.problems
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        for pointer, block in turn.blocks:
            _block(turn, pointer, block, seen, found)
        _server_tools(turn, found)
        if turn.role == "assistant":
            _assistant(turn, turns[number + 1] if number + 1 < len(turns) else None, found)
        else:
            before = turns[number - 1] if number else None
            _user(turn, before if before and before.role == "assistant" else None, found)
    if turns[-1].role == "assistant":
        _tail(turns[-1], found)
    _thinking_loop(body, turns, found)
    _images(turns, found)
    _encoding(body, messages, found)
    return sorted(found.problems, key=lambda problem: _order(problem.pointer))


def _order(pointer: str) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pointer.split("/")]


def _turns(messages: list[Any], found: _Findings) -> list[_Turn]:
    turns: list[_Turn] = []
    for number, message in enumerate(messages):
        base = f"/messages/{number}/content"
        if not isinstance(message, dict):
            found.add("A22", "A message is not an object.", [f"/messages/{number}"])
            continue
        if message.get("role") == "system":
            continue
        blocks = list(_blocks(base, message.get("content"), found))
        if message.get("role") == "assistant" and blocks and blocks[-1][1].get("type") in THINKING:
            found.add("A8", "The assistant message ends with thinking.", [blocks[-1][0]])
        role = str(message.get("role"))
        if not turns or turns[-1].role != role:
            turns.append(_Turn(role, base))
        turns[-1].blocks += blocks
    for turn in turns:
        if not turn.blocks:
            found.add("A22", "The message has no content.", [turn.pointer])
    return turns


def _blocks(base: str, content: Any, found: _Findings) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(content, str):
        yield base, {"type": "text", "text": content}
        return
    for number, block in enumerate(content if isinstance(content, list) else []):
        if not isinstance(block, dict):
            found.add("A22", "A content block is not an object.", [f"{base}/{number}"])
            block = {"type": "invalid"}
        yield f"{base}/{number}", block


def _id(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _block(turn: _Turn, pointer: str, block: dict[str, Any], seen: set[str], found: _Findings) -> None:
    """Rules that look at one block (and the call ids seen so far)."""
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            found.add("A11", "A text block is empty.", [pointer])
            if block.get("cache_control"):
                found.add("A12", "An empty text block carries a cache mark.", [pointer])
    elif kind == "tool_use":
        call, name = _id(block.get("id")), block.get("name")
        if turn.role != "assistant":
            found.add("A22", f"Call {call} stands in a message of the {turn.role}.", [pointer])
        if call in seen:
            found.add("A3", f"The call id {call} occurs a second time.", [pointer])
        seen.add(call)
        if not isinstance(block.get("input"), dict):
            found.add("A17", f"The input of call {call} is not an object.", [pointer])
        if isinstance(name, str) and len(name) > NAME_LIMIT:
            found.add("A16", f"The tool name of call {call} has {len(name)} characters; {NAME_LIMIT} are allowed.", [pointer])
    elif kind == "thinking" and not block.get("signature"):
        found.add("A10", "A thinking block has no signature.", [pointer])


def _assistant(turn: _Turn, after: _Turn | None, found: _Findings) -> None:
    calls = turn.of("tool_use")
    answered = {_id(block.get("tool_use_id")) for _, block in after.of("tool_result")} if after else set()
    missing = [(pointer, _id(block.get("id"))) for pointer, block in calls if _id(block.get("id")) not in answered]
    if missing:
        names = ", ".join(call for _, call in missing)
        found.add("A1", f"No result in the next message for: {names}.", [pointer for pointer, _ in missing])
    if calls:
        pointers = [pointer for pointer, _ in turn.blocks]
        rest = turn.blocks[pointers.index(calls[-1][0]) + 1 :]
        late = [pointer for pointer, block in rest if block.get("type") in ("text", *THINKING)]
        if late:
            found.add("A6", "Text or thinking follows the last tool call of the assistant message.", late)


def _server_tools(turn: _Turn, found: _Findings) -> None:
    open_calls: dict[str, str] = {}
    known: set[str] = set()
    for pointer, block in turn.blocks:
        kind = block.get("type")
        if kind in ("server_tool_use", "mcp_tool_use"):
            open_calls[pointer] = _id(block.get("id"))
            known.add(_id(block.get("id")))
        elif "tool_use_id" in block:
            call = _id(block["tool_use_id"])
            if call not in known and isinstance(kind, str) and kind.endswith("_tool_result"):
                found.add("A19", f"The result of server tool call {call} stands without its call.", [pointer])
            open_calls = {at: name for at, name in open_calls.items() if name != call}
    for pointer, call in open_calls.items():
        found.add("A19", f"Server tool call {call} has no result in the same message.", [pointer])


def _user(turn: _Turn, before: _Turn | None, found: _Findings) -> None:
    calls = {_id(block.get("id")) for _, block in before.of("tool_use")} if before else set()
    answers: dict[str, list[str]] = {}
    for pointer, block in turn.of("tool_result"):
        call = _id(block.get("tool_use_id"))
        answers.setdefault(call, []).append(pointer)
        if call not in calls:
            found.add("A2", f"The result for {call} has no call in the message before it.", [pointer])
    for call, pointers in answers.items():
        if len(pointers) > 1:
            found.add("A4", f"Call {call} is answered {len(pointers)} times.", pointers[1:])
    first_other = next((n for n, (_, block) in enumerate(turn.blocks) if block.get("type") != "tool_result"), len(turn.blocks))
    late = [pointer for pointer, block in turn.blocks[first_other:] if block.get("type") == "tool_result"]
    if late:
        found.add("A5", "A tool result comes after other content of the user message.", late)


def _tail(turn: _Turn, found: _Findings) -> None:
    pointer, block = turn.blocks[-1] if turn.blocks else (turn.pointer, {})
    found.add("A13", "The conversation ends with an assistant message.", [pointer])
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str) and text.strip() and text != text.rstrip():
        found.add("A14", "The last assistant text ends in white space.", [pointer])


def _thinking_loop(body: dict[str, Any], turns: list[_Turn], found: _Findings) -> None:
    """A9, where the body itself says that thinking is on; the loop that goes on is the last call answered by the last message."""
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled" or len(turns) < 2:
        return
    loop, answer = turns[-2], turns[-1]
    if loop.role == "assistant" and loop.of("tool_use") and answer.of("tool_result") and loop.blocks[0][1].get("type") not in THINKING:
        found.add("A9", "Thinking is on, but the message that called the tools does not begin with thinking.", [loop.blocks[0][0]])


def _images(turns: list[_Turn], found: _Findings) -> None:
    images = [place for turn in turns for place in _images_of(turn.blocks)]
    many = len(images) > MANY_IMAGES
    limit = MANY_IMAGE_PIXELS if many else IMAGE_PIXELS
    for pointer, source in images:
        data = source.get("data")
        if source.get("type") != "base64" or not isinstance(data, str):
            continue
        if len(data) > IMAGE_BYTES:
            found.add("A15", f"An image has {len(data)} bytes; {IMAGE_BYTES} are allowed.", [pointer])
        size = pixels(data)
        if size and max(size) > limit:
            why = f" when a request has more than {MANY_IMAGES} images" if many else ""
            found.add("A15", f"An image has {size[0]} × {size[1]} pixels; {limit} a side are allowed{why}.", [pointer])


def _images_of(blocks: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(pointer of the block, image source), images inside tool results included."""
    for pointer, block in blocks:
        inner = block.get("content") if block.get("type") == "tool_result" else [block]
        for item in inner if isinstance(inner, list) else []:
            if isinstance(item, dict) and item.get("type") == "image" and isinstance(item.get("source"), dict):
                yield pointer, item["source"]


def _encoding(body: dict[str, Any], messages: list[Any], found: _Findings) -> None:
    says = "The content holds half of a surrogate pair, which no valid request body can."
    if "system" in body and not encodes(body["system"]):
        found.add("A18", says, ["/system"])
    for number, message in enumerate(messages):
        if encodes(message):
            continue
        content = message.get("content") if isinstance(message, dict) else None
        base = f"/messages/{number}/content"
        bad = [f"{base}/{at}" for at, block in enumerate(content) if not encodes(block)] if isinstance(content, list) else []
        for pointer in bad or [base]:
            found.add("A18", says, [pointer])


def encodes(value: Any) -> bool:
    """Whether a JSON value can be written as UTF-8."""
    try:
        orjson.dumps(value)
    except TypeError:  # also raised for integers over 64 bits, which the plain encoder writes
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return False
        except RecursionError:
            return True
    return True
