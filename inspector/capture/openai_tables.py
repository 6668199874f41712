"""The tables of the OpenAI Agents SDK's sessions -> one Source for each session: SQLite and PostgreSQL, with and without branches, encrypted or not.

Part 0 holds the session's messages in the order in which the SDK reads them; further parts, by name, the session's row and its rows of the tables
beside. The tables' names are the application's choice, so they are told by their columns. `openai_file.py` goes the other way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from inspector.core import tablerow
from inspector.core.errors import ReadError
from inspector.core.jsonspans import loads_object
from inspector.core.source import Part, Source

from . import fernet
from .limits import Limits, check
from .tables import Database, Thread

MESSAGES = frozenset(("id", "session_id", "message_data", "created_at"))
SESSIONS = frozenset(("session_id", "created_at", "updated_at"))
STRUCTURE = "message_structure"
BESIDE = (STRUCTURE, "turn_usage", "branch_reservations", "session_clear_generations")
"""Tables that only a session with branches has."""
SAMPLE = 512
"""Characters of a first message that are looked at for a title."""
LAST = "\U0010fffd"
"""Sorts behind every other character: with it a prefix is a range of the index."""


@dataclass(frozen=True, slots=True)
class Names:
    """The application's names of one pair of tables."""

    sessions: str
    messages: str


def opened(database: Database, key: bytes | None = None, limits: Limits = Limits()) -> OpenAIStore | None:
    """The store, where there is a table of messages and one of sessions. Of several pairs the one with the SDK's own names, else the first."""
    tables = database.tables()
    messages = [name for name, columns in tables.items() if set(columns) >= MESSAGES]
    sessions = [name for name, columns in tables.items() if set(columns) == SESSIONS]
    if not messages or not sessions:
        return None
    chosen = next((name for name in messages if name == "agent_messages"), messages[0])
    return OpenAIStore(database, tables, Names(_beside(sessions, chosen), chosen), key, limits)


def _beside(sessions: list[str], messages: str) -> str:
    """The table of sessions that belongs to one of messages: the one whose name is most like it."""

    def alike(name: str) -> int:
        return next((number for number, pair in enumerate(zip(name, messages, strict=False)) if pair[0] != pair[1]), min(len(name), len(messages)))

    return max(sessions, key=alike)


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


class OpenAIStore:
    """Fits `tables.Store`. `key` is the master key of encrypted sessions; without it their items stay closed."""

    def __init__(self, database: Database, tables: dict[str, list[str]], names: Names, key: bytes | None, limits: Limits) -> None:
        branches = "advanced-" if STRUCTURE in tables else ""
        self.kind = f"openai-agents-{branches}{database.engine}"
        self.name = database.name
        self._database, self._tables, self._names, self._key, self._limits = database, tables, names, key, limits
        self._order = "created_at, id" if self._by_time() else "id"

    def _by_time(self) -> bool:
        """Whether SQLAlchemySession made the tables: it sorts by time first. Its times can't be missing; the plain session's can."""
        if self._database.engine != "sqlite":
            return True
        found = self._database.rows("SELECT \"notnull\" AS demanded FROM pragma_table_info(?) WHERE name = 'created_at'", (self._names.messages,))
        return any(row["demanded"] for row in found)

    def close(self) -> None:
        self._database.close()

    def threads(self, search: str = "", after: str = "", limit: int = 100) -> list[Thread]:
        first = "session_id > ?" if after >= search else "session_id >= ?"
        values: list[Any] = [max(after, search)]
        bound = "AND session_id <= ? AND substr(session_id, 1, ?) = ?" if search else ""
        if search:
            values += [search + LAST, len(search), search]
        table = quoted(self._names.sessions)
        found = self._database.rows(
            f"SELECT session_id, CAST(updated_at AS TEXT) AS at FROM {table} WHERE {first} {bound} ORDER BY session_id LIMIT {int(limit)}", values
        )
        return [self._thread(row["session_id"], row["at"]) for row in list(found)]

    def _thread(self, id: str, at: Any) -> Thread:
        table = quoted(self._names.messages)
        count = next(self._database.rows(f"SELECT count(*) AS count FROM {table} WHERE session_id = ?", (id,)))["count"]
        head = f"SELECT substr(message_data, 1, {SAMPLE}) AS head FROM {table} WHERE session_id = ? ORDER BY {self._order} LIMIT 1"
        first = next(self._database.rows(head, (id,)), {"head": ""})["head"]
        return Thread(id, _title(first), count, f"{str(at)[:19].replace(' ', 'T')}Z" if at else None)

    def source(self, thread: str) -> Source:
        place = quote(thread, safe="")
        messages = self._part(self._names.messages, thread, self._order)
        known = self._part(self._names.sessions, thread, "session_id")
        if not messages and not known:
            raise ReadError(f"{self.name}: no session is called {thread!r}", hint="List the sessions of the store")
        beside = [(self._names.sessions, known)]
        for table in BESIDE:
            if table in self._tables and "session_id" in self._tables[table]:
                order = "sequence_number, id" if table == STRUCTURE else "session_id"
                beside.append((table, self._part(table, thread, order)))
        parts = [Part(f"{self.name}/{self._names.messages}/{place}", messages)]
        parts += [Part(f"{self.name}/{table}/{place}", data) for table, data in sorted(beside) if data]
        check(self._limits, "bytes", self.name, sum(len(part.data) for part in parts))
        return Source(self.name, tuple(parts), {"store": self.kind, "thread": thread})

    def _part(self, table: str, thread: str, order: str) -> bytes:
        """The rows of one table as lines."""
        size, taken = 0, []
        for row in self._rows(table, thread, order):
            line = self._line(table, row, thread)
            size += len(line)
            check(self._limits, "row_bytes", f"a row of {self.name}", len(line))
            check(self._limits, "bytes", self.name, size)
            taken.append(line)
            check(self._limits, "rows", self.name, len(taken))
        return b"".join(taken)

    def _rows(self, table: str, thread: str, order: str) -> Iterator[dict[str, Any]]:
        """All columns; times, and JSON columns of PostgreSQL, as the text that the server gives."""
        plain = ("id", "message_id", "sequence_number", "user_turn_number", "branch_turn_number", "generation", "requests")
        numbers = {name for name in self._tables[table] if name in plain or name.endswith("_tokens")}
        asked = ", ".join(
            quoted(name) if name in numbers or self._database.engine == "sqlite" else f"CAST({quoted(name)} AS TEXT) AS {quoted(name)}"
            for name in self._tables[table]
        )
        yield from self._database.rows(f"SELECT {asked} FROM {quoted(table)} WHERE session_id = ? ORDER BY {order}", (thread,))

    def _line(self, table: str, row: dict[str, Any], thread: str) -> bytes:
        data = row.get("message_data")
        if self._key is None or not isinstance(data, str) or '"__enc__"' not in data:
            return tablerow.pack(table, row)
        payload = loads_object(data.encode("utf-8", "surrogatepass")).get("payload")
        text = fernet.opened(fernet.session_key(self._key, thread), payload) if isinstance(payload, str) else None
        return tablerow.pack(table, row, {"message_data": text} if text is not None else None)


def _title(head: Any) -> str | None:
    """The beginning of a prompt, from the beginning of its item's JSON; None where it can't be told."""
    if not isinstance(head, str):
        return None
    item = loads_object(head.encode("utf-8", "surrogatepass"))
    content = item.get("content")
    return content[:200] if item.get("role") == "user" and isinstance(content, str) else None
