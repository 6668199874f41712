"""Uploaded files -> one Tree: archives are opened, other files lie in it under their relative names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from . import archive
from .files import Spool, Tree
from .limits import Limits


def tree_of(files: Iterable[tuple[str, IO[bytes]]], limits: Limits = Limits()) -> Tree:
    """One tree of several uploads. `files` are (relative name, open binary file); a dropped folder's files come with its path in the name.

    Close the tree to free its spool. Raises Refused, LimitError.
    """
    tree = Tree("upload", {}, kind="file", spool=Spool(limits))
    with archive.filling(tree):
        for given, file in files:
            name = archive.safe_name(given, limits)
            tree.name = name.partition("/")[0] if not tree.files else "upload"
            file.seek(0)
            kind = archive.kind_of(file.read(512))
            file.seek(0)
            if kind == "zip":
                archive.add_zip(tree, file, limits)
            elif kind:
                archive.add_tar(tree, file, limits, kind)
            else:
                archive.add(tree, name, archive.chunks_of(file), limits)
            if kind:
                tree.kind = "archive"
    return tree
