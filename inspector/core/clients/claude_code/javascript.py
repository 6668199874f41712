"""JSON values as a JavaScript client reads and writes them again: doubles for numbers, no lone surrogates on the wire."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

ODD = re.compile(rb"\d{16}|\d[eE][+-]?\d|\\u[dD][89a-fA-F]")
"""Bytes that may hold a number that a double can't carry, or half of a surrogate pair."""
HALF = re.compile("[\ud800-\udfff]")


def as_javascript(value: Any, data: bytes) -> Any:
    """The value as such a client would send it. `data`: the bytes that it was read from, a quick test whether anything changes."""
    return _convert(value) if ODD.search(data) else value


def _convert(value: Any) -> Any:
    if isinstance(value, str):
        return HALF.sub("\ufffd", value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return [_convert(item) for item in value]
    return {_convert(key): _convert(item) for key, item in value.items()}


def _number(value: int | float) -> int | float | None:
    try:
        double = float(value)
    except OverflowError:
        return None
    if not math.isfinite(double):
        return None
    if abs(double) >= 2**53 and abs(double) < 1e21:
        return int(Decimal(repr(double)))
    return int(double) if double.is_integer() and abs(double) < 2**53 else double


def json_text(value: Any) -> str:
    """What `JSON.stringify` makes of a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
