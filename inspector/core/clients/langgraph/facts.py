"""What a resumed graph holds, as facts: counts, the newest checkpoint, its messages, channels, tasks and what they wait for."""

from __future__ import annotations

from typing import Any

from ...state import Fact, Restored
from .messages import brief
from .standing import Standing
from .tasks import RECORDED, Task
from .thread import ERROR, INTERRUPT, RESUME, ROOT, Checkpoint
from .values import shown

ALWAYS = Restored(normal=True, fork=True, path=True, switch=True)


def facts_of(standing: Standing) -> list[Fact]:
    """All facts of a thread, in the order of a page."""
    thread, newest = standing.thread, standing.newest
    counted = Fact("checkpoints", thread.count(), True, (), ALWAYS, "Of all namespaces.")
    if newest is None:
        return [counted, Fact("newest", None, False, (), ALWAYS, "The store holds no checkpoint of this thread.")]
    row = (newest.row.ref,)
    found = [
        counted,
        Fact("newest", newest.id, True, row, ALWAYS, "A resume starts here: the highest id, on whatever branch it is."),
        Fact("metadata", shown(newest.metadata), True, row, ALWAYS),
        Fact("namespaces", sorted(ns for ns in thread.checkpoints if ns != ROOT), True, (), ALWAYS, "Subgraphs that have checkpoints of their own."),
    ]
    if newest.opaque is not None:
        return [*found, Fact("messages", None, False, row, ALWAYS, f"The checkpoint can't be read: {newest.opaque.why}.")]
    tasks = standing.tasks
    return [
        *found,
        Fact("messages", [brief(message) for message in newest.messages()], True, row, ALWAYS),
        Fact("tasks", [_task(task) for task in tasks], True, _rows(tasks, newest), ALWAYS, _remark(standing)),
        Fact("next", [task.name for task in tasks if task.status != RECORDED], True, row, ALWAYS, "What the framework itself calls next."),
        Fact("finished", standing.finished, True, row, ALWAYS, "Nothing is left to do: no task can be derived from the newest checkpoint."),
        Fact("interrupts", _told(standing, INTERRUPT), True, (), ALWAYS, "What tasks ask a person."),
        Fact("answers", _told(standing, RESUME), True, (), ALWAYS, "Answers of a person that are kept for the next run."),
        Fact("errors", _told(standing, ERROR), True, (), ALWAYS, "How tasks failed. What they had done by then is not known."),
        Fact("channels", _channels(newest), True, row, ALWAYS),
        Fact("branches", [leaf.id for leaf in thread.leaves()], True, tuple(leaf.row.ref for leaf in thread.leaves()), ALWAYS),
    ]  # fmt: skip


def _task(task: Task) -> dict[str, Any]:
    return {"name": task.name, "id": task.id, "status": task.status}


def _rows(tasks: list[Task], newest: Checkpoint) -> tuple[str, ...]:
    return tuple(dict.fromkeys([newest.row.ref, *(write.cell.row.ref for task in tasks for write in task.writes)]))


def _remark(standing: Standing) -> str:
    if standing.lost:
        return "All are recorded and the checkpoint that takes them in is missing: next is empty, and the thread is not finished."
    return "" if standing.tasks else "None: the thread is finished."


def _told(standing: Standing, channel: str) -> list[Any]:
    """Values of a special channel under the newest checkpoint, those of subgraphs that run there too."""
    places = {checkpoint.id: checkpoint for checkpoint, _ in standing.leaves}
    if standing.newest is not None:
        places[standing.newest.id] = standing.newest
    thread = standing.thread
    return [shown(thread.value(write.cell)) for each in places.values() for write in thread.writes_of(each) if write.cell.channel == channel]


def _channels(newest: Checkpoint) -> dict[str, Any]:
    """Every channel but the messages, which have a fact of their own."""
    conversation = newest.message_channel()
    return {name: shown(value) for name, value in sorted(newest.values.items()) if name != conversation}
