"""Predicates needed twice: the client *will* drop or answer it (resume), we *may* write that down (rule)."""

from __future__ import annotations

import re

from .session import Block, BlockKind, Row

INTERRUPTIONS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
"""Texts that Claude Code writes as a user row when a person stops it."""
LOCAL_COMMANDS = ("<local-command-caveat>", "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>", "<bash-input>",
                  "<bash-stdout>")  # fmt: skip
"""How user rows begin that report a command of the client itself."""
UNKNOWN_OUTCOME = "[Tool call interrupted: the session ended before this call's result was recorded"
"""How the client's own stand-in for a missing result begins (2.1.281 and later)."""
MISSING_RESULT = "[Tool result missing due to internal error]"
"""The stand-in of earlier releases."""
REJECTED = "The user doesn't want to proceed with this tool use."
"""How the text begins that is written for a refused or an interrupted call: it does not prove that nothing ran."""

_TYPE = re.compile(rb'"type"\s*:\s*"([A-Za-z][\w-]{0,39})"')
_CONVERSATION = frozenset((b"user", b"assistant", b"attachment", b"system"))


def blank(blocks: tuple[Block, ...]) -> bool:
    """Whether a message holds nothing but white space."""
    return bool(blocks) and all(block.kind is BlockKind.TEXT and block.blank for block in blocks)


def thinking_only(rows: list[Row]) -> bool:
    """Whether the pieces of one message hold thinking and nothing else."""
    kinds = {block.kind for row in rows for block in row.blocks}
    return kinds == {BlockKind.THINKING}


def interruption(text: str | None) -> bool:
    """Whether a user row's text is the client's own note that a person stopped it."""
    return text is not None and text.startswith(INTERRUPTIONS)


def local_command(text: str | None) -> bool:
    """Whether a user row reports a command of the client itself."""
    return text is not None and text.startswith(LOCAL_COMMANDS)


def stand_in(text: str) -> bool:
    """Whether a result's text is the client's stand-in for a result that was never saved."""
    return text.startswith((UNKNOWN_OUTCOME, MISSING_RESULT))


def cut_record(data: bytes) -> str | None:
    """The type of the record that a cut or broken line began with, or None for bytes that were none."""
    found = _TYPE.search(data[:65536])
    return found[1].decode("ascii") if found and data.lstrip(b" \t\0").startswith(b"{") else None


def of_conversation(data: bytes) -> bool:
    """Whether a cut or broken line held a row of the conversation (and not a record beside it)."""
    return not _CONVERSATION.isdisjoint(_TYPE.findall(data[:65536])) or b'"parentUuid"' in data[:65536]
