"""Stores among uploaded or unpacked files: SQLite files with the logs beside them, each opened from a copy of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from .files import SLICE, Tree
from .limits import Limits
from .sqlite_file import MAGIC
from .store import StoredThread, candidates, open_store

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file while it is open."""


def threads_in(tree: Tree, key: bytes | None, limits: Limits, stack: ExitStack) -> tuple[list[StoredThread], Tree]:
    """The threads of all stores in a tree, and the tree without their files. The stores are open until the stack is closed.

    A SQLite file with tables of no known layout stays in the tree. Raises ReadError, LimitError.
    """
    found: list[StoredThread] = []
    taken: set[str] = set()
    for name in sorted(tree.files):
        data = tree.files[name]()
        if data[0 : len(MAGIC)] != MAGIC:
            continue
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = folder / name.rpartition("/")[2]
        path.write_bytes(b"".join(_pieces(tree, name)))
        beside = {name + ending for ending in BESIDE} & tree.files.keys()
        if name + "-wal" in beside:
            path.with_name(path.name + "-wal").write_bytes(b"".join(_pieces(tree, name + "-wal")))
        store = open_store(path, key, limits)
        if store is not None:
            stack.callback(store.close)
            found += [replace(thread, tree=_tree(tree, name)) for thread in candidates(store, path.name, [], limits)]
            taken |= {name, *beside}
    rest = {name: opened for name, opened in tree.files.items() if name not in taken}
    return found, replace(tree, files=rest)


def _pieces(tree: Tree, name: str) -> Iterator[bytes]:
    data = tree.files[name]()
    return (data[start : start + SLICE] for start in range(0, len(data), SLICE))


def _tree(tree: Tree, name: str) -> Tree:
    """What an upload is to an import: it has no place on this machine."""
    return Tree(name, {}, kind=tree.kind)
