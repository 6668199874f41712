"""OpenAI Responses API: the `input` of a request and validity rules R0-R18 (ids are stable)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..clients.openai_agents.items import HOSTED, OUTPUT_OF, OUTPUTS, call_id_of, kind_of, parsed
from ..state import RuntimeState
from .problems import Problem

NAME = "openai-responses"

RULES: dict[str, str] = {
    "R0": "There are items, each an object with a type or a role.",
    "R1": "Every function_call is answered by a function_call_output with its call_id.",
    "R2": "Every call of another kind is answered by the output of its own kind.",
    "R3": "Every output answers a call of the request.",
    "R4": "R1 and R3 do not hold where the provider keeps the other half itself (previous_response_id, conversation).",
    "R5": "Reasoning is followed by the item that it belongs to.",
    "R6": "An item that was made together with reasoning is sent with it.",
    "R7": "The ids of items are unique.",
    "R8": "With store off, ids of items that were never saved are not sent.",
    "R9": "Encrypted reasoning is only for the account that it was made for.",
    "R10": "Reasoning without its encrypted content is left out whole.",
    "R11": "Reasoning has a summary, if only an empty one.",
    "R12": "Only models that reason are sent reasoning.",
    "R13": "An item's id has at most 64 characters.",
    "R14": "A function_call has arguments.",
    "R15": "The request fits into the model's window.",
    "R16": "The arguments of a function_call are JSON.",
    "R17": "The call ids of calls are unique.",
    "R18": "A call is answered once.",
}
"""Id -> what holds in a valid request. R4 permits; R8, R9, R10, R12 and R15 depend on what no body shows."""
UNCONFIRMED = frozenset(("R6", "R16", "R17", "R18"))
"""Rules that no report of a refusal confirms for every body that they match: warnings."""
ID_LIMIT = 64
ASSIGNED = re.compile(r"(?:msg|rs|fc|fco|ctc|ctco|ws|fs|ci|ig|cu|lsh|sh|apc|tsc|mcp|mcpl|mcpr|cmp)_")
"""How ids begin that the provider gives to items; others are placeholders of programs between."""


def build(state: RuntimeState) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, and (row, JSON pointer) of each item's place in it."""
    body: dict[str, Any] = {"model": state.model} if state.model else {}
    body |= state.around or {}
    body["input"] = [message.content[0] for message in state.messages]
    return body, [(row, f"/input/{number}") for number, message in enumerate(state.messages) for row in message.rows]


def sent_calls(state: RuntimeState) -> set[str]:
    """Ids of the calls among a state's items."""
    items = [message.content[0] for message in state.messages]
    return {id for item in items if isinstance(item, dict) and kind_of(item) in OUTPUT_OF and (id := call_id_of(item)) is not None}


class _Found:
    """Collects problems with the rows behind the numbers of their items."""

    def __init__(self, rows_at: dict[str, str]) -> None:
        self.rows_at = rows_at
        self.problems: list[Problem] = []

    def add(self, rule: str, says: str, *numbers: int, call: str | None = None) -> None:
        pointers = [f"/input/{number}" for number in numbers]
        rows = tuple(dict.fromkeys(self.rows_at[pointer] for pointer in pointers if pointer in self.rows_at))
        self.problems.append(Problem(rule, pointers[0] if pointers else "/input", rows, says, blocking=rule not in UNCONFIRMED, call=call))


def check(body: dict[str, Any], rows_at: dict[str, str]) -> list[Problem]:
    """Problems of a body, in order of the rules. `rows_at` maps an item's pointer to its row."""
    found = _Found(rows_at)
    held = body.get("input")
    items = [(number, item) for number, item in enumerate(held if isinstance(held, list) else ()) if isinstance(item, dict) and kind_of(item)]
    for number, item in enumerate(held if isinstance(held, list) else ()):
        if not isinstance(item, dict) or not kind_of(item):
            found.add("R0", f"Item {number} is no object with a type or a role.", number)
    if not held:
        found.add("R0", "There is no item to send.")
    if not body.get("previous_response_id") and not body.get("conversation_id"):
        _pairs(items, found)
    _reasoning(items, found)
    _ids(items, found)
    _fields(items, found)
    return found.problems


