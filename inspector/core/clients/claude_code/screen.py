"""What a person saw of a transcript in the client's terminal, row by row.

Every item comes from one row, so a window of rows can be shown without reading the others. Text is raw: markdown is not rendered and
nothing is escaped. The client shows tool output as a few lines and newer releases show finished calls as a count; both are `folded`
here and carry their text. The words of the "worked for" line are made up anew each time and are not stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...screen import ScreenItem
from ...session import BlockKind, Row, RowKind, Session
from .read import Light

INTERRUPTED = "Interrupted · What should Claude do instead?"
SENTINEL = "No response requested."
REJECTED = "The user doesn't want to proceed with this tool use."
FEEDBACK = "the user said:\n"
LONGEST_FOLDED = 2000
"""Characters kept of an item that the client itself shows only in part."""
LOOK_BACK = 400
"""Rows looked back for the call of a result."""
TAG = re.compile(
    r"<(command-name|command-args|local-command-stdout|local-command-stderr|bash-input|bash-stdout|bash-stderr|summary)>(.*?)</\1>", re.S
)
SHOWN_CONTEXT = ("queued_command", "file")
PATHS = {"Read": "Read", "Write": "Write", "Edit": "Update", "MultiEdit": "Update", "NotebookEdit": "Update"}
EDITS = {"Write": "write", "Edit": "update", "MultiEdit": "update", "NotebookEdit": "update"}


def screen(session: Session) -> list[ScreenItem]:
    """Everything that the main transcript ever showed, dead branches included, in the order of the file."""
    return screen_items(session, session.main())


def screen_items(session: Session, rows: Iterable[Row]) -> list[ScreenItem]:
    """What these rows showed. Only rows that can show something are parsed, each once."""
    return [item for row in rows if may_show(row) for item in Shown(session, row).items()]


def may_show(row: Row) -> bool:
    """Whether the light row leaves open that the client shows something of it."""
    light = row.extra
    if row.damage or not isinstance(light, Light) or light.meta or (row.sidechain and row.part == 0):
        return False
    if row.kind is RowKind.CONTEXT:
        return light.attachment in SHOWN_CONTEXT
    if row.kind is RowKind.SYSTEM:
        return True
    return row.kind is RowKind.MESSAGE and not light.content_missing


class Shown:
    """The items of one row."""

    def __init__(self, session: Session, row: Row) -> None:
        self.session, self.row = session, row
        self.value = session.record(row)

    def item(self, role: str, text: str, folded: bool = False) -> ScreenItem:
        if folded and len(text) > LONGEST_FOLDED:
            text = f"{text[:LONGEST_FOLDED]}\n… +{len(text) - LONGEST_FOLDED} characters"
        return ScreenItem((self.row.ref,), role, text, folded)

    def items(self) -> Iterator[ScreenItem]:
        if self.row.kind is RowKind.SYSTEM:
            yield from self.system()
        elif self.row.kind is RowKind.CONTEXT:
            yield from self.context()
        else:
            message = self.value.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks if isinstance(blocks, list) else ():
                if isinstance(block, dict):
                    yield from self.assistant(block) if self.row.type == "assistant" else self.user(block)

    # what the client itself notes

    def system(self) -> Iterator[ScreenItem]:
        content, kind = self.value.get("content"), self.row.extra.subtype
        if kind == "turn_duration":
            took = self.value.get("durationMs")
            if isinstance(took, int | float):
                yield self.item("notice", f"Worked for {int(took // 1000)}s")
        elif kind == "compact_boundary":
            metadata = self.value.get("compactMetadata")
            by_hand = isinstance(metadata, dict) and metadata.get("trigger") == "manual"
            yield self.item("notice", "Conversation compacted", folded=by_hand)
        elif kind == "local_command" and isinstance(content, str):
            yield from self.command(content)
        elif kind == "api_error":
            error = self.value.get("error")
            says = error.get("message") if isinstance(error, dict) else content
            yield self.item("error", says if isinstance(says, str) else "The request failed and was tried again.", folded=True)
        elif isinstance(content, str) and content and self.value.get("isMeta") is not True:
            yield self.item("notice", content)

    def context(self) -> Iterator[ScreenItem]:
        attachment = self.value.get("attachment")
        if not isinstance(attachment, dict):
            return
        if attachment.get("type") == "queued_command":
            prompt = attachment.get("prompt")
            texts = (
                [prompt]
                if isinstance(prompt, str)
                else [block.get("text") for block in prompt or () if isinstance(block, dict)]
                if isinstance(prompt, list)
                else []
            )
            for text in texts:
                if isinstance(text, str) and text.startswith("<task-notification>"):
                    yield self.notification(text)
                elif isinstance(text, str) and text:
                    yield self.item("user", text)
        elif isinstance(name := attachment.get("displayPath") or attachment.get("filename"), str):
            content = attachment.get("content")
            file = content.get("file") if isinstance(content, dict) else None
            text = file.get("content") if isinstance(file, dict) else None
            lines = f" ({len(text.splitlines())} lines)" if isinstance(text, str) else ""
            yield self.item("result", f"Read {name}{lines}")

    # a person's side

    def user(self, block: dict[str, Any]) -> Iterator[ScreenItem]:
        kind = block.get("type")
        if kind == "tool_result":
            yield from self.result(block)
        elif kind == "image":
            yield self.item("user", "[Image]")
        elif kind == "text" and isinstance(block.get("text"), str):
            text = block["text"]
            if self.row.extra.compact_summary:
                yield self.item("notice", text, folded=True)
            elif text.startswith("[Request interrupted by user"):
                yield self.item("notice", INTERRUPTED, folded=self.after_rejected_edit())
            elif text.startswith("<task-notification>"):
                yield self.notification(text)
            elif text.lstrip().startswith(("<command-", "<local-command-", "<bash-")):
                yield from self.command(text)
            elif text.strip():
                yield self.item("user", text)

    def command(self, text: str) -> Iterator[ScreenItem]:
        """A slash command or a `!` command with what it printed."""
        tags = {name: inner.strip() for name, inner in TAG.findall(text)}
        if "command-name" in tags:
            yield self.item("user", f"{tags['command-name']} {tags.get('command-args', '')}".strip())
        if "bash-input" in tags:
            yield self.item("user", f"! {tags['bash-input']}")
        for name, role in (
            ("local-command-stdout", "result"),
            ("bash-stdout", "result"),
            ("local-command-stderr", "error"),
            ("bash-stderr", "error"),
        ):
            if tags.get(name):
                yield self.item(role, tags[name])

    def notification(self, text: str) -> ScreenItem:
        tags = dict(TAG.findall(text))
        return self.item("notice", tags.get("summary", text).strip())

    def result(self, block: dict[str, Any]) -> Iterator[ScreenItem]:
        text, failed = result_text(block.get("content")), block.get("is_error") is True
        if self.row.extra.denial == "interrupted":
            yield self.item("notice", INTERRUPTED)
        elif failed and text.startswith(REJECTED):
            tool, path = self.call_of(block.get("tool_use_id"))
            what = f"Rejected {EDITS[tool]} to {path}" if tool in EDITS else "Rejected"
            said = text.partition(FEEDBACK)[2]
            yield self.item("error", f"{what}\n{said}".strip(), folded=tool not in EDITS)
        else:
            yield self.item("error" if failed else "result", text, folded=True)

    def call_of(self, call: Any) -> tuple[str, str]:
        """Tool and path of the call with this id, looked for in the rows before this one."""
        rows = self.session.rows
        at = self.row.index if self.row.part == 0 else rows.index(self.row)
        for row in reversed(rows[max(0, at - LOOK_BACK) : at]):
            if any(block.kind is BlockKind.CALL and block.id == call for block in row.blocks):
                for block in _content_blocks(self.session.value(row)):
                    if block.get("id") == call and isinstance(block.get("name"), str):
                        return block["name"], self.shown_path(block.get("input"))
        return "", ""

    def after_rejected_edit(self) -> bool:
        """The client does not repeat itself behind an edit that was refused."""
        before = self.session.rows[max(0, self.row.index - 6) : self.row.index] if self.row.part == 0 else []
        for row in reversed(before):
            if row.role == "user" and any(block.kind is BlockKind.RESULT for block in row.blocks):
                return any(self.call_of(block.id)[0] in EDITS for block in row.blocks if block.error)
        return False

    # the model's side

    def assistant(self, block: dict[str, Any]) -> Iterator[ScreenItem]:
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str):
            synthetic = self.row.extra.model == "<synthetic>"
            if self.row.extra.api_error:
                yield self.item("error", text)
            elif text.strip() and not (synthetic and text == SENTINEL):
                yield self.item("assistant", text)
        elif kind in ("thinking", "redacted_thinking"):
            thought = block.get("thinking")
            yield self.item("thinking", thought if isinstance(thought, str) else "", folded=True)
        elif kind in ("tool_use", "server_tool_use"):
            yield self.item("tool", self.call(block))

    def call(self, block: dict[str, Any]) -> str:
        """A call as one line: `Bash(ls)`, `Write(notes.txt)`, `Grep(pattern: "x", path: "src")`."""
        name, given = str(block.get("name")), block.get("input")
        if not isinstance(given, dict):
            return f"{name}({'' if given is None else given})"
        if name == "Bash" and isinstance(given.get("command"), str):
            return f"Bash({given['command']})"
        if name in PATHS and (path := self.shown_path(given)):
            return f"{PATHS[name]}({path})"
        if name in ("Agent", "Task") and isinstance(given.get("description"), str):
            return f"{name}({given['description']})"
        pairs = (f'{key}: "{value}"' if isinstance(value, str) else f"{key}: {value}" for key, value in given.items())
        text = ", ".join(pairs)
        return f"{name}({text[:500]}{'…' if len(text) > 500 else ''})"

    def shown_path(self, given: Any) -> str:
        """A file's path as shown: relative where it lies in the working folder of the row."""
        path = given.get("file_path") or given.get("notebook_path") if isinstance(given, dict) else None
        folder = self.value.get("cwd")
        if not isinstance(path, str):
            return ""
        return path.removeprefix(f"{folder}/") if isinstance(folder, str) and folder else path


def _content_blocks(value: Any) -> list[dict[str, Any]]:
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def result_text(content: Any) -> str:
    """The text of a tool result; other blocks by their kind in brackets."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            text = block.get("text")
            parts.append(text if isinstance(text, str) else f"[{str(block.get('type')).capitalize()}]")
    return "\n".join(parts)
