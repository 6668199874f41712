"""Apple's transcript: what a new session is given. Its rules are those of the strict decoder (F1 to F6), and of calls and outputs (F7 to F11).

Sources: Apple's documentation of `Transcript`, its Python SDK's fixtures, files of the `fm` tool that were tried against the native decoder.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..clients.apple_workflow.envelope import faults, kind_of
from ..state import RuntimeState
from .problems import Problem

NAME = "apple-transcript"

RULES = {
    "F1": "The envelope is whole JSON of the type FoundationModels.Transcript, with a version and a list of entries.",
    "F2": "Every entry has a role that is known: instructions, user, response, tool, reasoning.",
    "F3": "Every entry and segment has the keys that its kind demands.",
    "F4": "Every segment is of a kind that is known: text, structure, image, attachment.",
    "F5": "The arguments of a call are a text that is itself valid JSON.",
    "F6": "Schemas of tools and response formats have title, x-order, required and additionalProperties.",
    "F7": "Every call is answered by a tool entry before the next prompt or response.",
    "F8": "Every tool entry answers a call that stands before it.",
    "F9": "No two calls have the same id.",
    "F10": "No call is answered twice.",
    "F11": "Instructions stand first, and once.",
}
"""Id -> what holds in a transcript that a session goes on from."""
UNCONFIRMED = frozenset(("F11",))
"""Rules that no refusal confirms: warnings."""


def build(state: RuntimeState) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Body and (row, pointer) places of a state's entries."""
    entries: list[Any] = []
    places: list[tuple[str, str]] = []
    for message in state.messages:
        base = f"/transcript/entries/{len(entries)}"
        entries += message.content
        places += [(row, base) for row in message.rows]
        places += [(row, f"{base}/contents/{segment}") for segment, row in message.riders]
    return {**(state.around or {}), "transcript": {"entries": entries}}, places


def sent_calls(state: RuntimeState) -> set[str]:
    """Ids of the calls in a state's entries."""
    entries = [entry for message in state.messages for entry in message.content]
    return {call["id"] for entry in entries for call in _calls(entry) if isinstance(call.get("id"), str)}


def _calls(entry: Any) -> list[dict[str, Any]]:
    held = entry.get("toolCalls") if isinstance(entry, dict) else None
    return [call for call in held if isinstance(call, dict)] if isinstance(held, list) else []


def check(body: dict[str, Any], rows_at: dict[str, str]) -> list[Problem]:
    """Problems of a body, in order of place."""
    found: list[Problem] = []

    def add(rule: str, message: str, number: int | None) -> None:
        pointer = "/transcript" if number is None else f"/transcript/entries/{number}"
        rows = (rows_at[pointer],) if pointer in rows_at else ()
        found.append(Problem(rule, pointer, rows, message, blocking=rule not in UNCONFIRMED))

    for fault in faults(body):
        add(fault.rule, f"{fault.says[:1].upper()}{fault.says[1:]}.", fault.entry)
    held = body.get("transcript")
    entries = held.get("entries") if isinstance(held, dict) else None
    open_calls: dict[str, int] = {}
    called: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    entries = entries if isinstance(entries, list) else []
    for number, entry in enumerate(entries):
        kind = kind_of(entry)
        if kind in ("prompt", "response"):
            _unanswered(open_calls, add)
        if kind == "instructions" and number:
            add("F11", "Instructions do not stand first.", number)
        for call in _calls(entry):
            id = str(call.get("id"))
            called[id] += 1
            if called[id] > 1:
                add("F9", f"The call id {id} occurs a second time.", number)
            open_calls[id] = number
        if kind == "toolOutput":
            id = str(entry.get("toolCallID"))
            answered[id] += 1
            if not called[id]:
                add("F8", f"The output for {id} has no call before it.", number)
            elif answered[id] > called[id]:
                add("F10", f"Call {id} is answered {answered[id]} times.", number)
            open_calls.pop(id, None)
    _unanswered(open_calls, add)
    return sorted(found, key=lambda problem: _order(problem.pointer))


def _unanswered(open_calls: dict[str, int], add: Any) -> None:
    for id, number in open_calls.items():
        add("F7", f"The call {id} has no output.", number)
    open_calls.clear()


def _order(pointer: str) -> int:
    last = pointer.rpartition("/")[2]
    return int(last) if last.isdigit() else -1