def _pairs(items: list[tuple[int, dict[str, Any]]], found: _Found) -> None:
    answers: dict[tuple[str, str | None], list[int]] = {}
    asked: dict[tuple[str, str | None], list[int]] = {}
    for number, item in items:
        kind, call_id = kind_of(item), call_id_of(item)
        if kind in OUTPUTS and (call_id is not None or kind != "tool_search_output"):
            answers.setdefault((kind, call_id), []).append(number)
        elif kind in OUTPUT_OF and (call_id is not None or kind != "tool_search_call"):
            asked.setdefault((OUTPUT_OF[kind], call_id), []).append(number)
    for (kind, call_id), numbers in asked.items():
        if (kind, call_id) not in answers:
            found.add("R1" if kind == "function_call_output" else "R2", f"Call {call_id} has no output.", *numbers, call=call_id)
        if len(numbers) > 1:
            found.add("R17", f"{len(numbers)} calls have the id {call_id}.", *numbers)
    for (kind, call_id), numbers in answers.items():
        if (kind, call_id) not in asked:
            found.add("R3", f"The output for {call_id} answers no call of the request.", *numbers)
        elif len(numbers) > 1:
            found.add("R18", f"Call {call_id} has {len(numbers)} outputs.", *numbers)


def made_by_model(item: Any) -> bool:
    """Whether the model made an item that reasoning can belong to."""
    kind = kind_of(item)
    return kind in OUTPUT_OF or kind in HOSTED - {"mcp_approval_response"} or (kind == "message" and item.get("role") == "assistant")


def _reasoning(items: list[tuple[int, dict[str, Any]]], found: _Found) -> None:
    """R5 and R6: reasoning that nothing follows; and behind it the first item that may have lost its own."""
    alone: list[tuple[int, dict[str, Any]]] = []
    begun: list[tuple[int, dict[str, Any]]] = []
    for number, item in items:
        if kind_of(item) == "reasoning":
            begun.append((number, item))
            continue
        if made_by_model(item):
            if alone and not begun and ASSIGNED.match(str(item.get("id"))):
                found.add("R6", f"Item {number} ({_named(item)}) may have belonged to reasoning that does not stand before it.", number)
            begun, alone = [], []
        else:
            alone += begun
            _alone(begun, found)
            begun = []
    _alone(begun, found)


def _alone(reasoning: Iterable[tuple[int, dict[str, Any]]], found: _Found) -> None:
    for number, item in reasoning:
        found.add("R5", f"The reasoning {_named(item)} is not followed by the item that it belongs to.", number)


def _named(item: dict[str, Any]) -> str:
    id = item.get("id") or item.get("call_id")
    return id[:80] if isinstance(id, str) else "without an id"


def _ids(items: list[tuple[int, dict[str, Any]]], found: _Found) -> None:
    by_id: dict[str, list[int]] = {}
    for number, item in items:
        id = item.get("id")
        if isinstance(id, str):
            if ASSIGNED.match(id):
                by_id.setdefault(id, []).append(number)
            if len(id) > ID_LIMIT:
                found.add("R13", f"The id of item {number} has {len(id)} characters; {ID_LIMIT} are allowed.", number)
    for id, numbers in by_id.items():
        if len(numbers) > 1:
            found.add("R7", f"{len(numbers)} items have the id {id[:80]}.", *numbers)


def _fields(items: list[tuple[int, dict[str, Any]]], found: _Found) -> None:
    for number, item in items:
        kind = kind_of(item)
        if kind == "reasoning" and not isinstance(item.get("summary"), list):
            found.add("R11", f"The reasoning {_named(item)} has no summary.", number)
        if kind != "function_call":
            continue
        given = item.get("arguments")
        if not isinstance(given, str):
            found.add("R14", f"The call {_named(item)} has no arguments.", number)
        elif given.strip() and isinstance(parsed(given), str) and not given.lstrip().startswith('"'):
            found.add("R16", f"The arguments of the call {_named(item)} are no JSON: they may have been cut off.", number)
