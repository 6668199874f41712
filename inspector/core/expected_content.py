"""What a file would hold after a call that edits it, and what it held before: the two digests that a look at the file is compared with.

A digest is given only where the call's arguments say it exactly. A wrong one could not do harm: a file that matches neither stays unclear.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from . import reading
from .calls import ABSENT, Known
from .operations import SURROGATE, Operation
from .session import Session


@dataclass(frozen=True, slots=True)
class ExpectedContent:
    """Digests (hex SHA-256, or ABSENT) of one file."""

    path: str | None
    """As the call names it."""
    after: str | None
    """None where it can't be told."""
    before: str | None
    """None where it is not known."""
    why: str = ""
    """Why `after` can't be told; empty when it can."""


class CannotTell(Exception):
    """Why the content after a call can't be told."""


def expected_content(tool: str, arguments: Any, before: Known) -> ExpectedContent:
    """Digests for a call of Claude Code's file tools; `arguments` is its parsed JSON, `before` the content that the file had."""
    given = arguments if isinstance(arguments, dict) else {}
    path = next((given[name] for name in ("file_path", "notebook_path") if isinstance(given.get(name), str)), None)
    old = digest_of(before)
    try:
        return ExpectedContent(path, digest_of(content_after(tool, given, before)), old)
    except CannotTell as error:
        return ExpectedContent(path, None, old, str(error))


def expected_of(session: Session, operation: Operation) -> ExpectedContent:
    """Digests for an operation of a session: what was there before is looked up in the client's own backups."""
    given = expected_content(operation.tool, operation.arguments, None)
    if given.path is None or operation.call is None:
        return given
    before: Known = reading.CLIENTS[session.client].content_before(session, operation.call, operation.call_id, given.path)
    return expected_content(operation.tool, operation.arguments, before)


def digest_of(content: Known) -> str | None:
    """Hex SHA-256 of known bytes; ABSENT and None stay what they are."""
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else content


def content_after(tool: str, given: dict[str, Any], before: Known) -> bytes:
    """The content that a call leaves when it runs. Raises CannotTell."""
    if tool == "Write":
        return encoded(text_of(given, "content"))
    if tool == "Edit":
        return encoded(edited(lines_of(before), given))
    if tool == "MultiEdit":
        edits = given.get("edits")
        if not isinstance(edits, list) or not edits:
            raise CannotTell("The call's edits are not recorded.")
        text = lines_of(before)
        for edit in edits:
            text = edited(text, edit if isinstance(edit, dict) else {})
        return encoded(text or "")
    if tool == "NotebookEdit":
        raise CannotTell("The client writes the whole notebook anew, with ids of its own.")
    raise CannotTell(f"What {tool or 'this tool'} leaves in a file is not in its arguments.")


def text_of(given: dict[str, Any], name: str) -> str:
    """An argument that must be text. Raises CannotTell."""
    value = given.get(name)
    if not isinstance(value, str):
        raise CannotTell(f"The call's {name} is not recorded.")
    return value


def encoded(text: str) -> bytes:
    """UTF-8 as the client writes it: halves of surrogate pairs become U+FFFD."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).encode()


def lines_of(before: Known) -> str | None:
    """The text before an edit, None when there was no file. Raises CannotTell where the client would read it otherwise."""
    if before is None:
        raise CannotTell("What the file held before the call is not known.")
    if before == ABSENT or not isinstance(before, bytes):
        return None
    if b"\r" in before:
        raise CannotTell("The file before has line ends that the client may write otherwise.")
    try:
        return before.decode()
    except UnicodeDecodeError:
        raise CannotTell("The file before is not UTF-8.") from None


def edited(text: str | None, edit: dict[str, Any]) -> str:
    """One replacement, as the tool makes it. Raises CannotTell where it would refuse, or might do something else."""
    old, new = text_of(edit, "old_string"), text_of(edit, "new_string")
    if old == new:
        raise CannotTell("Old and new text are the same: the tool refuses that.")
    if old == "":
        if text:
            raise CannotTell("The old text is empty and the file was not: the tool refuses that.")
        return new
    if text is None:
        raise CannotTell("There was no file to edit: the tool refuses that.")
    count = text.count(old)
    if count == 0:
        raise CannotTell("The old text is not in what the file held before the call.")
    if count > 1 and edit.get("replace_all") is not True:
        raise CannotTell(f"The old text is in the file {count} times, not once: the tool refuses that.")
    if new == "" and not old.endswith("\n") and old + "\n" in text:
        raise CannotTell("Text before a line end is deleted: the client may take the line end along.")
    return text.replace(old, new)
