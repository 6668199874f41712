"""A store at a path or address: which kind it is, told by its tables.

One file for each way of reaching one (`sqlite_file.py`, `postgres_store.py`), one for each layout of tables (`langgraph_tables.py`). Stores are
only ever read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from inspector.core.errors import ReadError
from inspector.core.source import Source

from . import langgraph_tables, openai_tables
from .files import Tree
from .layout import Candidate
from .limits import Limits, check
from .postgres_store import PostgresDatabase
from .sqlite_file import SqliteFile, is_sqlite
from .tables import Database, Store

LAYOUTS: tuple[Callable[[Database, bytes | None, Limits], Store | None], ...] = (langgraph_tables.opened, openai_tables.opened)
"""Layouts of tables, tried in order: what opens a store of each, or says that it is none."""


PAGE = 1000
"""Threads that are listed at a time."""


def open_store(path: Path, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store in a SQLite file, with what lies in its write-ahead log; None for any other file and for tables of no layout that is known.

    Raises ReadError, LimitError.
    """
    return opened(SqliteFile(path, limits), key, limits) if is_sqlite(path) else None


def is_postgres(address: str) -> bool:
    """Whether an address is one of a PostgreSQL server, and no path."""
    return address.startswith(("postgresql://", "postgres://"))


def connected(name: str, address: str, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store behind a named connection: a PostgreSQL address, or the path of a SQLite file. Raises ReadError, LimitError."""
    if is_postgres(address):
        return opened(PostgresDatabase(name, address), key, limits)
    return open_store(Path(address), key, limits)


@dataclass(slots=True)
class StoredThread(Candidate):
    """One thread of an open store, as an import takes it."""

    store: Store | None = None
    thread: str = ""

    @property
    def name(self) -> str:
        return self.thread

    @property
    def id(self) -> str:
        return self.thread

    def source(self, live: Callable[[list[dict[str, object]]], str | None] | None = None) -> Source:
        """Its rows as they are now; a store says nothing of who has it open. Raises ReadError, LimitError."""
        if self.store is None:
            raise ReadError(f"{self.thread}: its store is not open")
        return self.store.source(self.thread)


def candidates(store: Store, place: str, threads: list[str], limits: Limits = Limits()) -> list[StoredThread]:
    """The named threads of a store, or all of them. `place` tells this store from others when it is imported again.

    Raises LimitError for more threads than one import may bring.
    """
    names = list(threads)
    while not threads:
        page = [each.id for each in store.threads(after=names[-1] if names else "", limit=PAGE)]
        names += page
        check(limits, "members", place, len(names))
        if len(page) < PAGE:
            break
    tree = Tree(place.rpartition("/")[2], {}, origins={name: Path(f"{place}/{quote(name, safe='')}") for name in names})
    return [StoredThread(tree, name, "", {}, store=store, thread=name) for name in names]


def opened(database: Database, key: bytes | None = None, limits: Limits = Limits()) -> Store | None:
    """The store in an open database, which is closed where there is none."""
    for layout in LAYOUTS:
        store = layout(database, key, limits)
        if store is not None:
            return store
    database.close()
    return None
