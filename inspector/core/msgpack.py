"""MessagePack blobs of checkpoint stores, decoded to inert values and written back: nothing named in them is imported, built or called.

The serializer of LangGraph wraps every Python object in an extension: its code says how the object would be built, its payload (MessagePack
again) names module, class and arguments. Here an extension becomes an `Inert`, which only says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import ormsgpack

DEPTH: Final = 64
"""Nesting of values, extensions included, that is read."""
SIZE: Final = 64 << 20
"""Bytes of one blob that are read."""
ITEMS: Final = 5_000_000
"""Values of one blob that are read: a small blob may hold very many."""

POSITIONAL, KEYWORDS, METHOD = 1, 2, 3
"""Codes of constructors with a list of arguments, with named arguments, and of those called through a method. 0: one argument."""
MODEL_V1, MODEL, ARRAY, DELTA = 4, 5, 6, 7
"""Pydantic 1 and 2 models, numpy arrays, snapshots of a delta channel."""
WIDTHS: Final = {0: 3, POSITIONAL: 3, KEYWORDS: 3, METHOD: 4, MODEL_V1: 3, MODEL: 4}
"""Items of each payload that names a constructor."""
DELTA_NAME: Final = "_DeltaSnapshot"


class Undecodable(ValueError):
    """The bytes are no MessagePack that is read: damaged, too deep, too large."""


@dataclass(frozen=True, slots=True)
class Inert:
    """An object that was not built: what would have been called with what."""

    code: int
    """The extension's code; -1: a constructor written as JSON."""
    module: str
    name: str
    argument: Any
    method: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """Named arguments; empty where there are none."""
        return self.argument if isinstance(self.argument, dict) else {}

    @property
    def items(self) -> list[Any]:
        """Arguments in a list; empty where there are none."""
        return self.argument if isinstance(self.argument, list) else []


def decode(data: bytes) -> Any:
    """The value of a blob: None, bool, int, float, str, bytes, list, dict and Inert. Raises Undecodable."""
    if len(data) > SIZE:
        raise Undecodable(f"{len(data)} bytes; at most {SIZE} are read")
    value = _unpack(data, 0)
    _measure(value)
    return value


def _unpack(data: bytes, depth: int) -> Any:
    if depth > DEPTH:
        raise Undecodable("nested too deeply")

    def extension(code: int, payload: bytes) -> Any:
        return _inert(code, _unpack(payload, depth + 1), payload)

    try:
        return ormsgpack.unpackb(data, ext_hook=extension, option=ormsgpack.OPT_NON_STR_KEYS)
    except Undecodable:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise Undecodable(str(error)) from None


def _inert(code: int, value: Any, payload: bytes) -> Inert:
    if code == DELTA:
        return Inert(code, "", DELTA_NAME, value)
    width = WIDTHS.get(code)
    if width and isinstance(value, list) and len(value) == width and isinstance(value[0], str) and isinstance(value[1], str):
        return Inert(code, value[0], value[1], value[2], str(value[3]) if width == 4 else None)
    return Inert(code, "", "", payload)


def _measure(value: Any) -> None:
    """Raises Undecodable for a value that is nested too deeply or holds too many values."""
    level, depth, count = [value], 0, 0
    while level:
        if depth > DEPTH:
            raise Undecodable("nested too deeply")
        below: list[Any] = []
        for each in level:
            if isinstance(each, Inert):
                below.append(each.argument)
            elif isinstance(each, dict):
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
        count += len(below)
        if count > ITEMS:
            raise Undecodable(f"more than {ITEMS} values")
        level, depth = [each for each in below if isinstance(each, Inert | dict | list)], depth + 1


def encode(value: Any) -> bytes:
    """The blob of a decoded value; what `decode` gave is written back with the same meaning. Raises Undecodable for other types."""
    try:
        return ormsgpack.packb(value, default=_extension, option=ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_PASSTHROUGH_DATACLASS)
    except (ValueError, TypeError) as error:
        raise Undecodable(str(error)) from None


def _extension(value: Any) -> ormsgpack.Ext:
    if not isinstance(value, Inert):
        raise TypeError(f"a {type(value).__name__} can't be written")
    if value.code == DELTA:
        return ormsgpack.Ext(DELTA, encode(value.argument))
    if value.code in WIDTHS and value.name:
        pieces = [value.module, value.name, value.argument, value.method][: WIDTHS[value.code]]
        return ormsgpack.Ext(value.code, encode(pieces))
    return ormsgpack.Ext(value.code, value.argument)


def walk(value: Any) -> Iterator[Inert]:
    """Every inert value in a decoded one, outer ones first."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Inert):
            yield each
            pending.append(each.argument)
        elif isinstance(each, dict):
            pending.extend(reversed(each.values()))
        elif isinstance(each, list):
            pending.extend(reversed(each))
