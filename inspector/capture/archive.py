"""zip, tar, tar.gz -> a Tree. Members go through the spool in chunks and are counted as they come: no declared size is trusted.

Nothing is unpacked to a path. Links and devices are left out; a name that climbs out refuses the whole archive. An archive inside an
archive stays a file.
"""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import IO, cast

from .files import FileBytes, Spool, Tree
from .limits import Limits, Refused, check

CHUNK = 1 << 18
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError, RuntimeError, OSError)
"""What the two modules raise for archives that are damaged, encrypted or packed in a way they can't read."""


def kind_of(head: bytes) -> str | None:
    """zip | tar | tar.gz by the first 512 bytes, else None."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "tar.gz"
    return "tar" if head[257:262] == b"ustar" else None


def safe_name(name: str, limits: Limits) -> str:
    """A member's name, relative and with `/`. Raises Refused for one that climbs out, LimitError for one too deep."""
    plain = name.replace("\\", "/")
    pieces = PurePosixPath(plain).parts
    if not pieces or plain.startswith("/") or ".." in pieces or ":" in pieces[0] or "\0" in plain:
        raise Refused(f"unsafe name in the archive: {name[:200]!r}", hint="Nothing was imported; pack it again with relative names")
    check(limits, "nesting", plain[:200], len(pieces) - 1)
    return "/".join(pieces)


def tree_of(file: IO[bytes], name: str, limits: Limits = Limits()) -> Tree:
    """The plain files of an archive. Close the tree to free its spool. Raises Refused, LimitError."""
    file.seek(0)
    kind = kind_of(file.read(512))
    file.seek(0)
    tree = Tree(name, {}, kind="archive", spool=Spool(limits))
    with filling(tree):
        if kind == "zip":
            add_zip(tree, file, limits)
        elif kind in ("tar", "tar.gz"):
            add_tar(tree, file, limits, kind)
        else:
            raise Refused(f"{name}: no zip, tar or tar.gz", hint="Pack it as one of these")
    return tree


@contextmanager
def filling(tree: Tree) -> Iterator[None]:
    """Close the tree when it can't be filled. Raises Refused for an archive that the two modules can't read."""
    try:
        yield
    except BROKEN as error:
        tree.close()
        raise Refused(f"{tree.name}: the archive can't be read ({str(error)[:200]})", hint="Nothing was imported; pack it again") from error
    except BaseException:
        tree.close()
        raise


def add(tree: Tree, name: str, chunks: Iterator[bytes], limits: Limits, packed: int | None = None) -> None:
    """Copy a member into the tree's spool. Raises LimitError; Refused for a name that comes twice."""
    check(limits, "members", tree.name, len(tree.files) + 1)
    if name in tree.files:
        raise Refused(f"two files named {name[:200]!r} in the archive", hint="Nothing was imported; pack it again")
    data: FileBytes = cast(Spool, tree.spool).add(name, chunks, packed)
    tree.files[name] = partial(lambda held: held, data)
    tree.size += len(data)


def chunks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream in chunks of 256 KiB."""
    while chunk := stream.read(CHUNK):
        yield chunk


def add_zip(tree: Tree, file: IO[bytes], limits: Limits) -> None:
    with zipfile.ZipFile(file) as packed:
        check(limits, "members", tree.name, len(packed.infolist()))
        for member in packed.infolist():
            name = safe_name(member.filename, limits)
            link = member.external_attr >> 28 == 0o12
            if member.is_dir() or link or name.endswith(".key"):
                continue
            with packed.open(member) as stream:
                add(tree, name, chunks_of(stream), limits, member.compress_size)


class Counted:
    """A gunzipped stream that stops when it gives too much for what it took."""

    def __init__(self, file: IO[bytes], name: str, limits: Limits) -> None:
        self._file, self._name, self._limits = file, name, limits
        self._unpack = zlib.decompressobj(31)
        self._given = 0

    def read(self, size: int) -> bytes:
        """At most `size` unpacked bytes. Raises LimitError, zlib.error, EOFError for a stream that is cut."""
        while True:
            if self._unpack.eof:
                packed = self._unpack.unused_data or self._file.read(CHUNK)
                if not packed.strip(b"\0"):
                    return b""
                self._unpack = zlib.decompressobj(31)
            else:
                packed = self._unpack.unconsumed_tail or self._file.read(CHUNK)
                if not packed:
                    raise EOFError("the gzip stream is cut off")
            data = self._unpack.decompress(packed, size)
            self._given += len(data)
            check(self._limits, "bytes", self._name, self._given)
            if self._given > 1 << 20:
                check(self._limits, "compression_ratio", f"{self._name} (unpacked to packed)", self._given // max(self._file.tell(), 1))
            if data:
                return data


def add_tar(tree: Tree, file: IO[bytes], limits: Limits, kind: str) -> None:
    stream = cast(IO[bytes], Counted(file, tree.name, limits)) if kind == "tar.gz" else file
    seen = 0
    with tarfile.open(fileobj=stream, mode="r|") as packed:
        for member in packed:
            seen += 1
            check(limits, "members", tree.name, seen)
            if member.name in (".", "./"):
                continue
            name = safe_name(member.name, limits)
            if not member.isreg() or member.issparse() or name.endswith(".key"):
                continue
            content = packed.extractfile(member)
            if content is not None:
                add(tree, name, chunks_of(content), limits)
