"""The conversation as the client holds it after a resume: one Item per surviving row, its content parsed, ready to be cleaned and sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...session import Row, Session
from .chain import light
from .javascript import as_javascript
from .read import Light

Content = str | list[Any] | None


@dataclass(slots=True)
class Item:
    """A row of the chain, or one that the resume adds, as the client holds it."""

    ref: str
    type: str
    """user | assistant | attachment | system"""
    light: Light
    content: Content = None
    """A message's content, or the text of a local command; never shared with the parsed row."""
    attachment: dict[str, Any] = field(default_factory=dict)
    rendered: list[Any] | None = None
    """Stored rendering of an attachment, where the row has one."""
    rendered_role: str = "system"
    beside_result: bool = False
    """`renderedBesideToolResult`: stands behind a tool result instead of being written into it."""
    result: Any = None
    """`toolUseResult` of a row that holds results."""
    refs: list[str] = field(default_factory=list)
    """Row of each content block, where rows were merged; empty: all blocks are this row's."""
    uuid: str | None = None

    def blocks(self) -> list[dict[str, Any]]:
        """Content blocks that are objects (a string counts as one text block)."""
        if isinstance(self.content, str):
            return [{"type": "text", "text": self.content}]
        return [block for block in self.content or [] if isinstance(block, dict)]

    def calls(self) -> list[str]:
        """Ids of its tool calls, in order."""
        return [str(block.get("id")) for block in self.blocks() if block.get("type") == "tool_use"]

    def results(self) -> list[str]:
        """Ids of the calls that it answers, in order."""
        return [str(block.get("tool_use_id")) for block in self.blocks() if block.get("type") == "tool_result"]

    def is_conversation(self) -> bool:
        return self.type in ("user", "assistant")


def item_of(session: Session, row: Row) -> Item:
    """Parse one row of the chain."""
    value = as_javascript(session.value(row), session.bytes_of(row))
    item = Item(row.ref, row.type.split("/")[0], light(row), uuid=row.id)
    if item.is_conversation():
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            item.content = [dict(b) if isinstance(b, dict) else b for b in content]
        else:
            item.content = content if isinstance(content, str) else None
        item.result = value.get("toolUseResult")
    elif item.type == "attachment":
        item.attachment = value.get("attachment") if isinstance(value.get("attachment"), dict) else {}
        rendered = value.get("rendered")
        item.rendered = rendered if isinstance(rendered, list) else None
        item.rendered_role = value.get("renderedRole") or "system"
        item.beside_result = value.get("renderedBesideToolResult") is True
    else:
        content = value.get("content")
        item.content = content if isinstance(content, str) else None
    return item


def message_groups(items: Iterable[Item]) -> dict[str, list[Item]]:
    """Assistant items by message id; an item without one is a group of its own."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        if item.type == "assistant":
            groups.setdefault(group_of(item), []).append(item)
    return groups


def group_of(item: Item) -> str:
    """Key of the message that an assistant item belongs to."""
    return item.light.message_id or f"row {item.ref}"
