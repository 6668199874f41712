"""A session's rows -> a SQLite file of its own that the OpenAI Agents SDK opens, with the tables' names that the application uses.

Always something new: the store that a session came from is never written. The rows of the parts are in the order in which the SDK is to read them;
it reads by number, so that rows which a repair put in between push the numbers behind them up.
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
from inspector.core.source import Part, Source

from .openai_tables import MESSAGES, SESSIONS, STRUCTURE, quoted

TIME = "TIMESTAMP DEFAULT CURRENT_TIMESTAMP"
SESSION_COLUMNS = f"session_id TEXT PRIMARY KEY, created_at {TIME}, updated_at {TIME}"
MESSAGE_COLUMNS = f"id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at {TIME}"
OTHERS = {
    STRUCTURE: "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main', "
    "message_type TEXT NOT NULL, sequence_number INTEGER NOT NULL, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT, "
    f"created_at {TIME}",
    "turn_usage": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main', "
    "user_turn_number INTEGER NOT NULL, requests INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, "
    f"total_tokens INTEGER DEFAULT 0, input_tokens_details JSON, output_tokens_details JSON, created_at {TIME}, "
    "UNIQUE(session_id, branch_id, user_turn_number)",
    "branch_reservations": "session_id TEXT NOT NULL, branch_id TEXT NOT NULL, PRIMARY KEY (session_id, branch_id)",
    "session_clear_generations": "session_id TEXT PRIMARY KEY, generation INTEGER NOT NULL DEFAULT 0",
}
"""Tables of a session with branches, as today's release makes them."""
Row = dict[str, Any]


def exported(source: Source) -> tuple[str, bytes] | None:
    """Name and bytes of the file that the SDK opens; None for what is no session of a store. Raises ReadError."""
    if not source.hints.get("store", "").startswith("openai-agents"):
        return None
    name = re.sub(r"[^\w.-]+", "-", source.hints.get("thread", "session"))[:100] or "session"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.sqlite")
        write_sqlite(source, path)
        return f"{name}.sqlite", path.read_bytes()


def write_sqlite(source: Source, path: Path) -> None:
    """Write a new SQLite file with the session. Raises FileExistsError, ReadError."""
    tables = {table: rows for table, rows in map(_rows, source.parts) if table}
    messages = next((name for name, rows in tables.items() if rows and set(rows[0]) >= MESSAGES), None)
    sessions = next((name for name, rows in tables.items() if rows and set(rows[0]) == SESSIONS), None)
    if messages is None or sessions is None:
        raise ReadError(f"{source.name}: this is no session of a store", hint="Only a session with its own row and items can be written")
    _renumber(tables, messages)
    with path.open("xb"):
        pass
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"CREATE TABLE {quoted(sessions)} ({SESSION_COLUMNS})")
        reference = f"FOREIGN KEY (session_id) REFERENCES {quoted(sessions)} (session_id) ON DELETE CASCADE"
        about = f"FOREIGN KEY (message_id) REFERENCES {quoted(messages)} (id) ON DELETE CASCADE"
        connection.execute(f"CREATE TABLE {quoted(messages)} ({MESSAGE_COLUMNS}, {reference})")
        connection.execute(f"CREATE INDEX {quoted(f'idx_{messages}_session_id')} ON {quoted(messages)} (session_id, id)")
        for table, columns in OTHERS.items() if STRUCTURE in tables else ():
            owners = [reference, about] if table == STRUCTURE else [reference] if table == "turn_usage" else []
            connection.execute(f"CREATE TABLE {table} ({', '.join([columns, *owners])})")
        for table in (sessions, messages, *(name for name in OTHERS if name in tables)):
            for row in tables[table]:
                names, places = ", ".join(map(quoted, row)), ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {quoted(table)} ({names}) VALUES ({places})", list(row.values()))
        connection.commit()
    except BaseException as error:
        connection.close()
        path.unlink()
        if isinstance(error, sqlite3.Error):
            raise ReadError(f"{source.name}: {error}", hint="Two rows have the same number, or one lacks a column") from None
        raise
    connection.close()


def _rows(part: Part) -> tuple[str, list[Row]]:
    """Table and rows of a part; a damaged line is left out, as the SDK itself passes over it. Raises ReadError for a part of several tables."""
    named, found = "", []
    for _, _, data in lines(part.data):
        try:
            record = json.loads(data)
        except ValueError:
            continue
        if not isinstance(record, dict) or not isinstance(record.get(tablerow.TABLE), str):
            continue
        if named and record[tablerow.TABLE] != named:
            raise ReadError(f"{part.name} holds rows of several tables", hint="This is no session that was read from a store")
        named = record[tablerow.TABLE]
        found.append(tablerow.unpack(record))
    return named, found


def _renumber(tables: dict[str, list[Row]], messages: str) -> None:
    """Numbers that rise with the order of the rows, as low as they can be; and for each message that is new its place on the branches."""
    rows = tables[messages]
    listed = {row.get("message_id") for row in tables.get(STRUCTURE, ())}
    moved: dict[Any, int] = {}
    added: list[tuple[Any, Row]] = []
    last, before = 0, None
    for row, lowest in zip(rows, _lowest_behind(rows), strict=True):
        old = row["id"]
        if STRUCTURE in tables and old not in listed and before is not None:
            added.append((before, row))
        else:
            before = old
        # A number that is higher than one behind it is one that a repair gave to a row in between.
        last = last + 1 if not isinstance(old, int) or old > lowest else max(old, last + 1)
        row["id"] = moved[old] = last
    if STRUCTURE in tables:
        tables[STRUCTURE] = list(_structure(tables[STRUCTURE], moved, added))


def _lowest_behind(rows: list[Row]) -> list[float]:
    """For each row the lowest number of those behind it."""
    found: list[float] = []
    lowest = float("inf")
    for row in reversed(rows):
        found.append(lowest)
        lowest = min(lowest, row["id"]) if isinstance(row["id"], int) else lowest
    return found[::-1]


def _structure(rows: list[Row], moved: dict[Any, int], added: list[tuple[Any, Row]]) -> Iterator[Row]:
    """The rows of the branches with the messages' new numbers, and behind that of the message before it one for each new message."""
    last = 0
    number = max((row["id"] for row in rows if isinstance(row.get("id"), int)), default=0)
    for row in rows:
        old = row.get("message_id")
        if old not in moved:
            continue  # the message is gone
        last = max(row["sequence_number"], last + 1)
        yield {**row, "message_id": moved[old], "sequence_number": last}
        for before, message in added:
            if before == old:
                last, number = last + 1, number + 1
                kind = _kind(message)
                yield {**row, "id": number, "message_id": message["id"], "message_type": kind, "sequence_number": last, "tool_name": None}


def _kind(message: Row) -> str:
    """What the SDK notes of an item's kind."""
    try:
        item = json.loads(message["message_data"])
    except (ValueError, TypeError):
        item = None
    held = item if isinstance(item, dict) else {}
    return str(held.get("role") or held.get("type") or "other")
