"""The checkpoint that the framework would write next, made from what tasks have recorded: the writes applied to the state of the one before.

Only what the framework itself would do, and only where the store tells how: the reducer of messages is known, the framework's own channels are,
and of another channel one step of the thread's past must show whether a write replaces its value or is added to it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import ids, tablerow
from ...msgpack import DELTA_NAME, Inert
from .messages import calls_of, is_messages, merged, message_of
from .standing import Standing
from .tasks import JOIN, PULL, START, TO, task_triggers
from .thread import NO_WRITES, TASKS, Checkpoint, Thread
from .values import serialized

RETURNED = frozenset(("__return__", "__error_source_node__", NO_WRITES))
INLINE = (str, int, float, bool, type(None))
"""Types of values that PostgreSQL keeps in the checkpoint itself."""


class NotPlain(Exception):
    """What the framework would write can't be told from the store."""


@dataclass(slots=True)
class Advanced:
    """The next checkpoint: its id, its line, and on PostgreSQL the lines of its blobs."""

    id: str
    line: bytes
    blobs: list[bytes]


def advanced(standing: Standing, seed: str, at: str) -> Advanced | None:
    """The checkpoint behind the newest one, or None. `at` is an ISO 8601 time with `Z`, `seed` any text.

    Where the store still holds writes of the lost checkpoint, it gets its own id back, so that they belong to it again.
    """
    newest = standing.newest
    if newest is None or not standing.lost or newest.version < 3 or not _can_follow(standing, newest):
        return None
    try:
        versions, seen, values, updated = _applied(standing, newest, seed)
    except NotPlain:
        return None
    step = newest.step + 1
    id = _lost_id(standing, newest) or ids.following(newest.id, step, seed)
    content = {
        **newest.content, "ts": at.replace("Z", "+00:00"), "id": id, "channel_versions": versions, "versions_seen": seen,
        "channel_values": values, "updated_channels": sorted(updated),
    }  # fmt: skip
    metadata = {key: value for key, value in newest.metadata.items() if key not in ("writes", "counters_since_delta_snapshot")}
    metadata |= {"source": "loop", "step": step}
    return _lines(standing.thread, newest, id, content, metadata)


def _can_follow(standing: Standing, newest: Checkpoint) -> bool:
    """Whether a checkpoint may be added: not in plain words to an encrypted thread, and not where a shallow saver keeps one alone."""
    return not standing.thread.encrypted() and "checkpoint_id" in standing.thread.session.record(newest.row)


def closed(standing: Standing, answers: dict[str, Inert], seed: str, at: str) -> Advanced | None:
    """A checkpoint behind the newest one in which open calls of the conversation are answered, each right behind the message that asked; or None.

    As an update of the state by hand, but in its place. The tasks of the next step stay; one that has recorded something already makes it None,
    because its work would be thrown away.
    """
    newest = standing.newest
    name = newest.message_channel() if newest is not None else None
    if newest is None or name is None or newest.version < 3 or not _can_follow(standing, newest):
        return None
    held = newest.values.get(name)
    if not isinstance(held, list) or any(not write.cell.special for task in standing.tasks for write in task.writes):
        return None
    step = newest.step + 1
    try:
        versions = {**newest.versions, name: _next_version(newest.versions, seed)}
    except NotPlain:
        return None
    id = ids.following(newest.id, step, seed)
    content = {
        **newest.content, "ts": at.replace("Z", "+00:00"), "id": id, "channel_versions": versions,
        "channel_values": {**newest.values, name: _answered(held, answers)}, "updated_channels": [name],
    }  # fmt: skip
    metadata = {key: value for key, value in newest.metadata.items() if key != "writes"} | {"source": "update", "step": step}
    return _lines(standing.thread, newest, id, content, metadata)


def _answered(held: list[Any], answers: dict[str, Inert]) -> list[Any]:
    """The messages with each answer behind the message of its call, and behind the results that follow it already."""
    out: list[Any] = []
    waiting: list[Inert] = []
    for value in held:
        message = message_of(value) or {}
        if message.get("type") != "tool":
            out, waiting = [*out, *waiting], []
        out.append(value)
        waiting += [answers[call["id"]] for call in calls_of(message) if call.get("id") in answers]
    return [*out, *waiting]


def _lost_id(standing: Standing, newest: Checkpoint) -> str | None:
    """Id of the missing checkpoint that orphaned writes belong to, where they are those of the very next step."""
    found = sorted({write.cell.checkpoint_id for write in standing.orphans if write.cell.ns == newest.ns and write.cell.checkpoint_id > newest.id})
    step = newest.step + 1
    return found[0] if found and found[0][19:23] == f"{0x8000 | step & 0x3FFF:04x}" else None


def _applied(standing: Standing, newest: Checkpoint, seed: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], set[str]]:
    """Versions, versions seen, values and updated channels after the recorded writes. Raises NotPlain."""
    thread = standing.thread
    versions: dict[str, Any] = dict(newest.versions)
    seen = {node: dict(channels) if isinstance(channels, dict) else channels for node, channels in newest.seen.items()}
    values = dict(newest.values)
    version = _next_version(versions, seed)
    by_channel: dict[str, list[Any]] = {}
    read: set[str] = set()
    for task in sorted(standing.tasks, key=lambda task: task.path):
        triggers = task_triggers(thread, newest, task) if task.kind == PULL else set()
        read |= triggers
        seen.setdefault(task.name, {}).update({channel: versions[channel] for channel in sorted(triggers) if channel in versions})
        for write in sorted(task.writes, key=lambda write: write.cell.idx):
            if not write.cell.special and write.cell.channel not in RETURNED:
                by_channel.setdefault(write.cell.channel, []).append(thread.value(write.cell))
    for channel in read:
        if channel.startswith(JOIN) and channel in values:
            values[channel] = Inert(0, "builtins", "set", [])
            versions[channel] = version
    updated = set()
    for channel, written in by_channel.items():
        values[channel] = _reduced(thread, newest, channel, values.get(channel), written, seed)
        versions[channel] = version
        updated.add(channel)
    for channel in list(values):
        if channel not in updated and _passes(channel, values[channel]):
            if channel == TASKS:
                values[channel] = []
            else:
                del values[channel]
            versions[channel] = version
    return versions, seen, values, updated


