"""Messages as LangChain hands them to a chat model: the form before any provider's own.

Its rules are those that agents of the framework keep themselves, and that nearly all providers demand: calls are answered, answers have a call.
"""

from __future__ import annotations

from typing import Any

from ..state import RuntimeState
from .problems import Problem

NAME = "langchain-messages"
RULES: dict[str, str] = {
    "L1": "Every call has a result.",
    "L2": "Every result has its call before it.",
    "L3": "A call has one result.",
}
"""Rule -> what it demands."""


def build(state: RuntimeState) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The body, and (row, JSON pointer) of each message's place in it."""
    body: dict[str, Any] = {"messages": [message.content[0] for message in state.messages]}
    return body, [(row, f"/messages/{number}") for number, message in enumerate(state.messages) for row in message.rows]


def sent_calls(state: RuntimeState) -> set[str]:
    """Ids of the calls in a state's messages."""
    messages = [message.content[0] for message in state.messages if isinstance(message.content, list) and message.content]
    asked = [message.get("tool_calls") or () for message in messages if isinstance(message, dict) and message.get("type") == "ai"]
    return {call["id"] for calls in asked for call in calls if isinstance(call.get("id"), str)}


def check(body: dict[str, Any], rows_at: dict[str, str]) -> list[Problem]:
    """The problems of a body; `rows_at` leads from a pointer to the row that stands there."""
    found: list[Problem] = []

    def add(rule: str, number: int, says: str, call: str | None = None) -> None:
        pointer = f"/messages/{number}"
        found.append(Problem(rule, pointer, (rows_at[pointer],) if pointer in rows_at else (), says, call=call))

    messages = body["messages"]
    asked: dict[Any, int] = {}
    answers: dict[Any, int] = {}
    for number, message in enumerate(messages):
        if message.get("type") == "ai":
            for call in message.get("tool_calls") or []:
                asked[call.get("id")] = number
        elif message.get("type") == "tool":
            id = message.get("tool_call_id")
            if id not in asked:
                add("L2", number, f"The result for {id} has no call before it.")
            elif id in answers:
                add("L3", number, f"Call {id} is answered a second time.")
            answers[id] = number
    for id, number in asked.items():
        if id not in answers:
            add("L1", number, f"Call {id} has no result.", id if isinstance(id, str) else None)
    return found
