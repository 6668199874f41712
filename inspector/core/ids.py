"""New ids without chance: the same seed and words give the same id, so that a plan can be made twice and compared."""

from __future__ import annotations

import hashlib


def derived(seed: str, *words: str) -> str:
    """An id in the form of a UUID, version 8 (made by the application): SHA-256 over the seed and the words."""
    digest = hashlib.sha256("\0".join((seed, *words)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{'89ab'[int(digest[16], 16) % 4]}{digest[17:20]}-{digest[20:32]}"
