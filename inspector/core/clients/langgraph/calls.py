"""Tool calls of a thread, what answered them, and the tasks of which nobody knows whether they ran."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...calls import Answer, Call, Calls, Evidence, Known, Outcome
from ...session import BlockKind, Row, Session
from ...state import RuntimeState
from .messages import calls_of, text_of
from .standing import Standing, standing_of
from .tasks import FAILED, UNKNOWN, WAITING, Task, pending_calls
from .thread import ERROR, INTERRUPT, Cell, Checkpoint, thread_of
from .values import shown

MARK = "session_inspector"
"""Key in `additional_kwargs` of a result that a repair wrote: `{"resolution": …}` where a person decided."""
RESOLVED = {"happened": Outcome.HAPPENED, "did-not-happen": Outcome.DID_NOT_HAPPEN}
REFUSED = re.compile(r"Error: .{0,200} is not a valid tool, try one of |Error invoking tool '.{0,200}' with kwargs ", re.S)
"""Results with which the tool node says that it did not run the tool."""
DENIED = re.compile(r"User rejected the tool call for ")
STAND_IN = re.compile(r"Tool call .{0,400} (?:did not complete - no result was recorded|could not be executed - arguments were malformed)")
"""What middleware writes in place of a result that was never saved: it says so although it does not know."""
NO_START = "The store has no mark that a task was started: it may not have begun, may have died half-way, or after all its effects."


class TaskCall(Call):
    """A task without tool calls, as an operation: its node stands for the tool."""

    __slots__ = ("argument",)

    def __init__(self, task: Task, checkpoint: Checkpoint, order: int) -> None:
        super().__init__(None, task.name, checkpoint.row, checkpoint.row, -1, order)
        self.argument = {**({} if task.argument is None else {"argument": shown(task.argument)}), "task": task.id}


def calls(session: Session) -> Calls:
    """Calls in the order in which they were written; those of which only the newest checkpoint tells stand in its row."""
    standing = standing_of(thread_of(session))
    book = Calls(words=lambda row: words(session, row))
    known: set[str] = set()
    answered: set[str] = set()
    for (_, _), writes in sorted(standing.thread.writes.items(), key=lambda item: item[0][1]):
        for write in writes:
            number = 0
            for message in write.messages if write.cell.row.blocks else ():
                number = _note(book, write.cell.row, message, number, known, answered)
    newest = standing.newest
    if newest is not None and newest.opaque is None:
        number = 0
        for message in newest.messages():
            new = any(call.get("id") not in known for call in calls_of(message)) or (
                message["type"] == "tool" and message.get("tool_call_id") not in answered
            )
            number = _note(book, newest.row, message, number, known, answered) if new else number + _width(message)
    _tasks(standing, book, answered)
    book.remarks = lambda call, answers: _remarks(standing, call, answers)
    return book


def _width(message: dict[str, Any]) -> int:
    return 1 if message["type"] == "tool" else bool(message.get("content")) + len(calls_of(message))


def _note(book: Calls, row: Row, message: dict[str, Any], number: int, known: set[str], answered: set[str]) -> int:
    """Add a message's calls or its result; `number` counts blocks and comes back behind the message."""
    if message["type"] == "tool":
        id = message.get("tool_call_id")
        if isinstance(id, str):
            answered.add(id)
            book.answers.setdefault((0, id), []).append(Answer(row, row, outcome(message), message.get("status") == "error"))
        return number + 1
    number += bool(message.get("content"))
    for call in calls_of(message):
        id = call.get("id")
        if isinstance(id, str):
            known.add(id)
        book.calls.append(Call(id if isinstance(id, str) else None, str(call.get("name") or ""), row, row, number, len(book.calls)))
        number += 1
    return number


def outcome(message: dict[str, Any]) -> Outcome:
    """What a result is worth, told by a repair's mark or by the words that the framework itself writes."""
    extra = message.get("additional_kwargs")
    mark = extra.get(MARK) if isinstance(extra, dict) else None
    if isinstance(mark, dict):
        return RESOLVED.get(str(mark.get("resolution")), Outcome.MARKED)
    text = text_of(message)
    if STAND_IN.match(text):
        return Outcome.STAND_IN
    if message.get("status") == "error":
        if REFUSED.match(text):
            return Outcome.REFUSED
        if DENIED.match(text):
            return Outcome.DENIED
    return Outcome.RESULT


def _tasks(standing: Standing, book: Calls, answered: set[str]) -> None:
    """Calls that wait for a person get an answer that says so; tasks that act without a call become operations of their own."""
    for checkpoint, task in standing.leaves:
        pending = [call for call in pending_calls(checkpoint, task) if call.get("id") not in answered]
        if task.status == WAITING:
            row = next(write.cell.row for write in task.writes if write.cell.channel == INTERRUPT)
            for call in pending:
                if isinstance(call.get("id"), str):
                    book.answers.setdefault((0, call["id"]), []).append(Answer(row, row, Outcome.WAITING, False))
        elif task.status in (UNKNOWN, FAILED) and standing.acts(task) and not pending_calls(checkpoint, task):
            book.calls.append(TaskCall(task, checkpoint, len(book.calls)))


def _remarks(standing: Standing, call: Call, answers: list[Answer]) -> Iterable[Evidence]:
    """What the store says of the task that a call without a result belongs to."""
    if answers:
        return
    for checkpoint, task in standing.leaves:
        ids = [each.get("id") for each in pending_calls(checkpoint, task)]
        if not (task.id == call.argument["task"] if isinstance(call, TaskCall) else call.id in ids):
            continue
        for write in task.writes:
            if write.cell.channel == ERROR:
                says = f"The task failed: {standing.thread.value(write.cell)!s:.300} What it had done by then is not known."
                yield Evidence("task-failed", says, write.cell.row.ref)
        if task.status == UNKNOWN:
            yield Evidence("task-without-writes", NO_START, checkpoint.row.ref, "none")


def arguments(session: Session, call: Call) -> Any:
    """The call's arguments as stored; of a task its id and what was handed to it."""
    if isinstance(call, TaskCall):
        return call.argument
    cell = call.row.extra
    if not isinstance(cell, Cell) or cell.thread is None:
        return None
    standing = standing_of(cell.thread)
    if cell.table == "checkpoints":
        messages = standing.newest.messages() if standing.newest is not None else []
    else:
        writes = cell.thread.writes.get((cell.ns, cell.checkpoint_id), [])
        messages = next((write.messages for write in writes if write.cell is cell), [])
    number = 0
    for message in messages:
        at = call.block - number - bool(message.get("content"))
        found = calls_of(message)
        if message["type"] != "tool" and 0 <= at < len(found):
            return shown(found[at].get("args"))
        number += _width(message)
    return None


def words(session: Session, row: Row) -> str:
    """The text of a row's messages of the model."""
    cell = row.extra
    if not isinstance(cell, Cell) or cell.thread is None or not any(block.kind is BlockKind.TEXT for block in row.blocks):
        return ""
    writes = cell.thread.writes.get((cell.ns, cell.checkpoint_id), [])
    return "\n".join(text_of(message) for write in writes if write.cell is cell for message in write.messages if message["type"] == "ai")


def recorded_request(session: Session, state: RuntimeState) -> None:
    """A checkpointer records no request."""
    return None


def content_before(session: Session, row: str, call_id: str | None, path: str) -> Known:
    """A checkpointer keeps no files."""
    return None
