"""What LangGraph's encrypting serializer wrote, opened with its key: nonce (16 bytes), tag (16 bytes), text, AES in EAX mode."""

from __future__ import annotations

from Crypto.Cipher import AES

LENGTHS = (16, 24, 32)
"""Bytes that a key may have."""


def decrypt(key: bytes, data: bytes) -> bytes | None:
    """The text, or None where the key is another one or the bytes are damaged. Raises ValueError for a key of a length that AES has not."""
    cipher = AES.new(key, AES.MODE_EAX, nonce=data[:16] or b"\0")
    try:
        return cipher.decrypt_and_verify(data[32:], data[16:32])
    except ValueError:
        return None
