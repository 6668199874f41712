"""A path on disk -> its sessions: a transcript file with what lies beside it, a session folder, a `projects` tree, a `.claude` folder."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from inspector.core.errors import ReadError
from inspector.core.source import Source

from . import layout, live
from .files import Tree, open_file
from .limits import Limits, check

SIDE_FOLDERS = ("file-history", "tasks", "plans", "sessions")
"""Folders of a client's home that hold files of its sessions."""


def tree_of(path: Path, limits: Limits = Limits()) -> Tree:
    """The files at `path`. A file brings its sibling folder and, in a client's home, what the home keeps for it.

    Links are not followed. Raises ReadError for a path that is not there, LimitError.
    """
    if path.is_file():
        return file_tree(path, limits)
    if not path.is_dir():
        raise ReadError(f"{path}: no such file or folder", hint="Check the path")
    path = path.resolve()
    tree = Tree(path.name or "folder", {}, kind="folder")
    prefix = ""
    if path.parent.name == "projects":
        prefix = f"projects/{path.name}/"
        add_side_folders(tree, path.parent.parent, limits)
    elif path.name == "projects":
        prefix = "projects/"
        add_side_folders(tree, path.parent, limits)
    add_folder(tree, path, prefix, limits)
    return tree


def file_tree(path: Path, limits: Limits) -> Tree:
    """One transcript, its sibling folder, its sub-agents of the old layout, and what a client's home around it keeps."""
    path = path.resolve()
    tree = Tree(path.name, {}, kind="file")
    home = path.parent.parent.parent if path.parent.parent.name == "projects" else None
    prefix = f"projects/{path.parent.name}/" if home else ""
    add_file(tree, path, prefix + path.name, limits)
    if path.suffix:
        add_folder(tree, path.with_suffix(""), f"{prefix}{path.stem}/", limits)
    for agent in sorted(path.parent.glob("agent-*.jsonl")):
        if agent != path and agent.is_file() and not agent.is_symlink():
            add_file(tree, agent, prefix + agent.name, limits)
    if home:
        add_side_folders(tree, home, limits, path.stem)
    return tree


def add_side_folders(tree: Tree, home: Path, limits: Limits, session: str | None = None) -> None:
    """Add what the home folder keeps beside `projects`; of histories and tasks only those of `session` where one is named."""
    for kind in SIDE_FOLDERS:
        inner = f"{kind}/{session}/" if session and kind in ("file-history", "tasks") else f"{kind}/"
        add_folder(tree, home / inner, inner, limits)


def add_folder(tree: Tree, folder: Path, prefix: str, limits: Limits) -> None:
    """Add every plain file under `folder`; links and the client's key files are left out. A folder that is not there adds nothing."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        inner = Path(place).relative_to(folder).as_posix()
        for file in sorted(files):
            path = Path(place, file)
            if path.is_file() and not path.is_symlink() and path.suffix != ".key":
                add_file(tree, path, prefix + (file if inner == "." else f"{inner}/{file}"), limits)


def add_file(tree: Tree, path: Path, name: str, limits: Limits) -> None:
    """Add one file under its name in the tree. Raises LimitError."""
    tree.size += path.stat().st_size
    check(limits, "members", tree.name, len(tree.files) + 1)
    check(limits, "nesting", name, name.count("/"))
    tree.files[name] = partial(open_file, path, name)
    tree.origins[name] = path


def candidates(path: Path, limits: Limits = Limits()) -> list[layout.Candidate]:
    """The sessions at a path, in order of their names; for a file the one session that it is the transcript of. Raises ReadError, LimitError."""
    tree = tree_of(path, limits)
    if path.is_file():
        main = next(iter(tree.files))
        found = [candidate for candidate in layout.sessions_of(tree) if candidate.main == main]
        return found or [layout.Candidate(tree, main, "", {})]
    return list(layout.sessions_of(tree))


def session_files(path: Path) -> list[Path]:
    """Main transcripts at `path`, in order of their names. Raises ReadError when there is none."""
    return [candidate.tree.origins[candidate.main] for candidate in candidates(path)]


def source_of(transcript: Path) -> Source:
    """The session of a main transcript, with all that belongs to it. Raises ReadError."""
    return candidates(transcript)[0].source(live.running)
