"""Bytes that stay on disk until somebody asks: buffers over files, and the spool that uploads and archive members go through."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from inspector.core.errors import ReadError
from inspector.core.source import Buffer

from .limits import Limits, check

SMALL = 4 << 20
"""Files up to this size are read whole; larger ones are read in slices."""
SLICE = 1 << 20


class FileBytes:
    """Bytes `start` to `start + size` of an open file, read with `pread`: fits `core.source.Buffer`.

    Not an mmap: a client that truncates its file while we read would kill the process. A short read raises ReadError instead.
    """

    def __init__(self, file: IO[bytes], size: int, start: int = 0, name: str = "the file") -> None:
        self._file, self._size, self._start, self._name = file, size, start, name

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: slice, /) -> bytes:
        start, stop, step = index.indices(self._size)
        if step != 1:
            raise ValueError("only plain slices are read")
        data = b""
        if stop > start:
            data = os.pread(self._file.fileno(), stop - start, self._start + start)
            if len(data) < stop - start:
                raise ReadError(f"{self._name} became shorter while it was read", hint="Import it again")
        return data

    def find(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """As `bytes.find`, in slices."""
        start, end, _ = slice(start, end).indices(self._size)
        while start < end:
            at = self[start : min(end, start + SLICE + len(sub) - 1)].find(sub)
            if at >= 0:
                return start + at
            start += SLICE
        return -1


class Spool:
    """One nameless temporary file that takes in any number of members; gone when it is closed or the process ends."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = 0
        self._file = tempfile.TemporaryFile()

    def add(self, name: str, chunks: Iterable[bytes], packed: int | None = None) -> FileBytes:
        """Copy a member in. `packed` is its packed size, for the ratio limit. Raises LimitError as soon as a limit is passed."""
        start = self.size
        for chunk in chunks:
            self._file.write(chunk)
            self.size += len(chunk)
            size = self.size - start
            check(self.limits, "bytes", "this import", self.size)
            if packed is not None and size > 1 << 20:
                check(self.limits, "compression_ratio", f"{name} (unpacked to packed)", size // max(packed, 1))
        self._file.flush()
        return FileBytes(self._file, self.size - start, start, name)

    def close(self) -> None:
        self._file.close()


@dataclass(slots=True)
class Tree:
    """Named files of one import: relative names with `/` -> how to open them. Opening is cheap and may be repeated."""

    name: str
    """What a person calls it: file, folder or archive name."""
    files: dict[str, Callable[[], Buffer]]
    kind: str = "file"
    """file | folder | tree | archive"""
    spool: Spool | None = None
    origins: dict[str, Path] = field(default_factory=dict)
    """Where files of this machine lie; never shown and never stored as such."""
    size: int = 0
    """Bytes of all files, unpacked."""

    def close(self) -> None:
        if self.spool:
            self.spool.close()

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_file(path: Path, name: str) -> Buffer:
    """The bytes of a file: whole when small, else a FileBytes whose size is fixed now (a growing file does not grow under us)."""
    size = path.stat().st_size
    if size <= SMALL:
        return path.read_bytes()
    return FileBytes(path.open("rb", buffering=0), size, name=name)
