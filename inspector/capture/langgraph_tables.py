"""The tables of LangGraph's checkpointers -> one Source for each thread: SQLite and PostgreSQL, of every release.

Part 0 holds the rows of the thread in the order of their checkpoints, each checkpoint before the writes of its tasks; on PostgreSQL a second part
holds the blobs that checkpoints share. Columns are read by name: releases differ in their order, and in `task_path`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from inspector.core import ids, tablerow
from inspector.core.errors import ReadError
from inspector.core.source import Part, Source

from . import aes
from .limits import Limits, check
from .tables import Database, Thread

CHECKPOINTS = "checkpoints"
BLOBS = "checkpoint_blobs"
NEEDED = frozenset(("thread_id", "checkpoint_ns", "checkpoint", "metadata"))
LISTED = """
WITH RECURSIVE listed(id) AS (
    SELECT * FROM (SELECT thread_id FROM checkpoints WHERE {first} ORDER BY thread_id LIMIT 1) begun
    UNION ALL
    SELECT (SELECT c.thread_id FROM checkpoints c WHERE c.thread_id > listed.id {bound} ORDER BY c.thread_id LIMIT 1) FROM listed
    WHERE listed.id IS NOT NULL
)
SELECT id, (SELECT count(*) FROM checkpoints c WHERE c.thread_id = id) AS checkpoints,
    (SELECT count(*) FROM {writes} w WHERE w.thread_id = id) AS writes, {newest} AS newest
FROM (SELECT id FROM listed WHERE id IS NOT NULL {matching} LIMIT {limit}) page
"""
"""Jumps from thread to thread along the primary key, however many checkpoints each has."""
LAST = "\U0010fffd"
"""Sorts behind every other character: with it a prefix is a range of the index."""


def opened(database: Database, key: bytes | None = None, limits: Limits = Limits()) -> LangGraphStore | None:
    """The store, where the tables are LangGraph's."""
    tables = database.tables()
    writes = next((name for name in ("checkpoint_writes", "writes") if name in tables), None)
    if writes is None or not NEEDED <= set(tables.get(CHECKPOINTS, ())):
        return None
    return LangGraphStore(database, tables, writes, key, limits)


class LangGraphStore:
    """Fits `tables.Store`. `key` decrypts what an encrypting serializer wrote; without one it stays opaque."""

    def __init__(self, database: Database, tables: dict[str, list[str]], writes: str, key: bytes | None, limits: Limits) -> None:
        self.kind = f"langgraph-{database.engine}"
        self.name = database.name
        self._database, self._tables, self._writes, self._limits = database, tables, writes, limits
        self._key = key if key is not None and len(key) in aes.LENGTHS else None
        # A shallow saver of old keeps one checkpoint for a thread and no id beside it.
        by_id = "checkpoint_id" in tables[CHECKPOINTS]
        self._newest = "(SELECT max(c.checkpoint_id) FROM checkpoints c WHERE c.thread_id = id)" if by_id else "NULL"

    def close(self) -> None:
        self._database.close()

    def threads(self, search: str = "", after: str = "", limit: int = 100) -> list[Thread]:
        first = "thread_id > ?" if after >= search else "thread_id >= ?"
        values: list[Any] = [max(after, search)]
        bound, matching = ("AND c.thread_id <= ?", "AND substr(id, 1, ?) = ?") if search else ("", "")
        if search:
            values += [search + LAST, len(search), search]
        statement = LISTED.format(first=first, bound=bound, matching=matching, limit=int(limit), writes=self._writes, newest=self._newest)
        return [
            Thread(row["id"], None, row["checkpoints"] + row["writes"], ids.time_of(row["newest"] or ""))
            for row in self._database.rows(statement, values)
        ]

    def source(self, thread: str) -> Source:
        checkpoints = [(row, 0) for row in self._rows(CHECKPOINTS, thread)]
        writes = [(row, 1) for row in self._rows(self._writes, thread)]
        if not checkpoints and not writes:
            raise ReadError(f"{self.name}: no thread is called {thread!r}", hint="List the threads of the store")
        check(self._limits, "rows", self.name, len(checkpoints) + len(writes))
        ordered = sorted(checkpoints + writes, key=_place)
        lines = (self._line(self._writes if kind else CHECKPOINTS, row) for row, kind in ordered)
        place = quote(thread, safe="")
        parts = [Part(f"{self.name}/thread/{place}", self._joined(lines))]
        if BLOBS in self._tables:
            blobs = sorted(self._rows(BLOBS, thread), key=lambda row: (row["checkpoint_ns"], row["channel"], row.get("version") or ""))
            parts.append(Part(f"{self.name}/{BLOBS}/{place}", self._joined(self._line(BLOBS, row) for row in blobs)))
        return Source(self.name, tuple(parts), {"store": self.kind, "thread": thread})

    def _joined(self, lines: Iterable[bytes]) -> bytes:
        size = 0
        taken = []
        for line in lines:
            check(self._limits, "row_bytes", f"a row of {self.name}", len(line))
            size += len(line)
            check(self._limits, "bytes", self.name, size)
            taken.append(line)
        return b"".join(taken)

    def _rows(self, table: str, thread: str) -> Iterator[dict[str, Any]]:
        """All columns; on PostgreSQL JSON as the text that the server gives, so that it is neither parsed nor written anew."""
        named = self._tables[table]
        if self._database.engine == "postgres":
            chosen = ", ".join(f"{name}::text AS {name}" if table == CHECKPOINTS and name in ("checkpoint", "metadata") else name for name in named)
        else:
            chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in named)
        yield from self._database.rows(f"SELECT {chosen} FROM {table} WHERE thread_id = ?", (thread,))

    def _line(self, table: str, row: dict[str, Any]) -> bytes:
        kind = row.get("type")
        if self._key is None or not isinstance(kind, str) or not kind.endswith("+aes"):
            return tablerow.pack(table, row)
        column = next((name for name in ("checkpoint", "value", "blob") if isinstance(row.get(name), bytes)), None)
        opened = aes.decrypt(self._key, row[column]) if column else None
        return tablerow.pack(table, row, {column: opened} if column and opened is not None else None)


def _place(row: tuple[dict[str, Any], int]) -> tuple[str, str, int, str, int]:
    columns, kind = row
    idx = columns.get("idx")
    return (
        str(columns.get("checkpoint_id") or ""), str(columns.get("checkpoint_ns") or ""), kind, str(columns.get("task_path") or "") +
        str(columns.get("task_id") or ""), idx if isinstance(idx, int) else 0,
    )  # fmt: skip
