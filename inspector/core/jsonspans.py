"""JSON Lines cut into byte-exact lines, and the one tolerant JSON reader of core.

Lines split on b"\\n" only: `str.splitlines` also cuts at U+2028 inside a JSON string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from .source import Buffer

SLICE = 256 << 10
"""Bytes read at a time: a framed or mapped part is never copied whole, and a slice stays in the processor's cache until its lines are parsed."""


def lines(data: Buffer) -> Iterator[tuple[int, int, bytes]]:
    """(start, end, bytes) of each line; `end` and the bytes include the newline. The lines tile the part."""
    size = len(data)
    begin = 0
    begun: list[bytes] = []  # pieces of a line that began in an earlier slice
    for base in range(0, size, SLICE):
        chunk = data[base : min(size, base + SLICE)]
        at = chunk.find(b"\n") + 1
        if not at:
            begun.append(chunk)
            continue
        yield begin, base + at, b"".join((*begun, chunk[:at]))
        while cut := chunk.find(b"\n", at) + 1:
            yield base + at, base + cut, chunk[at:cut]
            at = cut
        begin, begun = base + at, [chunk[at:]]
    if begin < size:
        yield begin, size, b"".join(begun)


class NotJson(ValueError):
    """The bytes are no JSON text, by the strict grammar that JavaScript clients use (NaN and Infinity are refused)."""


def _no_constant(name: str) -> Any:
    raise NotJson(f"{name} is no JSON value")


def loads(data: bytes) -> Any:
    """Parse JSON bytes the way a JavaScript client would. Raises NotJson.

    What orjson refuses although a client reads it (lone surrogates, 1e400, bytes that are no UTF-8, depth over 1024) goes through
    `json`. A leading byte order mark is skipped.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)
    except RecursionError as error:
        raise NotJson("nested too deeply to read") from error
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error)) from error


def loads_object(data: bytes) -> dict[str, Any]:
    """The JSON object that the bytes hold; empty where they hold none."""
    try:
        value = loads(data)
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}


def leading_object(data: bytes) -> int | None:
    """Where the JSON object that the bytes begin with ends, or None. White space before it is skipped."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        value, end = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    skipped = len(data) - len(data.removeprefix(b"\xef\xbb\xbf"))
    return skipped + len(text[:end].encode("utf-8", "surrogateescape")) if isinstance(value, dict) else None


def recover(data: bytes) -> list[tuple[int, int]]:
    """Spans of whole JSON objects inside a line that does not parse as one: a cut record glued to the next, or two on one line.

    An object counts when it parses up to its own end and has a `type` and one of the keys that records, unlike their inner objects,
    carry. Spans do not overlap; what lies between them is lost text.
    """
    found: list[tuple[int, int]] = []
    text = data.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    left = max(PASSES * len(text), 1_000_000)
    at = counted = byte = 0
    while left > 0 and (at := text.find('{"', at)) >= 0:
        if not (at == 0 or text[at - 1] in "}\x00 \t" or text.startswith(TOP_LEVEL, at)):
            at += 2
            continue
        value, end = None, len(text)
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Unterminated"):
                end = error.pos
        except (ValueError, RecursionError):
            pass
        if isinstance(value, dict) and "type" in value and not RECORD_KEYS.isdisjoint(value):
            byte += len(text[counted:at].encode("utf-8", "surrogateescape"))
            length = len(text[at:end].encode("utf-8", "surrogateescape"))
            found.append((byte, byte + length))
            at, counted, byte = end, end, byte + length
        else:
            left -= end - at
            at += 2
    return found


PASSES = 16
"""How often, on the whole, a damaged line is read again in search of records: a hostile one would ask for a pass from each of its bytes."""
TOP_LEVEL = ('{"parentUuid"', '{"type"', '{"uuid"', '{"timestamp"', '{"sessionId"', '{"session_id"')
"""How records of JSON Lines transcripts begin: where a record may start inside another's cut text."""

RECORD_KEYS = frozenset(("parentUuid", "uuid", "sessionId", "session_id", "leafUuid", "messageId"))
