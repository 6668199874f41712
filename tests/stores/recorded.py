"""The recorded stores of LangGraph: one archive a system, unpacked when a test asks; what the real library said of each is in `expected.json`."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from .packed import Packed

CORPUS = Path(__file__).with_name("archives")
KEY = b"0123456789abcdef"
"""Key of the encrypted case."""


@dataclass(frozen=True)
class Case(Packed):
    """One recorded store."""

    ARCHIVES = CORPUS

    @property
    def sqlite(self) -> Path:
        return self.folder / "checkpoints.sqlite"

    def load(self, connection: psycopg.Connection[Any]) -> None:
        """Put the dump into the database of an open connection, in place of what is there."""
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        lines = (self.folder / "dump.sql").read_text(encoding="utf-8").split("\n")
        connection.execute("\n".join(line for line in lines if not line.startswith("\\")).encode())
        connection.execute("RESET ALL")

    def __str__(self) -> str:
        return f"{self.system}/{self.name}"


def cases(*systems: str) -> list[Case]:
    """The cases of these systems, in order of their names."""
    found = []
    for system in systems:
        with tarfile.open(CORPUS / f"{system}.tar.xz") as packed:
            names = {name.split("/")[1] for name in packed.getnames() if name.endswith("/expected.json")}
        found += [Case(system, name) for name in sorted(names)]
    return found


def brief(messages: Any) -> list[dict[str, Any]]:
    """Messages of an `expected.json` as the fact `messages` has them."""
    return [
        {
            "type": each.get("type"), "content": each.get("content"), "tool_calls": [call["id"] for call in each.get("tool_calls") or []],
            "tool_call_id": each.get("tool_call_id"),
        }
        for each in messages or [] if isinstance(each, dict) and "type" in each
    ]  # fmt: skip


@dataclass(frozen=True)
class Want:
    """What the real library said of one thread."""

    thread: str
    checkpoints: int
    newest: str
    messages: list[dict[str, Any]]
    next: list[str]
    tasks: list[tuple[str, str]]
    """(name, id)"""
    statuses: list[tuple[str, str]] | None
    """(id, status); None where the answer, of an old release's store, does not tell."""
    pending: list[tuple[str, str]] | None
    """(task id, channel) of the writes under the newest checkpoint."""


def wanted(case: Case) -> Iterator[Want]:
    """Threads of a case as today's library reads them."""
    for thread, told in case.expected["threads"].items():
        state, checkpoints = told.get("state"), told["checkpoints"]
        if state is None:
            newest = max(checkpoints, key=lambda each: str(each["id"]))
            today = case.expected["threads_as_read_by_current_library"][thread]
            tasks = [(each["name"], each["id"]) for each in today["tasks"]]
            messages = brief(newest["channel_values"].get("messages"))
            yield Want(thread, told["checkpoint_count"], newest["id"], messages, today["next"], tasks, None, _pending(newest))
            continue
        root = [each for each in checkpoints if each["ns"] == ""]
        newest = max(root, key=lambda each: str(each["id"]))
        stored = newest["channel_values"].get("messages")
        messages = state["values"].get("messages") if isinstance(stored, dict) else stored  # a delta channel: what the library rebuilds
        statuses = [(each["id"], _status(each)) for each in state["tasks"]]
        tasks = [(each["name"], each["id"]) for each in state["tasks"]]
        yield Want(
            thread, told["checkpoint_count"], newest["id"], brief(messages), state["next"], tasks, statuses, _pending(newest)
        )


def _status(task: dict[str, Any]) -> str:
    if task.get("error"):
        return "failed"
    return "waiting" if task.get("interrupts") else "unknown" if task.get("result") is None else "recorded"


def _pending(checkpoint: dict[str, Any]) -> list[tuple[str, str]] | None:
    writes = checkpoint.get("pending_writes")
    return None if writes is None else [(each[0], each[1]) for each in writes]
