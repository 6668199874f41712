"""A provider's error text, pasted by a person -> the rules that it names and the places that it speaks of.

Indices in such texts count the messages of the request that was refused. The request derived here may hold messages of the role system that
an older model's request did not hold, so an index is tried both ways, and the ids that the text names are trusted more than any index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..session import Session
from .problems import CODE_OF, Problem


@dataclass(frozen=True, slots=True)
class Match:
    """One rule that the text names, and where in the request it points."""

    rule: str
    """Id of the rule (A1, B2, R3, C1, G1), or the provider's name for trouble of its own (overloaded, rate-limit, server-error)."""
    same_as: str
    """Id of the Anthropic Messages rule that asks the same; equal to `rule` for those, "" where none does."""
    ids: tuple[str, ...] = ()
    """Call ids that the text names."""
    message: int | None = None
    content: int | None = None
    pointers: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    code: str = ""
    """Code of the help page about it, where there is one."""
    says: str = ""
    """For trouble that no session causes: what to do."""
    how: str = ""
    """What the places rest on: id | problem | index | row (the call is in the session, not in the request); "" when nothing was found."""


_TEXTS: tuple[tuple[str, str, str], ...] = (
    # rule, the Anthropic rule that asks the same, what the text says (white space and quotes are made alike before)
    ("A1", "A1", r"tool_use` ids were found without `tool_result` blocks"),
    ("A2", "A2", r"unexpected `tool_use_id` found in `tool_result` blocks"),
    ("A3", "A3", r"`tool_use` ids must be unique"),
    ("A4", "A4", r"each tool_use must have a single result|multiple `tool_result` blocks with id|api protocol violation"),
    ("A7", "A7", r"blocks in the latest assistant message cannot be modified"),
    ("A8", "A8", r"final block in an assistant message cannot be `?(?:redacted_)?thinking"),
    ("A9", "A9", r"expected `?thinking`? or `?redacted_thinking"),
    ("A10", "A10", r"invalid `?signature`? in `?thinking`? block"),
    ("A11", "A11", r"text content blocks must be non-?empty|text content blocks must contain non-whitespace"),
    ("A12", "A12", r"cache_control cannot be set for empty text blocks"),
    ("A13", "A13", r"does not support assistant message prefill|conversation must end with a user message"),
    ("A14", "A14", r"final assistant content cannot end with trailing whitespace"),
    ("A15", "A15", r"image dimensions exceed max allowed size|max allowed size: \d+ pixels|image exceeds \d+ mb maximum"),
    ("A16", "A16", r"tool_use\.name: string should have at most \d+ characters"),
    ("A17", "A17", r"tool_use\.input: input should be a valid dictionary"),
    ("A18", "A18", r"no low surrogate in string|invalid high surrogate|invalid low surrogate"),
    ("A19", "A19", r"`?(?:server_tool_use|\w+_tool_result)`? .{0,80}without (?:a )?corresponding"),
    ("B1", "A1", r"expected toolresult blocks at messages"),
    ("B2", "A2", r"number of toolresult blocks at messages\.\d+\.content exceeds the number of tooluse blocks"),
    ("B3", "A5", r"did not find \d+ `tool_result` block\(s\) at the beginning of this message"),
    ("B4", "", r"toolresult cannot be empty when status value is error"),
    ("B5", "", r"toolconfig field must be defined when using tooluse and toolresult"),
    ("R1", "A1", r"no tool output found for function call"),
    ("R2", "A1", r"no tool output found for custom tool call"),
    ("R3", "A2", r"no tool call found for function call output"),
    ("R5", "", r"of type 'reasoning' was provided without its required following item"),
    ("R6", "", r"was provided without its required 'reasoning' item"),
    ("R7", "", r"duplicate item found with id"),
    ("R8", "", r"items are not persisted when `?store`? is set to false"),
    ("R9", "A10", r"encrypted content .{0,80}could not be verified|invalid_encrypted_content|organization_id did not match"),
    ("R11", "", r"missing required field summary"),
    ("R12", "", r"reasoning input items can only be provided to a reasoning"),
    ("R13", "", r"invalid 'input\[\d+\]\.id': string too long"),
    ("R14", "A17", r"missing required parameter: 'input\[\d+\]\.arguments'"),
    ("R15", "", r"context_length_exceeded"),
    ("C1", "A1", r"an assistant message with 'tool_calls' must be followed by tool messages"),
    ("C2", "A2", r"messages with role 'tool' must be a response to a prece+ding message with 'tool_calls'"),
    ("C3", "A1", r"found aimessages with tool_calls that do not have a corresponding toolmessage|invalid_chat_history"),
    ("C4", "A13", r"expected last role to be one of"),
    ("G1", "A1", r"number of function response parts is equal to the number of function call parts"),
    ("G2", "", r"function call turn comes immediately after a user turn"),
    ("G3", "A2", r"function response turn comes immediately after a function call turn"),
    ("G4", "", r"missing a thought_signature in functioncall"),
)
_PATTERNS = tuple((rule, same, re.compile(text)) for rule, same, text in _TEXTS)
_TROUBLE = (
    ("overloaded", re.compile(r"overloaded_error|\b529\b.{0,20}\boverloaded|(?:api error|error|status|http)(?: code)?\W{0,3}529\b")),
    ("rate-limit", re.compile(r"rate_limit_error|(?:api error|error|status|http)(?: code)?\W{0,3}429\b")),
    ("server-error", re.compile(r"(?<![a-z_])api_error(?![a-z_])|internal server error|(?:api error|error|status|http)(?: code)?\W{0,3}50[0234]\b")),
)
OWN_TROUBLE = "The provider's own trouble: try again later; nothing in the session causes it."
_INDEX = re.compile(r"\b(?:messages|input|contents)[.\[](\d+)\]?(?:\.content\.(\d+))?")
_CALL_ID = re.compile(r"\b(?:toolu|tooluse|srvtoolu|call|fc)_(?!ids?\b)[A-Za-z0-9_-]+")
_ID = re.compile(r"[A-Za-z0-9_-]{4,100}")
_INPUT = re.compile(r"\binput\[(\d{1,6})\]", re.IGNORECASE)
LONGEST = 100_000
"""Characters of a pasted text that are read."""


