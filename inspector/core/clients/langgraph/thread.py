"""One thread of a checkpointer as its tables hold it: checkpoints by namespace, writes by checkpoint and task, blobs by version."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ... import tablerow
from ...msgpack import DELTA_NAME, Inert
from ...session import Row, Session
from .messages import is_messages, merged, messages_of, text_of
from .values import Opaque, plain_json, stored

CHECKPOINTS = "checkpoints"
ROOT = ""
"""Namespace of the graph itself; those of subgraphs are `node:task id`, nested ones joined by `|`."""
NULL_TASK = "00000000-0000-0000-0000-000000000000"
"""Task of writes that no task of the graph made: answers of a person."""
ERROR, INTERRUPT, RESUME, NO_WRITES = "__error__", "__interrupt__", "__resume__", "__no_writes__"
SPECIAL = frozenset((ERROR, INTERRUPT, RESUME, "__scheduled__"))
TASKS = "__pregel_tasks"
OUTSIDE = ("input", "update", "fork")
"""Sources of checkpoints that no step of the graph made: what its tasks had written before was not taken in."""


CALLED = re.compile(r"^~__pregel_push, ~__pregel_pull, ([^,]+), ")
"""Path of a task that a function of the functional API called."""


class Cell:
    """What decisions need of one row of a table. The blob stays in the row's bytes."""

    __slots__ = ("row", "table", "thread_id", "ns", "checkpoint_id", "parent", "task_id", "task_path", "idx", "channel", "type", "version", "thread")

    def __init__(self, row: Row, table: str, record: dict[str, Any]) -> None:
        def text(name: str) -> str:
            value = record.get(name)
            return value if isinstance(value, str) else ""

        idx = record.get("idx")
        self.row, self.table = row, table
        self.thread_id, self.ns, self.checkpoint_id = text("thread_id"), text("checkpoint_ns"), text("checkpoint_id")
        self.parent = text("parent_checkpoint_id") or None
        self.task_id, self.task_path, self.channel = text("task_id"), text("task_path"), text("channel")
        self.idx = idx if isinstance(idx, int) else 0
        self.type, self.version = text("type"), text("version")
        self.thread: Thread | None = None

    @property
    def special(self) -> bool:
        """Whether the write tells of the task instead of being one of its results."""
        return self.channel in SPECIAL

    @property
    def column(self) -> str:
        """Name of the column that holds a write's value."""
        return "value" if self.table == "writes" else "blob"


@dataclass(slots=True)
class Write:
    """One write of a task, with the messages in it."""

    cell: Cell
    messages: list[dict[str, Any]]


@dataclass(slots=True)
class Thread:
    """The tables of one thread. Blobs are decoded when asked for; those of the checkpoints last asked for are kept."""

    session: Session
    checkpoints: dict[str, dict[str, Checkpoint]] = field(default_factory=lambda: defaultdict(dict))
    """By namespace and id."""
    writes: dict[tuple[str, str], list[Write]] = field(default_factory=lambda: defaultdict(list))
    """By namespace and checkpoint, in the order in which the framework applies them."""
    blobs: dict[tuple[str, str, str], Cell] = field(default_factory=dict)
    """By namespace, channel and version."""
    entry: str | None = None
    """What `entrypoint` found; blank: nothing."""
    standing: Any = None
    """Where it stands, once somebody asked (`standing.standing_of`)."""

    def add_checkpoint(self, cell: Cell) -> None:
        self.checkpoints[cell.ns][cell.checkpoint_id] = Checkpoint(self, cell)

    def add_write(self, cell: Cell, messages: list[dict[str, Any]]) -> None:
        self.writes[cell.ns, cell.checkpoint_id].append(Write(cell, messages))

    def add_blob(self, cell: Cell) -> None:
        self.blobs[cell.ns, cell.channel, cell.version] = cell

    def newest(self, ns: str = ROOT) -> Checkpoint | None:
        """The checkpoint that a resume starts from: the one with the highest id, on whatever branch it is."""
        found = self.checkpoints.get(ns)
        return found[max(found)] if found else None

    def encrypted(self) -> bool:
        """Whether an encrypting serializer wrote it: nothing is added in plain words then."""
        cells = [write.cell for writes in self.writes.values() for write in writes]
        cells += [*self.blobs.values(), *(each.cell for checkpoints in self.checkpoints.values() for each in checkpoints.values())]
        return any(cell.type.endswith("+aes") for cell in cells)

    def count(self) -> int:
        """Checkpoints of all namespaces."""
        return sum(map(len, self.checkpoints.values()))

    def lineage(self, newest: Checkpoint | None) -> list[Checkpoint]:
        """A checkpoint and those that it came from, oldest first."""
        line: dict[str, Checkpoint] = {}
        at = newest
        while at is not None and at.id not in line:
            line[at.id] = at
            at = self.checkpoints[at.ns].get(at.parent or "")
        return [*reversed(line.values())]

    def leaves(self, ns: str = ROOT) -> list[Checkpoint]:
        """Checkpoints that no other one came from, by id."""
        found = self.checkpoints.get(ns, {})
        parents = {checkpoint.parent for checkpoint in found.values()}
        return [found[id] for id in sorted(found) if id not in parents]

    def writes_of(self, checkpoint: Checkpoint) -> list[Write]:
        """Everything written under a checkpoint, special writes too."""
        found = self.writes.get((checkpoint.ns, checkpoint.id), [])
        return sorted(found, key=lambda write: (write.cell.task_path, write.cell.task_id, write.cell.idx))

    def value(self, cell: Cell) -> Any:
        """The decoded value of a write or blob."""
        return stored(self.session.record(cell.row), cell.column)

    def entrypoint(self) -> str | None:
        """Name of the function that a graph of the functional API begins with, where the path of a task that it called tells."""
        if self.entry is None:
            paths = (CALLED.match(write.cell.task_path) for writes in self.writes.values() for write in writes)
            self.entry = next((found[1] for found in paths if found), "")
        return self.entry or None

    def title(self) -> str | None:
        """The first words of a person."""
        for (ns, _), writes in sorted(self.writes.items(), key=lambda item: item[0][1]):
            for write in writes if ns == ROOT else ():
                for message in write.messages:
                    words = " ".join(text_of(message).split())
                    if message["type"] == "human" and words:
                        return words[:120]
        return None


