"""Which tasks a resume finds: told from a checkpoint alone, with what the writes under it say of each.

The framework itself works tasks out from its graph. The store holds enough to do the same: triggers are channels that a node has not yet seen in
their newest version, `Send`s are a channel, and the id of a task is a hash over where it stands. There is no mark that says that a task was
started: one without writes may not have begun, may have died half-way, or may have died after all its effects.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import xxhash

from ...msgpack import Inert
from .messages import calls_of, unanswered
from .thread import ERROR, INTERRUPT, NULL_TASK, SPECIAL, TASKS, Checkpoint, Thread, Write

PULL, PUSH = "__pregel_pull", "__pregel_push"
START = "__start__"
RECORDED, WAITING, FAILED, UNKNOWN = "recorded", "waiting", "failed", "unknown"
TO, JOIN, BRANCH, BEGIN = "branch:to:", "join:", "branch:", "start:"
PATH = re.compile(r"^~(__pregel_pull|__pregel_push), ([^,]+)(?:, (.*))?$")


@dataclass(slots=True)
class Task:
    """One task of the next step."""

    name: str
    """Its node; blank where the store does not say."""
    id: str
    kind: str
    """PULL | PUSH"""
    argument: Any = None
    """What a `Send` hands to its node."""
    index: int = -1
    """Place of its `Send`."""
    writes: list[Write] = field(default_factory=list)

    @property
    def status(self) -> str:
        """recorded | waiting | failed | unknown."""
        channels = {write.cell.channel for write in self.writes}
        if channels - SPECIAL:  # also where an earlier attempt has left an error
            return RECORDED
        if ERROR in channels:
            return FAILED
        return WAITING if INTERRUPT in channels else UNKNOWN

    @property
    def path(self) -> str:
        """`task_path` as the framework writes it."""
        return f"~{PUSH}, {self.index:010d}, {0:010d}" if self.kind == PUSH else f"~{PULL}, {self.name}"

    def calls(self) -> list[dict[str, Any]]:
        """Tool calls that a `Send` hands over."""
        found = self.argument
        if isinstance(found, dict):
            found = [found.get("tool_call")] if isinstance(found.get("tool_call"), dict) else []
        return [call for call in found if isinstance(call, dict) and "name" in call and "args" in call] if isinstance(found, list) else []


def tasks_of(thread: Thread, checkpoint: Checkpoint) -> list[Task]:
    """The tasks that a resume at this checkpoint finds, with the writes that each has left."""
    if checkpoint.opaque is not None:
        return []
    found = [*_pushed(checkpoint), *_pulled(thread, checkpoint)]
    by_id = {task.id: task for task in found}
    for write in thread.writes_of(checkpoint):
        id = write.cell.task_id
        if id not in by_id and id != NULL_TASK and (task := _told(checkpoint, write)) is not None:
            same = next((each for each in found if (each.kind, each.name, each.index) == (task.kind, task.name, task.index)), None)
            if same is None:
                found.append(task)
            else:
                same.id = id
            by_id[id] = same or task
        if id in by_id:
            by_id[id].writes.append(write)
    return found


def _pushed(checkpoint: Checkpoint) -> Iterator[Task]:
    sends = checkpoint.values.get(TASKS)
    for number, send in enumerate(sends if isinstance(sends, list) else ()):
        items = send.items if isinstance(send, Inert) else []
        if items and isinstance(items[0], str):
            id = task_id(checkpoint, items[0], PUSH, [str(number)])
            yield Task(items[0], id, PUSH, items[1] if len(items) > 1 else None, number)


def _pulled(thread: Thread, checkpoint: Checkpoint) -> Iterator[Task]:
    triggers = _triggers(thread, checkpoint)
    for node in sorted(triggers):
        if any(_fires(checkpoint, node, channel) for channel in triggers[node]):
            # What old releases named otherwise, today's renames before it makes the id.
            named = {channel if channel.startswith((JOIN, TO)) or channel == START else TO + node for channel in triggers[node]}
            yield Task(node, task_id(checkpoint, node, PULL, sorted(named)), PULL)


def task_triggers(thread: Thread, checkpoint: Checkpoint, task: Task) -> set[str]:
    """The channels that start the node of a task."""
    return _triggers(thread, checkpoint).get(task.name, set())


def _triggers(thread: Thread, checkpoint: Checkpoint) -> dict[str, set[str]]:
    """Node -> channels that start it, as far as the store tells: from their names, and from what nodes have seen."""
    channels = {*checkpoint.versions, *checkpoint.values}
    found: dict[str, set[str]] = {}
    for channel in channels:
        node = target(channel)
        if node == START and thread.entrypoint() is not None:
            found[thread.entrypoint() or START] = {START}
        elif node is not None:
            # Of the present form every node has a channel of its own, also one that only a join has ever started.
            own = {TO + node} if checkpoint.version > 2 and node != START else set()
            found.setdefault(node, own).add(channel)
    for each in thread.checkpoints[checkpoint.ns].values() if checkpoint.version < 3 else [checkpoint]:
        for node, seen in each.seen.items():
            if not node.startswith("__") and isinstance(seen, dict):
                found.setdefault(node, set()).update(channel for channel in seen if isinstance(channel, str))
    return found


def target(channel: str) -> str | None:
    """The node that a channel starts, where its name says so."""
    if channel == START:
        return START
    if channel.startswith(TO):
        return channel.removeprefix(TO)
    if channel.startswith(JOIN):
        return channel.rpartition(":")[2]
    if channel.startswith(BEGIN):
        return channel.removeprefix(BEGIN)
    if channel.startswith(BRANCH) and channel.count(":") >= 3:
        return channel.split(":", 3)[3]
    return None


def _fires(checkpoint: Checkpoint, node: str, channel: str) -> bool:
    if channel not in checkpoint.values or channel not in checkpoint.versions:
        return False
    if channel.startswith(JOIN) and not _complete(channel, checkpoint.values[channel]):
        return False
    seen = checkpoint.seen.get(node)
    before = seen.get(channel) if isinstance(seen, dict) else None
    return before is None or _newer(checkpoint.versions[channel], before)


def _newer(version: Any, before: Any) -> bool:
    if isinstance(version, str) and isinstance(before, str):
        return version > before
    return isinstance(version, int | float) and isinstance(before, int | float) and version > before


def _complete(channel: str, arrived: Any) -> bool:
    """Whether every predecessor that a join's name lists has arrived."""
    names = channel.removeprefix(JOIN).rpartition(":")[0].split("+")
    if isinstance(arrived, Inert):
        arrived = arrived.argument
    return isinstance(arrived, list) and set(names) <= {each for each in arrived if isinstance(each, str)}


