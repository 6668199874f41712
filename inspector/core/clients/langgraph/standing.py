"""Where a thread stands: its newest checkpoint, the tasks of the next step, and what a resume makes of the conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...msgpack import Inert
from .messages import REMOVE_ALL, calls_of, message_of, unanswered
from .tasks import FAILED, RECORDED, START, UNKNOWN, WAITING, Task, leaf_tasks, pending_calls, target, tasks_of
from .thread import OUTSIDE, TASKS, Checkpoint, Thread, Write

MODELS = frozenset(("model", "agent"))
"""Nodes of the prebuilt agents that ask the model."""
HOOKS = (".before_model", ".after_model", ".before_agent", ".after_agent", "pre_model_hook", "post_model_hook")
"""How nodes end that middleware adds around the model."""


@dataclass(slots=True)
class Told:
    """A message of the conversation that a resume goes on with, and the row that it came from."""

    value: Any
    """As decoded: an inert object, or a dictionary."""
    ref: str

    @property
    def message(self) -> dict[str, Any]:
        return message_of(self.value) or {}


@dataclass(slots=True)
class Again:
    """A task that a resume runs before the model is asked."""

    name: str
    id: str
    status: str
    calls: list[dict[str, Any]]
    row: str
    """The row that makes it run: its checkpoint, or the write that asks for it."""


@dataclass
class Standing:
    """Worked out once for a thread; shared by state, screen, ledger and rules."""

    thread: Thread
    newest: Checkpoint | None = field(init=False)

    def __post_init__(self) -> None:
        self.newest = self.thread.newest()

    @cached_property
    def lineage(self) -> list[Checkpoint]:
        """The checkpoints that the newest one came from, oldest first."""
        return self.thread.lineage(self.newest)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks of the graph's own next step."""
        return tasks_of(self.thread, self.newest) if self.newest is not None else []

    @cached_property
    def leaves(self) -> list[tuple[Checkpoint, Task]]:
        """The tasks that would do something: those inside subgraphs instead of the task around them."""
        return list(leaf_tasks(self.thread, self.newest)) if self.newest is not None else []

    @cached_property
    def models(self) -> frozenset[str]:
        """Nodes that have written messages of the model, and those that do by convention."""
        found = {
            write.cell.task_path.rpartition(", ")[2]
            for writes in self.thread.writes.values() for write in writes
            if write.cell.task_path.startswith("~__pregel_pull, ") and any(message["type"] == "ai" for message in write.messages)
        }  # fmt: skip
        return MODELS | found

    def acts(self, task: Task | str) -> bool:
        """Whether a task may have an effect of its own: it neither asks the model, nor is a hook around it, nor takes the input in."""
        name = task if isinstance(task, str) else task.name
        return name != START and name not in self.models and not name.endswith(HOOKS)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do. An empty `next` alone does not say so."""
        return self.newest is not None and self.newest.opaque is None and not self.tasks

    @property
    def lost(self) -> bool:
        """Whether every task has its writes recorded although the checkpoint that takes them in is missing."""
        return bool(self.tasks) and all(task.status == RECORDED for task in self.tasks)

    @cached_property
    def recorded(self) -> list[Write]:
        """Ordinary writes under the newest checkpoint of tasks that are done: a resume takes them in, new input throws them away."""
        return [
            write for task in self.tasks if task.status == RECORDED
            for write in task.writes if not write.cell.special and write.cell.channel != "__no_writes__"
        ]  # fmt: skip

    @cached_property
    def conversation(self) -> list[Told]:
        """The messages of the newest checkpoint, each with the row that first held it."""
        if self.newest is None:
            return []
        name = self.newest.message_channel()
        value = self.newest.channel(name) if name else None
        values = [each for each in value if message_of(each)] if isinstance(value, list) else []
        return [Told(each, self._row_of(message_of(each) or {})) for each in values]

    @cached_property
    def with_recorded(self) -> list[Told]:
        """The same after the recorded writes were taken in."""
        out = list(self.conversation)
        name = self.newest.message_channel() if self.newest is not None else None
        name = name or next((write.cell.channel for write in self.recorded if write.messages), None)
        for write in self.recorded:
            if write.cell.channel != name:
                continue
            value = self.thread.value(write.cell)
            for each in value if isinstance(value, list) and message_of(value) is None else [value]:
                _take_in(out, each, write.cell.row.ref)
        return out

    @cached_property
    def _places(self) -> tuple[dict[Any, str], dict[str, str]]:
        """Message id, and shape of a message, -> the first row on the branch that holds it."""
        by_id: dict[Any, str] = {}
        by_shape: dict[str, str] = {}
        for checkpoint in self.lineage:
            for write in self.thread.writes_of(checkpoint):
                for message in write.messages:
                    if message.get("id"):
                        by_id.setdefault(message["id"], write.cell.row.ref)
                    by_shape.setdefault(_shape(message), write.cell.row.ref)
        return by_id, by_shape

    def _row_of(self, message: dict[str, Any]) -> str:
        by_id, by_shape = self._places
        found = by_id.get(message.get("id")) or by_shape.get(_shape(message))
        return found or (self.newest.row.ref if self.newest is not None else "")

    @cached_property
    def again(self) -> list[Again]:
        """Tasks that a resume runs before it asks the model: those that may have run, those that wait, and those that recorded writes ask for."""
        found = []
        for checkpoint, task in self.leaves:
            if task.status == WAITING or (task.status in (UNKNOWN, FAILED) and self.acts(task)):
                found.append(Again(task.name, task.id, task.status, pending_calls(checkpoint, task), checkpoint.row.ref))
        return found or (self._asked_for() if self.lost else [])

    def _asked_for(self) -> list[Again]:
        """The tasks of the step behind the missing checkpoint."""
        found: list[Again] = []
        open_calls = unanswered([told.message for told in self.with_recorded])
        for write in self.recorded:
            if write.cell.channel == TASKS:
                for send in _sends(self.thread.value(write.cell)):
                    task = Task(str(send.items[0]), "", "", send.items[1])
                    found.append(Again(task.name, "", UNKNOWN, task.calls(), write.cell.row.ref))
            else:
                node = target(write.cell.channel)
                if node is not None and self.acts(node):
                    found.append(Again(node, "", UNKNOWN, open_calls, write.cell.row.ref))
        return [each for each in found if self.acts(each.name)]

    @cached_property
    def orphans(self) -> list[Write]:
        """Ordinary writes under a checkpoint that the store does not hold: later steps ran, and their checkpoint was lost."""
        return [
            write for (ns, checkpoint_id), writes in sorted(self.thread.writes.items()) if checkpoint_id not in self.thread.checkpoints.get(ns, {})
            for write in writes if not write.cell.special
        ]  # fmt: skip

    @cached_property
    def thrown_away(self) -> list[tuple[Checkpoint, Write]]:
        """Messages that tasks on the branch recorded and that no checkpoint took in, because new input or an update came first."""
        found = []
        for before, after in zip(self.lineage, self.lineage[1:], strict=False):
            told = [write for write in self.thread.writes_of(before) if write.messages and not write.cell.special]
            if not told or after.source not in OUTSIDE:
                continue
            if any(each.parent == before.id and each.source not in OUTSIDE for each in self.thread.checkpoints[before.ns].values()):
                continue  # another branch has taken them in
            held = {_shape(message) for message in after.messages()} | {message.get("id") for message in after.messages()} - {None}
            found += [(after, write) for write in told if any(_shape(each) not in held and each.get("id") not in held for each in write.messages)]
        return found


def _sends(value: Any) -> list[Inert]:
    found = value if isinstance(value, list) else [value]
    return [each for each in found if isinstance(each, Inert) and len(each.items) > 1]


def _take_in(out: list[Told], value: Any, ref: str) -> None:
    """The messages reducer on told messages."""
    message = message_of(value)
    if message is None:
        return
    id = message.get("id")
    if message["type"] == "remove":
        out[:] = [] if id == REMOVE_ALL else [told for told in out if told.message.get("id") != id]
        return
    at = next((number for number, told in enumerate(out) if id is not None and told.message.get("id") == id), None)
    if at is None:
        out.append(Told(value, ref))
    else:
        out[at] = Told(value, ref)


def _shape(message: dict[str, Any]) -> str:
    return repr((message.get("type"), message.get("content"), message.get("tool_call_id"), [call.get("id") for call in calls_of(message)]))


def standing_of(thread: Thread) -> Standing:
    """Where a thread stands; worked out once."""
    if thread.standing is None:
        thread.standing = Standing(thread)
    found: Standing = thread.standing
    return found
