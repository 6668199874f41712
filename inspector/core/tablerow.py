"""A row of a store's table as one JSON line, and back: the form in which stores enter core.

`{"table": …, "<column>": …}` with each value as the database holds it; bytes are `{"bytes": TEXT}`, where TEXT is their UTF-8 with each byte
that is none as a lone surrogate (PEP 383). So a row is exact, and the words in a blob can be read and searched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

TABLE: Final = "table"
"""Key of the table's name."""
DECRYPTED: Final = "decrypted"
"""Key of what a column held before it was encrypted, by column: read with a key, and never written back to a store."""


def pack(table: str, columns: Mapping[str, Any], decrypted: Mapping[str, bytes] | None = None) -> bytes:
    """One row as a line that ends with a newline. Values: None, bool, int, float, str, bytes."""
    record: dict[str, Any] = {TABLE: table, **{name: _out(value) for name, value in columns.items()}}
    if decrypted:
        record[DECRYPTED] = {name: _out(value) for name, value in decrypted.items()}
    # A lone surrogate becomes its JSON escape: the form in which Python writes what UTF-8 can't hold.
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def _out(value: Any) -> Any:
    return {"bytes": bytes(value).decode("utf-8", "surrogateescape")} if isinstance(value, bytes | bytearray | memoryview) else value


def unpack(record: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a parsed line, bytes as bytes; without the table's name and what was decrypted."""
    return {name: _in(value) for name, value in record.items() if name not in (TABLE, DECRYPTED)}


def plain(record: Mapping[str, Any], column: str) -> Any:
    """One column's value; None where the row has no such column."""
    return _in(record.get(column))


def decrypted(record: Mapping[str, Any], column: str) -> Any:
    """What an encrypted column held, or None where it was not decrypted."""
    found = record.get(DECRYPTED)
    return _in(found.get(column)) if isinstance(found, dict) else None


def _in(value: Any) -> Any:
    if isinstance(value, dict):
        text = value.get("bytes")
        try:
            return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else None
        except UnicodeEncodeError:  # a surrogate that stands for no byte: no capture wrote this
            return None
    return value
