"""A PostgreSQL database that is only read: one snapshot for all that is asked, in a session that can't write, within a time limit.

The login needs nothing but SELECT on the tables. What goes wrong is said without the server's own words: they may hold address, login or data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg.rows import dict_row

from inspector.core.errors import ReadError

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30
BATCH = 500
"""Rows that are fetched at a time."""
SETTINGS = f"-c default_transaction_read_only=on -c statement_timeout={STATEMENT_SECONDS * 1000} -c idle_in_transaction_session_timeout=600000"
COLUMNS = """
SELECT c.relname AS table_name, a.attname AS column_name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
WHERE pg_catalog.pg_table_is_visible(c.oid) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
AND c.relnamespace <> 'pg_catalog'::regnamespace ORDER BY c.relname, a.attnum
"""


class PostgresDatabase:
    """Fits `tables.Database`. Raises ReadError where the server can't be reached or refuses."""

    engine = "postgres"

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        try:
            self._connection = psycopg.connect(address, connect_timeout=CONNECT_SECONDS, options=SETTINGS, row_factory=dict_row)
            self._connection.read_only = True
            self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        except (psycopg.Error, ValueError) as error:
            raise self._failed(error, "the server can't be reached with this address") from None

    def _failed(self, error: Exception, what: str) -> ReadError:
        code = getattr(error, "sqlstate", None)
        return ReadError(f"{self.name}: {what}{f' ({code})' if code else ''}", hint="Look at INSPECTOR_STORES, and whether this login may SELECT")

    def tables(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self.rows(COLUMNS):
            found.setdefault(row["table_name"], []).append(row["column_name"])
        return found

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement.replace("?", "%s").encode(), tuple(values))
                while batch := cursor.fetchmany(BATCH):
                    yield from batch
        except (psycopg.Error, ValueError) as error:
            raise self._failed(error, "the server refused a query") from None

    def rest(self) -> bool:
        """End the snapshot, so that the next query begins another one. False where the connection is no longer good."""
        try:
            self._connection.rollback()
            self._connection.execute("SELECT 1")
            self._connection.rollback()
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        self._connection.close()
