"""What layouts of tables and ways of reaching a store share: a thread, an open store, and a database that can only be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from inspector.core.source import Source


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of a store, as lists show it."""

    id: str
    title: str | None
    rows: int
    at: str | None
    """Newest time that its rows tell, ISO 8601 in UTC."""


class Store(Protocol):
    """An open store. It holds temporary files or a connection: close it when done."""

    kind: str
    """`langgraph-sqlite`, `langgraph-postgres`, …"""

    def threads(self, search: str = "", after: str = "", limit: int = 100) -> list[Thread]:
        """At most `limit` threads in order of their ids: those behind `after`, and with `search` those whose id begins with it."""

    def source(self, thread: str) -> Source:
        """The rows of one thread. Raises ReadError for one that is not there."""

    def close(self) -> None:
        """Give back what it holds."""


class Database(Protocol):
    """A database that is only read, whichever program keeps it."""

    name: str
    """What a person calls it. Never a path of the machine, a host or a login."""
    engine: str
    """sqlite | postgres"""

    def tables(self) -> dict[str, list[str]]:
        """Table -> its columns in order."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        """Run one SELECT; `?` stands for each value. Columns by name; blobs are bytes."""

    def close(self) -> None:
        """Give back connections and temporary files."""
