"""File: is its content what the call would have left, or what it was before?

Config: `root`, a folder. Parameter: `path`, relative to it. Links may be followed as long as they stay inside the root.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from inspector.core.calls import ABSENT

from .secrets import Secrets
from .template import Answer, Expected, NotAsked, Template, parameters_problem, text_key

TITLE = "File content"
KEYS = {"root": True}
LARGEST = 50 * 1024 * 1024
"""Bytes; a larger file is not read."""


class Content(NamedTuple):
    """What stands at a path: a size in bytes and a hex SHA-256, or why there is none."""

    size: int
    sha256: str | None
    why: str = ""


def problems(template: Template) -> Iterator[str]:
    """The root must be a full path of a folder."""
    yield from parameters_problem(template, {"path"}, set())
    root = text_key(template, "root")
    if not os.path.isabs(root) or "\0" in root:
        yield "`root` must be the full path of a folder."
    elif not os.path.isdir(root):
        yield f"`root`: there is no folder {root}."


def asks(template: Template, values: Mapping[str, str]) -> str:
    return f"The content of the file {values['path']} below {text_key(template, 'root')}."


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Read the file and compare its digest."""
    content = content_of(text_key(template, "root"), values["path"])
    if content.why:
        return Answer("unclear", content.why)
    found = content.sha256 or ABSENT
    says = f"The file has {content.size} bytes" if content.sha256 else "There is no such file"
    output = f"size {content.size}\nsha256 {found}\n".encode() if content.sha256 else b"absent\n"
    if expected.after is None and expected.before is None:
        return Answer("unclear", f"{says}. What the call would have left is not known, so there is nothing to compare it with.", output)
    if expected.after == expected.before:
        return Answer("unclear", f"{says}. The call would have left the file as it was, so its content can't tell.", output)
    if found == expected.after:
        return Answer("applied", f"{says}. That is exactly what the call would have left.", output)
    if found == expected.before:
        return Answer("not-applied", f"{says}. That is how it was before the call.", output)
    unknown = " What was there before the call is not known." if expected.before is None else ""
    return Answer("unclear", f"{says}. That is not what the call would have left, and not what was there before it.{unknown}", output)


def content_of(root: str, path: str) -> Content:
    """The file at `path` below `root`. A missing file has no digest and no reason. Raises NotAsked for a path that leads out of the root."""
    if os.path.isabs(path) or "\\" in path or ".." in path.split("/"):
        raise NotAsked("Nothing was read: the path must be relative and must not hold .. or a backslash.")
    top = os.path.realpath(root)
    inside = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
    if inside == os.pardir or inside.startswith(os.pardir + os.sep):
        raise NotAsked("Nothing was read: a link on the path leads out of the folder of this probe.")
    try:
        handle = open_below(top, inside)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.isdir(top):
            return Content(0, None)
        raise NotAsked("The folder of this probe is not there. Check that its disk is attached.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotAsked("A link on the path changed while it was read. Look again.") from None
        raise NotAsked(f"The file could not be opened: {error.strerror}. Give the inspector's user the right to read it.") from None
    try:
        return digest(handle)
    finally:
        os.close(handle)


def open_below(top: str, inside: str) -> int:
    """Open step by step, following no link: the path is free of links already, and a link put in meanwhile fails. Raises OSError."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        *folders, name = inside.split(os.sep)
        for each in folders:
            deeper = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = deeper
        # Without O_NONBLOCK, opening a named pipe would wait for its writer.
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def digest(handle: int) -> Content:
    """Hash an open file. Raises NotAsked when it can't be read or changes meanwhile."""
    before = os.fstat(handle)
    if not stat.S_ISREG(before.st_mode):
        return Content(0, None, "There is something else than a file at this path.")
    if before.st_size > LARGEST:
        return Content(before.st_size, None, f"The file has {before.st_size} bytes; files over {LARGEST} are not read.")
    sha, size = hashlib.sha256(), 0
    try:
        while size <= LARGEST and (piece := os.read(handle, 1 << 20)):
            sha.update(piece)
            size += len(piece)
    except OSError as error:
        raise NotAsked(f"The file could not be read: {error.strerror}.") from None
    after = os.fstat(handle)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or size != after.st_size:
        raise NotAsked("The file was being written while it was read. Look again.")
    return Content(size, sha.hexdigest())