def _told(checkpoint: Checkpoint, write: Write) -> Task | None:
    """A task that only its writes tell of: its path names it. Tasks that a task of the functional API called are parts of that one."""
    found = PATH.match(write.cell.task_path)
    if found is None:
        return None
    kind, first, rest = found[1], found[2], found[3]
    if kind == PULL and rest is None:
        return Task(first, write.cell.task_id, PULL)
    return Task("", write.cell.task_id, PUSH, index=int(first)) if kind == PUSH and first.isdigit() else None


def task_id(checkpoint: Checkpoint, node: str, kind: str, rest: list[str]) -> str:
    """The id that the framework gives a task: a hash over checkpoint, namespace, step, node and what started it."""
    ns = f"{checkpoint.ns}|{node}" if checkpoint.ns else node
    try:
        start = bytes.fromhex(checkpoint.id.replace("-", ""))
    except ValueError:
        return ""
    text = "".join((ns, str(checkpoint.step + 1), node, kind, *rest)).encode("utf-8", "surrogatepass")
    digits = xxhash.xxh3_128_hexdigest(start + text) if checkpoint.version > 1 else hashlib.sha1(start + text).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"


def inner_namespace(checkpoint: Checkpoint, task: Task) -> str:
    """Namespace of the checkpoints that a subgraph in this task leaves."""
    own = f"{task.name}:{task.id}"
    return f"{checkpoint.ns}|{own}" if checkpoint.ns else own


def leaf_tasks(thread: Thread, checkpoint: Checkpoint, depth: int = 0) -> Iterator[tuple[Checkpoint, Task]]:
    """Tasks with the checkpoint that they belong to; one that runs a subgraph is stood for by the tasks inside."""
    for task in tasks_of(thread, checkpoint):
        inner = thread.newest(inner_namespace(checkpoint, task)) if depth < 16 and not task.writes else None
        below = list(leaf_tasks(thread, inner, depth + 1)) if inner is not None and inner is not checkpoint else []
        if below:
            yield from below
        else:
            yield checkpoint, task


def pending_calls(checkpoint: Checkpoint, task: Task) -> list[dict[str, Any]]:
    """The tool calls that a task without a result is to answer: its `Send`'s, else those of the last message that are open."""
    if task.kind == PUSH:
        return task.calls()
    messages = checkpoint.messages()
    last = next((message for message in reversed(messages) if message["type"] != "tool"), None)
    open_calls = {call.get("id") for call in unanswered(messages)}
    return [call for call in calls_of(last) if call.get("id") in open_calls] if last is not None else []


def no_result(task: Task) -> bool:
    """Whether the framework would run the task again at a resume."""
    return task.status in (UNKNOWN, FAILED)


def finished(thread: Thread, checkpoint: Checkpoint) -> bool:
    """Whether nothing is left to do. That the framework's `next` is empty does not say so."""
    return not tasks_of(thread, checkpoint)
