"""Text that both databases can hold."""

from __future__ import annotations

import re

REFUSED = re.compile("[\x00\ud800-\udfff]")


def clean(text: str | None, limit: int | None = None) -> str:
    """`text` without what PostgreSQL text refuses (U+0000, lone surrogates become U+FFFD), cut to `limit` characters. None gives ""."""
    if not text:
        return ""
    return REFUSED.sub("\ufffd", text[:limit] if limit else text)
