"""Packed bytes read like the bytes themselves, a slice reads only its frames, and damage is never believed."""

from __future__ import annotations

import array
import hashlib
import io

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.capture import frames
from inspector.capture.frames import FramedBytes, pack
from inspector.core.errors import ReadError


def framed(data: bytes) -> FramedBytes:
    out = io.BytesIO()
    return FramedBytes(out, pack(data, out)[0])


LINES = b"".join(b'{"n":%d,"x":"%s"}\n' % (number, b"word " * (number % 700)) for number in range(4000))


@pytest.mark.parametrize("data", [b"", b"x", b"\n", LINES, b"z" * 3_000_000, LINES[:-1], b"z" * 1_500_000 + LINES, LINES + b"q" * 5_000_000])
def test_every_byte_comes_back(data: bytes) -> None:
    read = framed(data)
    assert len(read) == len(data)
    assert read[0 : len(data)] == data
    assert read[10:20] == data[10:20] and read[-5:] == data[-5:] and read[len(data) : len(data) + 9] == b""


def test_frames_end_at_row_ends_and_are_of_the_size_that_paging_needs() -> None:
    pieces = list(frames.pieces(LINES))
    assert b"".join(pieces) == LINES
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert all(frames.FRAME // 2 < len(piece) <= frames.FRAME for piece in pieces[:-1])


class Counted(io.BytesIO):
    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


def test_a_slice_reads_only_its_frames() -> None:
    out = Counted()
    read = FramedBytes(out, pack(LINES, out)[0])
    middle = len(LINES) // 2
    assert read[middle : middle + 1000] == LINES[middle : middle + 1000]
    assert 0 < out.taken < len(out.getvalue()) / 4


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(LINES)), st.integers(0, 600_000), st.sampled_from([b'{"n":17,', b"\n", b"word word", b"absent", b'"}\n{"n":2999']))
def test_slices_and_find_are_those_of_bytes(start: int, length: int, wanted: bytes) -> None:
    assert SHARED[start : start + length] == LINES[start : start + length]
    assert SHARED.find(wanted, start) == LINES.find(wanted, start)
    assert SHARED.find(wanted, start, start + length) == LINES.find(wanted, start, start + length)


SHARED = framed(LINES)


def test_a_frame_that_declares_more_than_the_table_says_is_refused_before_it_is_unpacked() -> None:
    bomb = zstandard.ZstdCompressor().compress(b"\0" * 50_000_000)
    table = array.array("Q", (1000, len(bomb))).tobytes()
    with pytest.raises(ReadError, match="table says"):
        FramedBytes(io.BytesIO(bomb), table)[0:10]


def test_a_changed_byte_is_noticed() -> None:
    out = io.BytesIO()
    table, sha256 = pack(LINES, out)
    assert sha256 == hashlib.sha256(LINES).hexdigest()
    spoiled = bytearray(out.getvalue())
    spoiled[len(spoiled) // 2] ^= 1
    with pytest.raises(ReadError, match="verify_store"):
        FramedBytes(io.BytesIO(bytes(spoiled)), table)[0 : len(LINES)]
