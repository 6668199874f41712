"""A thread's rows -> what the real checkpointer loads: a SQLite file of its own, or SQL for the PostgreSQL that it came from.

Always something new: the store that a thread came from is never written. The SQL adds rows and leaves those that are there as they are.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.core import tablerow
from inspector.core.errors import ReadError
from inspector.core.jsonspans import lines
from inspector.core.source import Source

TABLES = {
    "checkpoints": (
        ("thread_id", "checkpoint_ns", "checkpoint_id"),
        "thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, "
        "checkpoint BLOB, metadata BLOB",
    ),
    "writes": (
        ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx"),
        "thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, "
        "task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB",
    ),
}
"""Tables of the SQLite checkpointer: primary key and columns, as today's release makes them."""
POSTGRES = frozenset(("checkpoints", "checkpoint_writes", "checkpoint_blobs"))


def rows_of(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """(table, columns) of every row, in order. Raises ReadError for a line that is none: a repair comes first."""
    for part in source.parts:
        for number, (_, _, data) in enumerate(lines(part.data)):
            if not data.strip():
                continue
            try:
                record = json.loads(data)
            except ValueError:
                record = None
            if not isinstance(record, dict) or not isinstance(record.get(tablerow.TABLE), str):
                raise ReadError(f"{part.name}: row {number} is no row of a table", hint="Leave the damaged row out first")
            yield record[tablerow.TABLE], tablerow.unpack(record)


def is_postgres(source: Source) -> bool:
    """Whether a thread comes from PostgreSQL: its export is SQL."""
    return source.hints.get("store") == "langgraph-postgres"


def exported(source: Source) -> tuple[str, bytes] | None:
    """Name and bytes of the file that the real checkpointer loads; None for what is no thread of one. Raises ReadError."""
    thread = source.hints.get("thread", "thread")
    name = re.sub(r"[^\w.-]+", "-", thread)[:100] or "thread"
    if is_postgres(source):
        return f"{name}.sql", "".join(sql(source)).encode("utf-8", "surrogateescape")
    if source.hints.get("store") != "langgraph-sqlite":
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "thread.sqlite")
        write_sqlite(source, path)
        return f"{name}.sqlite", path.read_bytes()


def write_sqlite(source: Source, path: Path) -> None:
    """Write a new SQLite file with the thread. Raises FileExistsError, ReadError."""
    with path.open("xb"):
        pass
    connection = sqlite3.connect(path)
    try:
        for table, (key, columns) in TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({', '.join(key)}))")
        for table, row in rows_of(source):
            known = TABLES.get(table)
            if known is None or not set(row) <= {column.split()[0] for column in known[1].split(", ")}:
                raise ReadError(f"{source.name}: a row of the table {table} does not fit a SQLite checkpointer", hint="Export it as SQL")
            names, places = ", ".join(row), ", ".join("?" * len(row))
            values = [_text(value) if isinstance(value, str) else value for value in row.values()]
            connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", values)
        connection.commit()
    except BaseException as error:
        connection.close()
        path.unlink()
        if isinstance(error, sqlite3.Error):
            raise ReadError(f"{source.name}: {error}", hint="Two rows have the same key, or one lacks a column") from None
        raise
    connection.close()


def _text(value: str) -> str:
    """A text as SQLite takes it: bytes that are no UTF-8 become a sign that stands for them."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def sql(source: Source) -> Iterator[str]:
    """Statements, one a line or more, that add the thread's rows to a PostgreSQL whose tables are there. Raises ReadError."""
    yield "BEGIN;\n"
    for table, row in rows_of(source):
        if table not in POSTGRES:
            raise ReadError(f"{source.name}: a row of the table {table} does not fit a PostgreSQL checkpointer", hint="Export it as a SQLite file")
        names, values = ", ".join(map(_name, row)), ", ".join(map(_literal, row.values()))
        yield f"INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT DO NOTHING;\n"
    yield "COMMIT;\n"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    text = str(value).replace("\0", "")
    if "\\" in text:
        return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return "'" + text.replace("'", "''") + "'"
