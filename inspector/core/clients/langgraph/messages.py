"""LangChain messages in stored values -> plain dictionaries, and the reducer by which a list of messages takes in another one."""

from __future__ import annotations

from typing import Any

from ...msgpack import Inert

TYPES = {
    "HumanMessage": "human", "AIMessage": "ai", "SystemMessage": "system", "ToolMessage": "tool", "FunctionMessage": "function",
    "ChatMessage": "chat", "RemoveMessage": "remove",
}  # fmt: skip
"""Class -> the type that its messages carry."""
ROLES = {"user": "human", "assistant": "ai", "developer": "system"}
REMOVE_ALL = "__remove_all__"
MESSAGES = "messages"
"""Channel that holds the conversation, by the convention of every prebuilt agent."""


def message_of(value: Any) -> dict[str, Any] | None:
    """One message as its fields (`type`, `content`, `tool_calls`, …); None for any other value."""
    if isinstance(value, Inert):
        kind = TYPES.get(value.name.removesuffix("Chunk"))
        return {**value.fields, "type": kind} if kind and isinstance(value.argument, dict) else None
    if isinstance(value, dict) and "content" in value:
        kind = value.get("type") or value.get("role")
        return {**value, "type": ROLES.get(kind, kind)} if isinstance(kind, str) else None
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0] in {*ROLES, *TYPES.values()}:
        return {"type": ROLES.get(value[0], value[0]), "content": value[1]}
    return None


def messages_of(value: Any) -> list[dict[str, Any]]:
    """The messages of a channel's value or of a task's write: a list, or one alone."""
    one = message_of(value)
    if one is not None:
        return [one]
    return [message for message in map(message_of, value) if message is not None] if isinstance(value, list) else []


def is_messages(value: Any) -> bool:
    """Whether a value is a message, or a list of nothing but messages."""
    return message_of(value) is not None or (isinstance(value, list) and bool(value) and all(message_of(each) is not None for each in value))


def merged(held: list[Any], written: Any) -> list[Any]:
    """What the messages reducer makes of a list and an update, values as decoded: same id replaces, `RemoveMessage` removes."""
    update = written if isinstance(written, list) and message_of(written) is None else [written]
    out = list(held)
    for value in update:
        message = message_of(value)
        if message is None:
            continue
        id = message.get("id")
        if message["type"] == "remove":
            out = [] if id == REMOVE_ALL else [each for each in out if _id(each) != id]
            continue
        at = next((number for number, each in enumerate(out) if id is not None and _id(each) == id), None)
        if at is None:
            out.append(value)
        else:
            out[at] = value
    return out


def _id(value: Any) -> Any:
    message = message_of(value)
    return message.get("id") if message else None


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool calls of a message, each with `id`, `name` and `args`."""
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) and message.get("type") == "ai" else []


def text_of(message: dict[str, Any]) -> str:
    """The words of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block if isinstance(block, str) else block["text"]
        for block in blocks if isinstance(block, str) or (isinstance(block, dict) and isinstance(block.get("text"), str))
    )  # fmt: skip


def brief(message: dict[str, Any]) -> dict[str, Any]:
    """A message as the fact `messages` tells it."""
    return {
        "type": message.get("type"), "content": message.get("content"), "tool_calls": [call.get("id") for call in calls_of(message)],
        "tool_call_id": message.get("tool_call_id"),
    }  # fmt: skip


def unanswered(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tool calls without a result, in order."""
    answered = {message.get("tool_call_id") for message in messages if message.get("type") == "tool"}
    return [call for message in messages for call in calls_of(message) if call.get("id") not in answered]
