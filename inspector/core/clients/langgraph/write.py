"""Rows as a checkpointer writes them: the writes of a task, and their table's columns as the thread has them.

A result that a repair writes says so in its message: `additional_kwargs` holds a mark that providers never see.
"""

from __future__ import annotations

from typing import Any

from ... import tablerow
from ...msgpack import MODEL, Inert
from ...session import Row, Session
from . import advance
from .calls import MARK as MARK
from .messages import message_of, messages_of, unanswered
from .standing import MODELS, Standing, standing_of
from .tasks import RECORDED, TO, Task, tasks_of
from .thread import NO_WRITES, Cell, Checkpoint, Thread, thread_of
from .values import serialized, stored

SQLITE, POSTGRES = "writes", "checkpoint_writes"
COLUMNS = ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "task_path", "idx", "channel", "type")
Values = list[tuple[str, Any]]
"""(channel, decoded value) of a task, in order."""


def tool_message(call_id: str, tool: str, text: str, *, error: bool, id: str, mark: dict[str, Any]) -> Inert:
    """The result of a call, as the tool node would hand it back."""
    fields = {
        "content": text, "additional_kwargs": {MARK: mark}, "response_metadata": {}, "type": "tool", "name": tool, "id": id,
        "tool_call_id": call_id, "artifact": None, "status": "error" if error else "success",
    }  # fmt: skip
    return Inert(MODEL, "langchain_core.messages.tool", "ToolMessage", fields, "model_validate_json")


def other_channels(standing: Standing, checkpoint: Checkpoint, task: Task) -> Values | None:
    """What a finished task of the same node writes besides its messages; None where that can't be told.

    A sibling of the same step says it, else an earlier step of the branch. Before the first one has ended, only the prebuilt agents are sure:
    the answer goes back to the node that asked.
    """
    if standing.thread.encrypted():
        return None
    for each in [checkpoint, *reversed(standing.thread.lineage(checkpoint)[:-1])]:
        for other in tasks_of(standing.thread, each):
            if other.name == task.name and other.status == RECORDED:
                return _besides(standing.thread, other)
    if task.name == "tools" and checkpoint.version < 3:
        # Of an old release, whose channels today's renames and whose tasks it does not find again: the prebuilt agent has these two nodes alone.
        nodes = {node for node in checkpoint.seen if not node.startswith("__")}
        return [(TO + "agent", None)] if nodes <= {"agent", "tools"} else None
    if task.name == "tools":
        asked = {
            each.name for before in standing.thread.lineage(checkpoint)[:-1] for each in tasks_of(standing.thread, before)
            if any(message["type"] == "ai" for write in each.writes for message in write.messages)
        }  # fmt: skip
        if len(asked) == 1 and asked <= MODELS:
            return [(TO + asked.pop(), None)]
    return None


def _besides(thread: Thread, task: Task) -> Values | None:
    found: Values = []
    for write in task.writes:
        if write.messages or write.cell.channel == NO_WRITES:
            continue
        value = thread.value(write.cell)
        if value is not None and value != task.name:  # old releases write the node's name into its channels
            return None
        found.append((write.cell.channel, value))
    return found


def message_channel(standing: Standing, checkpoint: Checkpoint) -> str:
    """The channel that results of tools go to."""
    return checkpoint.message_channel() or "messages"


def task_rows(thread: Thread, checkpoint: Checkpoint, task: Task, values: Values) -> list[bytes]:
    """The lines of a task's writes, with the columns that the thread's tables have."""
    table, columns, column = _layout(thread)
    rows = []
    for idx, (channel, value) in enumerate(values):
        kind, data = serialized(value, as_json=checkpoint.cell.type == "json")
        cells: dict[str, Any] = {
            "thread_id": checkpoint.cell.thread_id, "checkpoint_ns": checkpoint.ns, "checkpoint_id": checkpoint.id, "task_id": task.id,
            "task_path": task.path, "idx": idx, "channel": channel, "type": kind, column: data,
        }  # fmt: skip
        rows.append(tablerow.pack(table, {name: cells[name] for name in columns if name in cells}))
    return rows


def _layout(thread: Thread) -> tuple[str, list[str], str]:
    """Table of writes, its columns in order, and the column of the value; of a thread without writes as today's release has them."""
    for writes in thread.writes.values():
        for write in writes:
            record = thread.session.record(write.cell.row)
            return str(record[tablerow.TABLE]), [name for name in record if name not in (tablerow.TABLE, tablerow.DECRYPTED)], write.cell.column
    postgres = thread.session.source.hints.get("store") == "langgraph-postgres" or bool(thread.blobs)
    column = "blob" if postgres else "value"
    return POSTGRES if postgres else SQLITE, [*COLUMNS, column], column


def last_row(session: Session, checkpoint: Checkpoint) -> Row:
    """The last row of a checkpoint and its writes: new ones stand behind it."""
    rows = [row for row in session.rows if isinstance(row.extra, Cell) and row.part == 0 and row.extra.checkpoint_id == checkpoint.id]
    return next((row for row in reversed(rows) if row.extra.ns == checkpoint.ns), checkpoint.row)


def resolved(session: Session, row: Row, call_id: str, text: str, *, error: bool, mark: dict[str, Any]) -> bytes | None:
    """The row of a write whose result of a call is one that a repair wrote, with other words; None for every other row."""
    cell = row.extra
    if not isinstance(cell, Cell) or not row.type.startswith("writes/"):
        return None
    record = session.record(row)
    value = stored(record, cell.column)
    messages = value if isinstance(value, list) else [value]
    changed = [_reworded(each, call_id, text, error, mark) for each in messages]
    if changed == messages:
        return None
    kind, data = serialized(changed if isinstance(value, list) else changed[0], as_json=cell.type == "json")
    columns = tablerow.unpack(record)
    return tablerow.pack(str(record[tablerow.TABLE]), {**columns, "type": kind, cell.column: data})


def _reworded(value: Any, call_id: str, text: str, error: bool, mark: dict[str, Any]) -> Any:
    message = message_of(value)
    if not isinstance(value, Inert) or message is None or message.get("tool_call_id") != call_id:
        return value
    extra = message.get("additional_kwargs")
    if not isinstance(extra, dict) or not isinstance(extra.get(MARK), dict):
        return value
    fields = {**value.fields, "content": text, "status": "error" if error else "success", "additional_kwargs": {**extra, MARK: mark}}
    return Inert(value.code, value.module, value.name, fields, value.method)


def marked(session: Session, row: Row, call_id: str) -> dict[str, Any]:
    """The mark of a result that a repair wrote; empty where there is none."""
    cell = row.extra
    for message in messages_of(stored(session.record(row), cell.column)) if isinstance(cell, Cell) else ():
        if message.get("tool_call_id") == call_id:
            extra = message.get("additional_kwargs")
            mark = extra.get(MARK) if isinstance(extra, dict) else None
            return mark if isinstance(mark, dict) else {}
    return {}




def open_calls(session: Session) -> list[tuple[str, str]]:
    """(id, tool) of the calls of the conversation without a result that no task of the next step will answer."""
    standing = standing_of(thread_of(session))
    first = {call.get("id") for task in standing.again for call in task.calls}
    found = unanswered([told.message for told in standing.with_recorded])
    return [(call["id"], str(call.get("name") or "")) for call in found if isinstance(call.get("id"), str) and call["id"] not in first]


def closed(session: Session, answers: dict[str, Inert], seed: str, at: str) -> advance.Advanced | None:
    """The checkpoint in which open calls are answered (see `advance.closed`)."""
    return advance.closed(standing_of(thread_of(session)), answers, seed, at)
