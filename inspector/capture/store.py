"""A store at a path or address: which kind it is, told by its tables.

One file for each way of reaching one (`sqlite_file.py`, `postgres_store.py`), one for each layout of tables (`langgraph_tables.py`). Stores are
only ever read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import langgraph_tables
from .limits import Limits
from .postgres_store import PostgresDatabase
from .sqlite_file import SqliteFile, is_sqlite
from .tables import Database, Store

LAYOUTS: tuple[Callable[[Database, bytes | None, Limits], Store | None], ...] = (langgraph_tables.opened,)
"""Layouts of tables, tried in order: what opens a store of each, or says that it is none."""


def open_store(path: Path, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store in a SQLite file, with what lies in its write-ahead log; None for any other file and for tables of no layout that is known.

    Raises ReadError, LimitError.
    """
    return opened(SqliteFile(path, limits), key, limits) if is_sqlite(path) else None


def connected(name: str, address: str, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store behind a named connection: a PostgreSQL address, or the path of a SQLite file. Raises ReadError, LimitError."""
    if address.startswith(("postgresql://", "postgres://")):
        return opened(PostgresDatabase(name, address), key, limits)
    return open_store(Path(address), key, limits)


def opened(database: Database, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store in an open database, which is closed where there is none."""
    for layout in LAYOUTS:
        store = layout(database, key, limits)
        if store is not None:
            return store
    database.close()
    return None
