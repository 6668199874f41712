"""A SQLite file as it stood at one moment, with what its write-ahead log holds. Its folder is never written, not even a `-shm`.

File and log are copied, the copy is opened (SQLite applies the log to it) and taken over through the backup API. After a crash the file itself
is nearly empty and everything is in the log.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inspector.core.errors import ReadError

from .limits import Limits, check

MAGIC = b"SQLite format 3\x00"
TRIES = 5
"""How often a file that changes under the copy is copied again."""


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def logs_of(path: Path) -> Path:
    """Where the file's write-ahead log lies."""
    return path.with_name(path.name + "-wal")


def _state(path: Path) -> list[tuple[int, int] | None]:
    """Size and time of change of the file and its log, and of the log's first bytes, which change when it begins anew."""
    found: list[tuple[int, int] | None] = []
    for each in (path, logs_of(path)):
        try:
            seen = each.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((seen.st_size, seen.st_mtime_ns))
    return found


class SqliteFile:
    """Fits `tables.Database`. Raises ReadError for a file that is no database, or that changed during every copy; LimitError."""

    engine = "sqlite"

    def __init__(self, path: Path, limits: Limits = Limits()) -> None:
        self.name = path.name
        self._connection = snapshot(path, limits)
        self._connection.row_factory = sqlite3.Row
        self._connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def tables(self) -> dict[str, list[str]]:
        names = [row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: [row["name"] for row in self._connection.execute("SELECT name FROM pragma_table_info(?)", (name,))] for name in names}

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[dict[str, Any]]:
        try:
            for row in self._connection.execute(statement, tuple(values)):
                yield dict(row)
        except sqlite3.Error as error:
            raise ReadError(f"{self.name}: {error}", hint="The database is damaged, or not of a layout that is known") from None

    def close(self) -> None:
        self._connection.close()


def snapshot(path: Path, limits: Limits) -> sqlite3.Connection:
    """A connection to a copy in memory of what the file and its log hold. Raises ReadError, LimitError."""
    for each in (path, logs_of(path)):
        if each.exists():
            check(limits, "bytes", each.name, each.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy.sqlite")
        for _ in range(TRIES):
            before = _state(path)
            shutil.copyfile(path, copy)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(logs_of(path), logs_of(copy))
            if _state(path) == before:
                break
        else:
            raise ReadError(f"{path.name} changes all the time", hint="Stop the program that writes it, or copy it with its .backup command")
        return _taken_over(copy, path.name)


def _taken_over(copy: Path, name: str) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", check_same_thread=False)
    opened = sqlite3.connect(copy)
    try:
        opened.execute("PRAGMA trusted_schema = OFF")
        opened.backup(made)
        made.execute("PRAGMA trusted_schema = OFF")
        made.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        made.close()
        raise ReadError(f"{name} can't be read as a SQLite database: {error}", hint="Take the file together with its -wal") from None
    finally:
        opened.close()
    return made
