"""zstd frames of about 256 KB that end at row ends, with a table of their ends: a slice reads only its frames.

The table is two little-endian uint64 for each frame: the end of its bytes unpacked, and packed. Positions count from 0.
"""

from __future__ import annotations

import array
import hashlib
import sys
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import IO

import zstandard

from inspector.core.errors import ReadError
from inspector.core.source import Buffer

FRAME = 256 << 10
LONGEST = 1 << 20
"""A row longer than this is cut between frames."""
READ = 1 << 20
LEVEL = 1
KEPT = 8
"""Unpacked frames that a reader keeps."""


def pieces(data: Buffer) -> Iterator[bytes]:
    """The bytes in pieces of about FRAME that end after a newline where one is near."""
    rest = b""
    for start in range(0, len(data), READ):
        rest += data[start : start + READ]
        at = 0
        while len(rest) - at > LONGEST:
            cut = rest.rfind(b"\n", at, at + FRAME) + 1 or rest.find(b"\n", at + FRAME, at + LONGEST) + 1 or at + LONGEST
            yield rest[at:cut]
            at = cut
        rest = rest[at:]
    while rest:
        cut = len(rest) if len(rest) <= FRAME else rest.rfind(b"\n", 0, FRAME) + 1 or rest.find(b"\n", FRAME, LONGEST) + 1 or len(rest)
        yield rest[:cut]
        rest = rest[cut:]


def pack(data: Buffer, out: IO[bytes]) -> tuple[bytes, str]:
    """Write `data` as frames to `out`; returns the frame table, and the hex SHA-256 of the bytes as they were read."""
    digest = hashlib.sha256()
    table = array.array("Q")
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    raw = stored = 0
    for piece in pieces(data):
        frame = compressor.compress(piece)
        out.write(frame)
        digest.update(piece)
        raw, stored = raw + len(piece), stored + len(frame)
        table.extend((raw, stored))
    if sys.byteorder == "big":
        table.byteswap()
    return table.tobytes(), digest.hexdigest()


class FramedBytes:
    """The bytes of a packed file, unpacked frame by frame: fits `core.source.Buffer`. Safe to share between threads.

    Raises ReadError when the stored bytes are not what the table says.
    """

    def __init__(self, file: IO[bytes], table: bytes) -> None:
        ends = array.array("Q", bytes(table))
        if sys.byteorder == "big":
            ends.byteswap()
        self._raw = list(ends[0::2])
        self._stored = list(ends[1::2])
        self._file = file
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._unpack = zstandard.ZstdDecompressor()

    def __len__(self) -> int:
        return self._raw[-1] if self._raw else 0

    def __getitem__(self, index: slice, /) -> bytes:
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise ValueError("only plain slices are read")
        found = []
        while start < stop:
            number = bisect_right(self._raw, start)
            begin = self._raw[number - 1] if number else 0
            found.append(self._frame(number)[start - begin : stop - begin])
            start = self._raw[number]
        return found[0] if len(found) == 1 else b"".join(found)

    def find(self, sub: bytes, start: int = 0, end: int | None = None, /) -> int:
        """As `bytes.find`, frame by frame."""
        start, end, _ = slice(start, end).indices(len(self))
        while start < end:
            number = bisect_right(self._raw, start)
            at = self[start : min(end, self._raw[number] + len(sub) - 1)].find(sub)
            if at >= 0:
                return start + at
            start = self._raw[number]
        return -1

    def close(self) -> None:
        self._file.close()

    def _frame(self, number: int) -> bytes:
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
            begin = self._stored[number - 1] if number else 0
            size = self._raw[number] - (self._raw[number - 1] if number else 0)
            self._file.seek(begin)
            packed = self._file.read(self._stored[number] - begin)
            try:
                # The declared size is checked first: the decompressor would believe it whatever the bound.
                if zstandard.frame_content_size(packed) != size:
                    raise ReadError(f"stored frame {number} does not have the {size} bytes that its table says", hint="Run verify_store")
                data: bytes = self._unpack.decompress(packed, max_output_size=size)
            except zstandard.ZstdError as error:
                raise ReadError(f"stored frame {number} is damaged ({error})", hint="Run verify_store") from error
            self._kept[number] = data
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return data
