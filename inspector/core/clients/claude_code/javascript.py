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
    """Without recursion: a record may be nested as deep as the reader goes."""
    root: list[Any] = [value]
    holders: list[Any] = [root]
    while holders:
        holder = holders.pop()
        for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(item, dict):
                holder[key] = {HALF.sub("\ufffd", name): inner for name, inner in item.items()}
                holders.append(holder[key])
            elif isinstance(item, list):
                holder[key] = list(item)
                holders.append(holder[key])
            elif isinstance(item, str):
                holder[key] = HALF.sub("\ufffd", item)
            elif isinstance(item, int | float) and not isinstance(item, bool):
                holder[key] = _number(item)
    return root[0]


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