def _passes(channel: str, value: Any) -> bool:
    """Whether a channel holds its value for one step only."""
    return channel == START or channel.startswith(TO) or (channel == TASKS and bool(value))


def _next_version(versions: dict[str, Any], seed: str) -> Any:
    """The version behind the highest one, in the form that the thread's versions have. Raises NotPlain."""
    if all(isinstance(version, int) for version in versions.values()):
        return max(versions.values(), default=0) + 1
    if not all(isinstance(version, str) and version.split(".")[0].isdigit() for version in versions.values()):
        raise NotPlain
    number = int(max(versions.values()).split(".")[0]) + 1
    part = int(hashlib.sha256(f"{seed}\0{number}".encode("utf-8", "surrogatepass")).hexdigest()[:12], 16) / 16**12
    return f"{number:032}.{part:016}"


def _reduced(thread: Thread, newest: Checkpoint, channel: str, held: Any, written: list[Any], seed: str) -> Any:
    """The channel's value after the writes of one step. Raises NotPlain."""
    if channel == TASKS:
        return [send for value in written for send in (value if isinstance(value, list) else [value])]
    if channel.startswith(TO):
        return written[-1]
    if channel.startswith(JOIN):
        arrived = held.items if isinstance(held, Inert) else []
        return Inert(0, "builtins", "set", list(dict.fromkeys([*arrived, *written])))
    if channel in newest.versions and (channel not in newest.values or (isinstance(held, Inert) and held.name == DELTA_NAME)):
        raise NotPlain  # a delta channel: its checkpoints hold the value only now and then
    if all(is_messages(value) for value in written) and (held is None or isinstance(held, list)):
        out = list(held or [])
        for value in written:
            out = merged(out, [_with_id(each, seed) for each in (value if isinstance(value, list) else [value])])
        return out
    return _way(thread, newest, channel)(held, written)


def _with_id(value: Any, seed: str) -> Any:
    """The message with an id: the reducer gives one to each that has none."""
    message = message_of(value)
    if isinstance(value, Inert) and message is not None and message.get("id") is None:
        fields = {**value.fields, "id": ids.derived(seed, "message", repr(sorted(message, key=str)), str(message.get("content")))}
        return Inert(value.code, value.module, value.name, fields, value.method)
    return value


Way = Callable[[Any, list[Any]], Any]


def _last(held: Any, written: list[Any]) -> Any:
    if len(written) != 1:
        raise NotPlain
    return written[0]


def _added(held: Any, written: list[Any]) -> Any:
    for value in written:
        if held is not None and not (isinstance(held, list) and isinstance(value, list)):
            raise NotPlain
        held = value if held is None else held + value
    return held


def _way(thread: Thread, newest: Checkpoint, channel: str) -> Way:
    """How the channel takes writes in, by what the steps of the branch before show. Raises NotPlain."""
    ways = [_last, _added]
    proved = channel not in newest.values
    line = thread.lineage(newest)
    for before, after in zip(line, line[1:], strict=False):
        written = [thread.value(write.cell) for write in thread.writes_of(before) if write.cell.channel == channel]
        if written and after.source == "loop" and before.values.get(channel) is not None:
            ways = [way for way in ways if _gives(way, before.values.get(channel), written, after.values.get(channel))]
            proved = True
    if not ways or not proved:
        raise NotPlain
    return ways[0]


def _gives(way: Way, held: Any, written: list[Any], result: Any) -> bool:
    try:
        return bool(way(held, written) == result)
    except NotPlain:
        return False


def _lines(thread: Thread, newest: Checkpoint, id: str, content: dict[str, Any], metadata: dict[str, Any]) -> Advanced:
    record = thread.session.record(newest.row)
    columns = tablerow.unpack(record)
    columns |= {"checkpoint_id": id, "parent_checkpoint_id": newest.id}
    blobs: list[bytes] = []
    if newest.cell.type:
        columns["type"], columns["checkpoint"] = serialized(content)
        said = _json(metadata)
        columns["metadata"] = said.encode() if isinstance(columns["metadata"], bytes) else said
    else:
        inline = {channel: value for channel, value in content["channel_values"].items() if isinstance(value, INLINE)}
        for channel, value in content["channel_values"].items():
            version = content["channel_versions"].get(channel)
            if channel in inline or version == newest.versions.get(channel):
                continue
            kind, data = serialized(value)
            place = {"thread_id": newest.cell.thread_id, "checkpoint_ns": newest.ns, "channel": channel, "version": version}
            cells = {**place, "type": kind, "blob": data}
            blobs.append(tablerow.pack("checkpoint_blobs", cells))
        columns["checkpoint"], columns["metadata"] = _json({**content, "channel_values": inline}), _json(metadata)
    return Advanced(id, tablerow.pack(str(record[tablerow.TABLE]), columns), blobs)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

