"""Items of the Responses API as sessions keep them: which kind each is, what it says, what it calls."""

from __future__ import annotations

import json
import re
from typing import Any

from ...jsonspans import NotJson, loads
from ...session import Block, BlockKind

OUTPUT_OF = {
    "function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output", "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output", "apply_patch_call": "apply_patch_call_output", "computer_call": "computer_call_output",
    "tool_search_call": "tool_search_output", "program": "program_output",
}  # fmt: skip
"""Type of a call -> type of the item that answers it, by the same `call_id`."""
OUTPUTS = frozenset(OUTPUT_OF.values())
HOSTED = frozenset((
    "file_search_call", "web_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request",
    "mcp_approval_response", "hosted_tool_call",
))  # fmt: skip
"""What the provider runs itself: such an item holds its own result."""
TYPES = frozenset(("message", "reasoning", "compaction", "item_reference", *OUTPUT_OF, *OUTPUTS, *HOSTED))
TOOLS = {
    "shell_call": "shell", "local_shell_call": "local_shell", "apply_patch_call": "apply_patch", "computer_call": "computer",
    "tool_search_call": "tool_search",
}  # fmt: skip
"""Calls that carry no name: what their tool is called."""
BOOKKEEPING = ("_agents_tool_description", "_agents_tool_title", "created_by")
"""Keys of the SDK's own, which it takes off before it sends an item."""
MARK = re.compile(r"\n?\[session-inspector (\{.*\})\]\s*\Z", re.DOTALL)
"""How a repair marks an output. The mark is part of its text: the provider refuses keys that it does not know, and a session keeps no others."""


def kind_of(item: Any) -> str:
    """The item's type; `message` for one that has only a role; blank for what is no item."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type")
    if isinstance(kind, str) and kind:
        return kind
    return "message" if isinstance(item.get("role"), str) else ""


def call_id_of(item: dict[str, Any]) -> str | None:
    """The id that joins a call with its output."""
    found = item.get("call_id")
    return found if isinstance(found, str) else None


def tool_of(item: dict[str, Any]) -> str:
    """Name of the tool of a call."""
    named = item.get("name")
    kind = kind_of(item)
    return named if isinstance(named, str) and named else TOOLS.get(kind, kind)


def arguments_of(item: dict[str, Any]) -> Any:
    """A call's arguments, parsed where they are JSON text; the text itself where it is not; None where none are stored."""
    kind = kind_of(item)
    if kind == "function_call":
        return parsed(item.get("arguments"))
    if kind == "custom_tool_call":
        return item.get("input")
    held = item.get("operation" if kind == "apply_patch_call" else "action")
    if kind in ("shell_call", "local_shell_call") and isinstance(held, dict):
        commands = held.get("commands", held.get("command"))
        if kind == "shell_call" and isinstance(commands, list) and all(isinstance(each, str) for each in commands):
            commands = "\n".join(commands)
        return {**held, "command": commands}
    return held if held is not None else item.get("arguments")


def parsed(text: Any) -> Any:
    """JSON in a text; the text itself where it holds none."""
    if not isinstance(text, str):
        return text
    try:
        return loads(text.encode("utf-8", "surrogatepass"))
    except NotJson:
        return text


def role_of(item: Any) -> str:
    """user | assistant | system: on whose behalf the item stands in the conversation."""
    kind = kind_of(item)
    if kind == "message":
        role = item.get("role")
        return "assistant" if role == "assistant" else "system" if role in ("system", "developer") else "user"
    return "user" if kind in OUTPUTS or kind == "mcp_approval_response" else "assistant"


def block_of(item: Any) -> Block:
    """The item as one block: every item has exactly one, so that numbers of blocks are numbers of items."""
    kind = kind_of(item)
    if kind == "message":
        parts = item.get("content")
        pictures = isinstance(parts, list) and any(isinstance(each, dict) and str(each.get("type")).startswith("input_") for each in parts)
        return Block(BlockKind.TEXT, blank=not text_of(item).strip() and not pictures)
    if kind == "reasoning":
        return Block(BlockKind.THINKING)
    if kind in OUTPUT_OF:
        return Block(BlockKind.CALL, call_id_of(item), tool_of(item))
    if kind in OUTPUTS:
        return Block(BlockKind.RESULT, call_id_of(item), error=is_error(item))
    if kind in HOSTED:
        return Block(BlockKind.SERVER_CALL, None, kind)
    return Block(BlockKind.OTHER)


def text_of(item: Any) -> str:
    """What the item says, in words: a message's text, a summary of thinking, a tool's output."""
    if not isinstance(item, dict):
        return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    kind = kind_of(item)
    held = item.get("content") if kind == "message" else item.get("summary") if kind == "reasoning" else item.get("output")
    return words_of(held)


def words_of(held: Any) -> str:
    """The text of a content, a summary or an output: a string, or a list of parts."""
    if isinstance(held, str):
        return held
    if isinstance(held, list):
        texts = (each if isinstance(each, str) else _part(each) for each in held)
        return "\n".join(text for text in texts if text)
    return "" if held is None else json.dumps(held, ensure_ascii=False)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return ""
    for key in ("text", "refusal", "transcript"):
        if isinstance(part.get(key), str):
            return str(part[key])
    kind = str(part.get("type", "part")).removeprefix("input_")
    return f"[{kind}]" if kind in ("image", "file", "audio") else json.dumps(part, ensure_ascii=False)


def is_error(item: dict[str, Any]) -> bool:
    """Whether an output says that the tool failed: by its status, or by the words that the SDK itself writes."""
    return item.get("status") in ("failed", "incomplete") or text_of(item).startswith(FAILED)


FAILED = "An error occurred while running the tool."
"""How the output begins that the SDK writes when a tool raised."""
NOT_APPROVED = "Tool execution was not approved."
"""What the SDK writes as the output of a call that a person rejected."""
TIMED_OUT = re.compile(r"Tool '.{1,200}' timed out after [0-9.e+]+ seconds\.")


def mark_of(item: Any) -> dict[str, Any]:
    """The mark that a repair left in an output or a note; empty for every other item."""
    return mark_in(text_of(item)) if kind_of(item) in OUTPUTS or kind_of(item) == "message" else {}


def mark_in(text: str) -> dict[str, Any]:
    """The mark at the end of a text; empty where there is none."""
    found = MARK.search(text)
    held = parsed(found[1]) if found else None
    return held if isinstance(held, dict) else {}


def unmarked(text: str) -> str:
    """An output's text without a repair's mark."""
    return MARK.sub("", text)


def marked(text: str, mark: dict[str, Any]) -> str:
    """The text with a mark at its end."""
    return f"{text}\n[session-inspector {json.dumps(mark, ensure_ascii=False, sort_keys=True, separators=(',', ':'))}]"


def looks_like_item(value: Any) -> bool:
    """Whether a value is an item that no other program's messages are like: of a type of the Responses API, and not a bare message."""
    kind = kind_of(value)
    if kind == "message" and value.get("type") == "message":
        parts = value.get("content")
        kinds = {each.get("type") for each in parts if isinstance(each, dict)} if isinstance(parts, list) else set()
        return bool(kinds & {"output_text", "input_text", "refusal"})
    if kind in OUTPUT_OF or kind in OUTPUTS:
        return "call_id" in value and kind not in ("program", "program_output")
    return kind == "reasoning" and "summary" in value
