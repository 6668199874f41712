"""Signs of live clients that lie beside a session: the registry of processes and the list of git worktrees, read from the source's parts.

Claude Code keeps one `sessions/<pid>.json` for each running process. A collected document (`claude-code-live-registry`) holds several of them
under `files`, and the output of `git worktree list` under `git_worktree_list`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .jsonspans import loads_object
from .session import Session

LARGEST = 1_000_000
"""Bytes of a part beyond which it is no registry file."""


@dataclass(frozen=True, slots=True)
class Process:
    """One live client."""

    session: str
    cwd: str
    status: str
    row: str
    """Ref of the row that says so."""


@dataclass(frozen=True, slots=True)
class Unmerged:
    """What a worktree holds that is nowhere else."""

    ahead: int
    dirty: bool


@dataclass(slots=True)
class Registry:
    """What is known of live clients and worktrees."""

    processes: list[Process] = field(default_factory=list)
    worktrees: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Path of a worktree -> refs of rows that name it."""
    unmerged: dict[str, Unmerged] = field(default_factory=dict)
    listed: set[str] | None = None
    """Paths in the list of git worktrees; None where no list was given."""
    own: tuple[str, str] | None = None
    """Path of the worktree that the session itself is in, and the row that says so."""


def read(session: Session) -> Registry:
    """The registry of a session's source; empty where none was given."""
    found = Registry()
    for number, part in enumerate(session.source.parts):
        if not part.name.endswith(".json") or len(part.data) > LARGEST or part.name.endswith(".meta.json"):
            continue
        value = loads_object(bytes(part.data[0 : len(part.data)]))
        ref = _places(session, number)
        if value.get("kind") == "claude-code-live-registry":
            for entry in _dicts(list((value.get("files") or {}).values()) if isinstance(value.get("files"), dict) else None):
                _process(found, entry, ref)
            _listed(found, _dicts(value.get("git_worktree_list")), ref)
        elif part.name.rsplit("/", 2)[-2:-1] == ["sessions"]:
            _process(found, value, ref)
    state = next(reversed(session.of_type("worktree-state", part=0)), None)
    own = session.value(state).get("worktreeSession") if state else None
    if state is not None and isinstance(own, dict) and isinstance(own.get("worktreePath"), str):
        path = own["worktreePath"]
        found.own = (path, state.ref)
        found.worktrees[path] = (*found.worktrees.get(path, ()), state.ref)
        if session.id and not any(process.session == session.id for process in found.processes):
            found.processes.append(Process(session.id, path, "", state.ref))
    return found


def _places(session: Session, part: int) -> Callable[[str], str]:
    """Finds the first row of a part that holds a text."""
    rows = [row for row in session.rows if row.part == part]

    def place(text: str) -> str:
        needle = text.encode()
        return next((row.ref for row in rows if needle in session.bytes_of(row)), f"{part}:0")

    return place




def _dicts(given: Any) -> list[dict[str, Any]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _process(found: Registry, entry: dict[str, Any], ref: Callable[[str], str]) -> None:
    session, cwd = entry.get("sessionId"), entry.get("cwd")
    if not isinstance(session, str) or not isinstance(cwd, str):
        return
    found.processes.append(Process(session, cwd, str(entry.get("status", "")), ref(session)))
    worktree = entry.get("worktree")
    path = worktree.get("path") if isinstance(worktree, dict) else None
    if isinstance(path, str):
        found.worktrees[path] = (ref(path),)


def _listed(found: Registry, worktrees: list[dict[str, Any]], ref: Callable[[str], str]) -> None:
    if worktrees:
        found.listed = {str(entry.get("worktree")) for entry in worktrees}
    for number, entry in enumerate(worktrees):
        path, ahead, dirty = entry.get("worktree"), entry.get("ahead_of_main"), entry.get("dirty") is True
        if not isinstance(path, str) or number == 0:
            continue
        found.worktrees[path] = (ref(path),)
        ahead = ahead if isinstance(ahead, int) else 0
        if ahead > 0 or dirty:
            found.unmerged[path] = Unmerged(ahead, dirty)