class Checkpoint:
    """One checkpoint. Its blob is decoded once, when something of it is asked for."""

    def __init__(self, thread: Thread, cell: Cell) -> None:
        self.thread, self.cell = thread, cell
        self.id, self.ns, self.parent = cell.checkpoint_id, cell.ns, cell.parent

    @property
    def row(self) -> Row:
        return self.cell.row

    @cached_property
    def content(self) -> Any:
        """The decoded checkpoint: a dictionary, or Opaque."""
        return stored(self.thread.session.record(self.row), "checkpoint")

    @property
    def opaque(self) -> Opaque | None:
        """Why nothing is known of it, where it can't be read."""
        if isinstance(self.content, Opaque):
            return self.content
        return None if isinstance(self.content, dict) else Opaque("damaged", 0, "it holds no checkpoint")

    @cached_property
    def metadata(self) -> dict[str, Any]:
        return plain_json(tablerow.plain(self.thread.session.record(self.row), "metadata"))

    @property
    def source(self) -> str:
        """input | loop | update | fork"""
        return str(self.metadata.get("source") or "")

    @property
    def step(self) -> int:
        step = self.metadata.get("step")
        return step if isinstance(step, int) else -1

    def _mapping(self, name: str) -> dict[str, Any]:
        found = self.content.get(name) if isinstance(self.content, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def version(self) -> int:
        """Version of the form of checkpoints: 1 to 4."""
        found = self.content.get("v") if isinstance(self.content, dict) else None
        return found if isinstance(found, int) else 1

    @property
    def versions(self) -> dict[str, Any]:
        return self._mapping("channel_versions")

    @property
    def seen(self) -> dict[str, Any]:
        """Node -> channel -> the version that it last saw."""
        return self._mapping("versions_seen")

    @cached_property
    def values(self) -> dict[str, Any]:
        """Channel -> value as stored: inline, or in the blob of the channel's version. A channel that is empty is missing."""
        found = dict(self._mapping("channel_values"))
        for channel, version in self.versions.items():
            cell = self.thread.blobs.get((self.ns, channel, str(version))) or self.thread.blobs.get((self.ns, channel, ""))
            if cell is None:
                continue
            if cell.type == "empty":
                found.pop(channel, None)
            else:
                found[channel] = self.thread.value(cell)
        return found

    def channel(self, name: str) -> Any:
        """A channel's value; of a delta channel the whole, rebuilt from the last snapshot and what was written since."""
        value = self.values.get(name)
        if isinstance(value, Inert) and value.name == DELTA_NAME:
            return value.argument
        if name in self.values or name not in self.versions:
            return value
        return self._replayed(name)

    def _replayed(self, name: str) -> Any:
        line = self.thread.lineage(self)
        start = next((number for number in range(len(line) - 1, -1, -1) if name in line[number].values), None)
        found = line[start].values[name] if start is not None else []
        held = found.argument if isinstance(found, Inert) and found.name == DELTA_NAME else found
        held = list(held) if isinstance(held, list) else []
        for before, after in zip(line[start or 0 :], line[(start or 0) + 1 :], strict=False):
            if before.versions.get(name) == after.versions.get(name):
                continue
            for write in self.thread.writes_of(before):
                if write.cell.channel == name:
                    value = self.thread.value(write.cell)
                    held = merged(held, value) if is_messages(value) else held + (value if isinstance(value, list) else [value])
        return held

    def message_channel(self) -> str | None:
        """The channel that holds the conversation: `messages`, else the first one with messages alone."""
        names = sorted(self.versions)
        if "messages" in names or "messages" in self.values:
            return "messages"
        return next((name for name in names if not name.startswith("__") and is_messages(self.values.get(name))), None)

    def messages(self) -> list[dict[str, Any]]:
        """The conversation as it stands in this checkpoint."""
        name = self.message_channel()
        return messages_of(self.channel(name)) if name else []


def attach(session: Session, thread: Thread) -> None:
    """Let the rows of a session lead to their thread."""
    for row in session.rows:
        if isinstance(row.extra, Cell):
            row.extra.thread = thread


def thread_of(session: Session) -> Thread:
    """The thread of a session that `read` made."""
    found = next((row.extra.thread for row in session.rows if isinstance(row.extra, Cell) and row.extra.thread), None)
    return found or Thread(session)


def cells(session: Session) -> Iterator[Cell]:
    """The cells of all rows, in order."""
    return (row.extra for row in session.rows if isinstance(row.extra, Cell))
