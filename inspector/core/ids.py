"""New ids without chance: the same seed and words give the same id, so that a plan can be made twice and compared."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta


def derived(seed: str, *words: str) -> str:
    """An id in the form of a UUID, version 8 (made by the application): SHA-256 over the seed and the words."""
    digest = hashlib.sha256("\0".join((seed, *words)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{'89ab'[int(digest[16], 16) % 4]}{digest[17:20]}-{digest[20:32]}"


EPOCH = datetime(1582, 10, 15, tzinfo=UTC)


def time_of(id: str) -> str | None:
    """The time that a UUID of version 6 holds, ISO 8601 with `Z`; None for any other text."""
    digits = id.replace("-", "")
    if len(digits) != 32 or digits[12] != "6":
        return None
    try:
        ticks = int(digits[:12], 16) << 12 | int(digits[13:16], 16)
    except ValueError:
        return None
    return (EPOCH + timedelta(microseconds=ticks // 10)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def following(id: str, step: int, seed: str) -> str:
    """A UUID of version 6 that sorts right behind another one: the next tick, with `step` in its clock field. Raises ValueError."""
    digits = id.replace("-", "")
    ticks = (int(digits[:12], 16) << 12 | int(digits[13:16], 16)) + 1
    node = hashlib.sha256(f"{seed}\0{id}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    high = f"{ticks >> 12:012x}"
    return f"{high[:8]}-{high[8:]}-6{ticks & 0xFFF:03x}-{0x8000 | step & 0x3FFF:04x}-{node}"
