"""LangGraph: lines of a store's rows -> Session. Blobs are decoded later, when somebody asks."""

from __future__ import annotations

from typing import Any

from ... import ids, tablerow
from ...jsonspans import NotJson, lines, loads
from ...session import Block, BlockKind, Row, RowKind, Session
from ...source import Source
from .messages import calls_of, messages_of
from .thread import CHECKPOINTS, Cell, Thread, attach
from .values import stored

WRITES = ("writes", "checkpoint_writes")
BLOBS = "checkpoint_blobs"
KINDS = ("langgraph-sqlite", "langgraph-postgres")


def sniff(source: Source) -> bool:
    """Whether a store's capture says so, or the first line is a row of a checkpointer's table."""
    if source.hints.get("store") in KINDS:
        return True
    if not source.parts or source.parts[0].data[0:10] != b'{"table":"':
        return False
    first = next(lines(source.parts[0].data), (0, 0, b""))[2]
    try:
        record = loads(first)
    except NotJson:
        return False
    return isinstance(record, dict) and record.get(tablerow.TABLE) in (CHECKPOINTS, *WRITES) and "checkpoint_ns" in record


def read(source: Source) -> Session:
    """One row for each row of the tables. Writes are decoded for the calls in them; checkpoints are not."""
    session = Session(client="langgraph", source=source, rows=[], id=source.hints.get("thread"))
    thread = Thread(session)
    for number, part in enumerate(source.parts):
        for index, (start, end, data) in enumerate(lines(part.data)):
            row = Row(number, index, start, end, RowKind.BLANK, "blank-line")
            if data.strip():
                _fill(row, data, thread)
            session.rows.append(row)
    session.id = session.id or next((row.extra.thread_id for row in session.rows if row.extra), None)
    attach(session, thread)
    session.title = thread.title()
    return session


def read_line(part: int, index: int, start: int, end: int, data: bytes, last: bool) -> Row:
    """One row alone: what a window of rows needs of it."""
    row = Row(part, index, start, end, RowKind.BLANK, "blank-line")
    if data.strip():
        _fill(row, data, Thread(Session("langgraph", Source("row", ()), [])))
    return row


def _fill(row: Row, data: bytes, thread: Thread) -> None:
    try:
        record = loads(data)
    except NotJson:
        row.kind, row.type, row.damage = RowKind.DAMAGED, "unparseable", "unparseable"
        return
    if not isinstance(record, dict) or not isinstance(record.get(tablerow.TABLE), str):
        row.kind, row.type = RowKind.UNKNOWN, "unknown"
        return
    table = record[tablerow.TABLE]
    row.type, row.kind = table, RowKind.RECORD
    cell = Cell(row, table, record)
    if table == CHECKPOINTS:
        row.extra = cell
        if "checkpoint_id" not in record:  # a shallow saver keeps the last checkpoint only, and its id inside
            content = stored(record, "checkpoint")
            cell.checkpoint_id = str(content.get("id") or "") if isinstance(content, dict) else ""
        row.id, row.parent = cell.checkpoint_id, cell.parent
        row.at = ids.time_of(cell.checkpoint_id)
        thread.add_checkpoint(cell)
    elif table in WRITES:
        row.extra = cell
        row.type, row.parent, row.at = f"{WRITES[0]}/{cell.channel}", cell.checkpoint_id, ids.time_of(cell.checkpoint_id)
        row.id = f"{cell.task_id}/{cell.idx}"
        found = messages_of(stored(record, cell.column))
        if found and not cell.special:
            row.kind, row.role = RowKind.MESSAGE, _role(found)
            row.blocks = tuple(block for message in found for block in _blocks(message))
        thread.add_write(cell, found)
    elif table == BLOBS:
        row.extra = cell
        thread.add_blob(cell)
    else:
        row.kind = RowKind.UNKNOWN


def _role(messages: list[dict[str, Any]]) -> str:
    return "assistant" if any(message["type"] == "ai" for message in messages) else "user"


def _blocks(message: dict[str, Any]) -> list[Block]:
    if message["type"] == "tool":
        return [Block(BlockKind.RESULT, _text(message.get("tool_call_id")), error=message.get("status") == "error")]
    words = [Block(BlockKind.TEXT)] if message.get("content") else []
    return words + [Block(BlockKind.CALL, _text(call.get("id")), _text(call.get("name"))) for call in calls_of(message)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
