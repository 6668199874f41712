"""JSON pointers (RFC 6901), and when a value that was found is the one that was expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
SLOT = re.compile(r"\{([a-z][a-z0-9_]{0,39})\}")
"""`{name}` stands for the value that a person typed."""
MISSING: Final = object()


def found_at(value: Any, pointer: str) -> Any:
    """What a pointer leads to, or MISSING. "" is the whole value."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def same(found: Any, wanted: Any, values: Mapping[str, str]) -> bool:
    """Whether a found value is the expected one. Text is never a number, nor true the number 1; a typed value equals text or a whole number."""
    slot = SLOT.fullmatch(wanted) if isinstance(wanted, str) else None
    if slot:
        return isinstance(found, str | int) and not isinstance(found, bool) and str(found) == values[slot[1]]
    if isinstance(found, bool) or isinstance(wanted, bool) or found is None or wanted is None:
        return found is wanted
    if isinstance(found, int | float | Decimal) and isinstance(wanted, int | float | Decimal):
        return Decimal(str(found)) == Decimal(str(wanted))
    return type(found) is type(wanted) and bool(found == wanted)
