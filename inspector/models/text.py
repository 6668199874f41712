"""Text that both databases can hold."""

from __future__ import annotations

import math
import re
from typing import Any

REFUSED = re.compile("[\x00\ud800-\udfff]")


def clean(text: str | None, limit: int | None = None) -> str:
    """`text` without what PostgreSQL text refuses (U+0000, lone surrogates become U+FFFD), cut to `limit` characters. None gives ""."""
    if not text:
        return ""
    return REFUSED.sub("\ufffd", text[:limit] if limit else text)


def clean_json(value: Any) -> Any:
    """A JSON value with every string (keys too) cleaned, for a JSONField. A number that is none in JSON (1e999) becomes its name."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
