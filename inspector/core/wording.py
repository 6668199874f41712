"""Names and numbers as findings say them: short, on one line, never longer than a person reads."""

from __future__ import annotations

import re
from typing import Any

from .session import Block, BlockKind, Row, Session

_SENTENCE = re.compile(r"(?:`[^`]*`|[^`])*?\.(?= [A-Z0-9]|$)")
TELLING = ("command", "file_path", "notebook_path", "path", "url", "pattern", "query", "description", "subject", "prompt")
"""Arguments that say best what a call is about, the most telling first."""


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 row`, `12 rows`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int) -> str:
    """`640 bytes`, `12 kB`, `3.4 MB` (powers of ten)."""
    if number < 1000:
        return count(number, "byte")
    return f"{number / 1000:.0f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def short(text: object, limit: int = 60) -> str:
    """One line of at most `limit` characters, without control characters."""
    line = " ".join(str(text)[: 4 * limit].split())
    line = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def call(session: Session, row: Row, block: Block) -> str:
    """`Bash: ./rollout.sh staging`, in back ticks."""
    return operation(block.name or "a tool without a name", arguments(session, row, block))


def operation(tool: str, given: Any) -> str:
    """The same, of a tool's name and its arguments."""
    telling = short(about(given))
    return f"`{short(tool, 40)}: {telling}`" if telling else f"`{short(tool, 40)}`"


def arguments(session: Session, row: Row, block: Block) -> Any:
    """The call's arguments as stored, or None."""
    content = blocks_of(session.value(row))
    number = next((number for number, each in enumerate(row.blocks) if each is block), None)
    if number is None or number >= len(content) or block.kind is not BlockKind.CALL:
        return None
    found = content[number]
    return found.get("input") if isinstance(found, dict) else None


def blocks_of(value: Any) -> list[Any]:
    """Content blocks of a message row's value; a string counts as one text block."""
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def about(given: Any) -> str:
    """The argument that says best what a call is about, whole; blank where none is text."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return ""
    named = next((given[name] for name in TELLING if isinstance(given.get(name), str)), None)
    return named or next((each for each in given.values() if isinstance(each, str)), "")


def where(session: Session, row: Row) -> str:
    """` in sub-agent a1b2` for rows of a sub-agent's transcript, else nothing."""
    agent = session.agents.get(row.part)
    return f" in sub-agent {short(agent, 20)}" if agent else ""


def clause(text: str) -> str:
    """A text's first sentence as part of another: without its full stop, and in lower case at its start. Back ticks are not looked into."""
    found = _SENTENCE.match(text)
    first = (found[0] if found else text).removesuffix(".")
    return first[:1].lower() + first[1:]
