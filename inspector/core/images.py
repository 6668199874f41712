"""Width and height of an image from its first bytes; nothing is decoded."""

from __future__ import annotations

import base64
import binascii
import struct

HEAD = 1 << 16
"""Base64 characters looked at: enough to pass the metadata that cameras write before a JPEG's frame header."""


def pixels(data: str) -> tuple[int, int] | None:
    """(width, height) of a base64 PNG, GIF, WebP or JPEG; None for anything else or a damaged head."""
    try:
        head = base64.b64decode(data[:HEAD][: len(data[:HEAD]) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            width, height = struct.unpack_from(">II", head, 16)
        elif head[:6] in (b"GIF87a", b"GIF89a"):
            width, height = struct.unpack_from("<HH", head, 6)
        elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp(head)
        elif head.startswith(b"\xff\xd8"):
            return _jpeg(head)
        else:
            return None
    except struct.error:
        return None
    return width, height


def _webp(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
        return width, height
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Walk the segments to the frame header (SOF0-SOF15 without DHT, JPG and DAC)."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 2 + struct.unpack_from(">H", head, at + 2)[0]
    return None