def messages_of(text: str) -> str:
    """The provider's own words: `message` of a JSON error anywhere in the text (one error may wrap another), else the text."""
    text = text[:LONGEST]
    for _ in range(3):
        start = text.find("{")
        try:
            value, _end = json.JSONDecoder().raw_decode(text, start) if start >= 0 else (None, 0)
        except (ValueError, RecursionError):
            break
        inner = value.get("error", value) if isinstance(value, dict) else None
        message = inner.get("message") if isinstance(inner, dict) else inner
        if not isinstance(message, str):
            break
        text = message
    return text


def _alike(text: str) -> str:
    text = re.sub(r"[‘’]", "'", text.replace('\\"', '"'))
    return re.sub(r"\s+", " ", text).lower()


def explain(
    text: str,
    body: dict[str, Any] | None = None,
    rows_at: dict[str, str] | None = None,
    problems: list[Problem] | None = None,
    session: Session | None = None,
) -> list[Match]:
    """The rules that an error text names, in the order of the table, with their places where a request is given.

    `rows_at` maps a block's pointer to its row; `problems` are those of the same body. An error that no session causes
    (overload, rate limit, a fault of the provider) is told as one match with `says` and without places. Nothing recognised: an empty list.
    """
    words = messages_of(text)
    alike = _alike(words)
    found = _INDEX.search(words)
    message = int(found[1]) if found else None
    content = int(found[2]) if found and found[2] else None
    ids = tuple(dict.fromkeys(_CALL_ID.findall(words)))
    matches = []
    for rule, same_as, pattern in _PATTERNS:
        if not pattern.search(alike):
            continue
        if body and isinstance(body.get("input"), list):
            pointers, how = _items(rule, words, body["input"], problems or [])
        else:
            pointers, how = _places(same_as, ids, message, content, body, problems or []) if body else ((), "")
        rows = _rows(pointers, rows_at or {})
        if not pointers and session is not None and ids:
            rows = tuple(row.ref for row in session.rows if any(block.id in ids for block in row.blocks))
            how = "row" if rows else ""
        matches.append(Match(rule, same_as, ids, message, content, pointers, rows, code=CODE_OF.get(same_as, "") or CODE_OF.get(rule, ""), how=how))
    return matches or _trouble(text)


def _trouble(text: str) -> list[Match]:
    """What the provider says of itself, by the type or the status of its error; at most one match."""
    said = _alike(text[:LONGEST])
    return [Match(name, name, says=OWN_TROUBLE) for name, pattern in _TROUBLE if pattern.search(said)][:1]


def _items(rule: str, words: str, items: list[Any], problems: list[Problem]) -> tuple[tuple[str, ...], str]:
    """Places in a request that is a list of items: those whose ids the text names, else those that break the rule, else the one at its index."""
    held = [(f"/input/{number}", (item.get("call_id"), item.get("id"))) for number, item in enumerate(items) if isinstance(item, dict)]
    said = set(_ID.findall(words))
    named = tuple(pointer for pointer, ids in held if any(isinstance(id, str) and id in said for id in ids))
    if named:
        return named, "id"
    of_rule = tuple(problem.pointer for problem in problems if problem.rule == rule)
    if of_rule:
        return of_rule, "problem"
    found = _INPUT.search(words)
    at = f"/input/{found[1]}" if found else ""
    return ((at,), "index") if at in dict(held) else ((), "")


def _places(
    rule: str, ids: tuple[str, ...], message: int | None, content: int | None, body: dict[str, Any], problems: list[Problem]
) -> tuple[tuple[str, ...], str]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        return (), ""
    named = tuple(pointer for pointer, block in _all_blocks(messages) if block.get("id") in ids or block.get("tool_use_id") in ids)
    if named:
        return named, "id"
    bases = [f"/messages/{number}/content" for number in _numbers(messages, message)]
    of_rule = [problem.pointer for problem in problems if problem.rule == rule]
    there = tuple(pointer for base in bases for pointer in of_rule if pointer == base or pointer.startswith(f"{base}/"))
    if there or of_rule:
        return there or tuple(of_rule), "problem"
    if not bases:
        return (), ""
    blocks = [pointer for pointer, _ in _all_blocks(messages) if pointer == bases[0] or pointer.startswith(f"{bases[0]}/")]
    exact = f"{bases[0]}/{content}"
    return ((exact,) if exact in blocks else tuple(blocks)), "index"


def _numbers(messages: list[Any], message: int | None) -> list[int]:
    """Positions that an index may mean: as it stands, and counted without the messages of the role system."""
    if message is None:
        return []
    spoken = [number for number, item in enumerate(messages) if isinstance(item, dict) and item.get("role") != "system"]
    numbers = [message] if message < len(messages) else []
    if message < len(spoken) and spoken[message] not in numbers:
        numbers.append(spoken[message])
    return numbers


def _all_blocks(messages: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield f"/messages/{number}/content", {}
        for at, block in enumerate(content if isinstance(content, list) else []):
            if isinstance(block, dict):
                yield f"/messages/{number}/content/{at}", block


def _rows(pointers: tuple[str, ...], rows_at: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rows_at[pointer] for pointer in pointers if pointer in rows_at))
