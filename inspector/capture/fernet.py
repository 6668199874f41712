"""What the OpenAI Agents SDK's EncryptedSession wrote, opened with its key: Fernet tokens, each session with a key derived from the master key."""

from __future__ import annotations

import base64
import binascii
import hmac
from hashlib import sha256

from Crypto.Cipher import AES
from Crypto.Hash import SHA256
from Crypto.Protocol.KDF import HKDF

INFO = b"agents.session-store.hkdf.v1"
"""What the SDK derives its keys for."""
VERSION = 0x80
HEAD, TAG, BLOCK = 25, 32, 16
"""Bytes before the text (version, time, vector), behind it, and of a block."""


def session_key(master: bytes, session: str) -> bytes:
    """The 32 bytes that sign and encrypt one session's items. A master key that spells 32 bytes in base64 counts as those."""
    try:
        plain = base64.urlsafe_b64decode(master)
    except (binascii.Error, ValueError):
        plain = b""
    made = HKDF(plain if len(plain) == 32 else master, 32, session.encode("utf-8", "surrogatepass"), SHA256, context=INFO)
    assert isinstance(made, bytes)
    return made


def opened(key: bytes, token: str) -> bytes | None:
    """The text of a token, whatever its age; None where the key is another one or the token is damaged."""
    try:
        data = base64.urlsafe_b64decode(token)
    except (binascii.Error, ValueError):
        return None
    body, tag = data[:-TAG], data[-TAG:]
    if len(data) < HEAD + BLOCK + TAG or data[0] != VERSION or (len(body) - HEAD) % BLOCK:
        return None
    if not hmac.compare_digest(hmac.digest(key[:16], body, sha256), tag):
        return None
    text = AES.new(key[16:], AES.MODE_CBC, iv=body[9:HEAD]).decrypt(body[HEAD:])
    return text[: -text[-1]] if 1 <= text[-1] <= BLOCK else None
