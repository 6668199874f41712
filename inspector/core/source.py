"""A Source is named parts of bytes: the only way that recorded data enters core.

`capture/` makes Sources from uploads, folders, archives and stores; core never opens anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol


class Buffer(Protocol):
    """What core needs of a part's bytes: `bytes`, an `mmap` and the frame reader of `capture` all fit."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: slice, /) -> bytes: ...

    def find(self, sub: bytes, start: int = ..., end: int = ..., /) -> int: ...


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` to `end` (exclusive) of part number `part`."""

    part: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """One named run of bytes: a file, a store's row or blob."""

    name: str
    """Path relative to the session's own folder, with `/`; for the main transcript its file name."""
    data: Buffer

    def sha256(self) -> str:
        """Hex SHA-256 of the bytes, read in slices of one MiB."""
        digest = hashlib.sha256()
        for start in range(0, len(self.data), 1 << 20):
            digest.update(self.data[start : start + (1 << 20)])
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """The parts of one session; part 0 is the main transcript, the others follow in order of their names."""

    name: str
    """What a person calls it: a file or folder name. Never a full path of the machine."""
    parts: tuple[Part, ...]
    hints: dict[str, str] = field(default_factory=dict)
    """What the surroundings say and the bytes do not: `slug` (project folder name), `live` (why the source counts as live)."""

    def bytes_of(self, span: Span) -> bytes:
        """The exact bytes of a span."""
        return bytes(self.parts[span.part].data[span.start : span.end])

    def names(self) -> Iterator[str]:
        """Part names in order."""
        return (part.name for part in self.parts)
