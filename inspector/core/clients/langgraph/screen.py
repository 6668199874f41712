"""What a person saw: the conversation as it stands, what finished tasks have added since, and what waits for an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ...screen import ScreenItem
from ...session import Row, Session
from ...tablerow import DECRYPTED, plain
from .messages import calls_of, message_of, text_of
from .standing import Told, standing_of
from .thread import ERROR, INTERRUPT, Cell, thread_of
from .values import plain_json, shown, stored

ROLES = {"human": "user", "ai": "assistant", "tool": "result", "system": "notice"}


def screen(session: Session) -> list[ScreenItem]:
    """The messages in order; what each task asks a person, or how it failed, behind them."""
    standing = standing_of(thread_of(session))
    items = [item for told in standing.with_recorded for item in _items(told)]
    for _, task in standing.leaves:
        for write in task.writes:
            if write.cell.channel in (INTERRUPT, ERROR):
                says = json.dumps(shown(standing.thread.value(write.cell)), ensure_ascii=False)
                role, verb = ("notice", "asks") if write.cell.channel == INTERRUPT else ("error", "failed")
                items.append(ScreenItem((write.cell.row.ref,), role, f"{task.name} {verb}: {says}"))
    return items


def shown_record(record: dict[str, Any]) -> dict[str, Any]:
    """A row's columns for a person's eyes: what its blob says in place of the blob, objects as `{"module.Name": arguments}`."""
    out = {name: value for name, value in record.items() if name != DECRYPTED}
    for column in ("checkpoint", "value", "blob"):
        if column in record:
            out[column] = shown(stored(record, column))
    if "metadata" in record:
        out["metadata"] = plain_json(plain(record, "metadata"))
    return out


def screen_items(session: Session, rows: Iterable[Row]) -> list[ScreenItem]:
    """What these rows alone showed: the messages in each, or what its task asked."""
    items = []
    for row in rows:
        cell = row.extra
        if isinstance(cell, Cell) and row.type.startswith("writes/"):
            value = stored(session.record(row), cell.column)
            items += [item for each in (value if isinstance(value, list) else [value]) if message_of(each) for item in _items(Told(each, row.ref))]
    return items


def _items(told: Told) -> Iterator[ScreenItem]:
    message, rows = told.message, (told.ref,)
    words = text_of(message)
    kind = str(message["type"])
    if words or kind == "tool":
        yield ScreenItem(rows, "error" if message.get("status") == "error" else ROLES.get(kind, "notice"), words)
    for call in calls_of(message):
        yield ScreenItem(rows, "tool", f"{call.get('name')}({json.dumps(shown(call.get('args')), ensure_ascii=False)})")
