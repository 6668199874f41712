"""Sessions that the real SDK wrote: encrypted ones, tables under other names, PostgreSQL through SQLAlchemy."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from agents import SQLiteSession
from agents.extensions.memory import EncryptedSession, SQLAlchemySession

from inspector.capture import fernet
from inspector.capture.store import connected, open_store
from inspector.core.errors import ReadError
from inspector.core.inspection import inspect
from inspector.core.source import Source
from tests.stores.openai_cases import sent, source_of

ITEMS: list[Any] = [
    {"role": "user", "content": "Zahle Müller 5 € \U0001f600"},
    {"type": "function_call", "call_id": "call_1", "name": "pay", "arguments": '{"to":"Müller"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": "paid"},
]
KEYS = ["a plain master key", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="]
"""A text, and 32 bytes in base64."""


def written(session: Any) -> None:
    async def add() -> None:
        await session.add_items(ITEMS)
        closing_ = getattr(session, "engine", None)
        if closing_ is not None:
            await closing_.dispose()

    asyncio.run(add())


@pytest.mark.parametrize("key", KEYS)
def test_encrypted_items_are_read_with_their_key_only(tmp_path: Path, key: str) -> None:
    path = tmp_path / "s.sqlite"
    written(EncryptedSession("täglich/1", SQLiteSession("täglich/1", path), key))
    assert sent(source_of(path, key=key.encode())) == ITEMS
    for other in (None, b"another key"):
        looked = inspect(source_of(path, key=other))
        assert looked.request is None and {row.type for row in looked.session.main()} == {"encrypted"}


def test_a_damaged_token_stays_closed() -> None:
    key = fernet.session_key(b"master", "s")
    for token in ("", "gAAA", "!", "gAAAAABrDTy57YWOLuMDfIHf2syFoPEC7MzFqd7NbUBuVZ_z1WqTy2nAp6KQbYljv9HS9pGVmeDmvm010otk1Q=="):
        assert fernet.opened(key, token) is None


def test_tables_under_other_names_are_told_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    written(SQLiteSession("one", path, sessions_table="chat_sessions", messages_table="chat_log"))
    source = source_of(path)
    assert [part.name for part in source.parts] == ["s.sqlite/chat_log/one", "s.sqlite/chat_sessions/one"]
    assert sent(source) == ITEMS


def test_the_folder_of_a_store_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    session = SQLiteSession("one", path)
    asyncio.run(session.add_items(ITEMS))  # the session stays open: its rows are in the write-ahead log
    before = {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    assert len(before) == 2 and sent(source_of(path)) == ITEMS
    assert before == {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    session.close()


def test_an_unknown_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    written(SQLiteSession("one", path))
    with pytest.raises(ReadError, match="no session is called 'two'"):
        source_of(path, "two")


def by_sqlalchemy(url: str, name: str = "alchemy") -> SQLAlchemySession:
    return SQLAlchemySession.from_url(name, url=url, create_tables=True, ensure_ascii=False)


def test_sqlalchemy_sorts_by_time_first(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    written(by_sqlalchemy(f"sqlite+aiosqlite:///{path}"))
    assert sent(source_of(path)) == ITEMS
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE agent_messages SET created_at = '2020-01-01 00:00:00' WHERE id = 3")
    session = by_sqlalchemy(f"sqlite+aiosqlite:///{path}")

    async def read() -> list[Any]:
        found = await session.get_items()
        await session.engine.dispose()
        return list(found)

    want = asyncio.run(read())
    looked = inspect(source_of(path))
    assert [row.id for row in looked.session.main()] == ["3", "1", "2"] and want == [ITEMS[2], ITEMS[0], ITEMS[1]]


@pytest.fixture
def own_database(store_server: str) -> Iterator[str]:
    """A database that holds no tables of another framework."""
    name = f"openai_{os.getpid()}"
    with psycopg.connect(store_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield urlunsplit(urlsplit(store_server)._replace(path=f"/{name}"))
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_postgresql(own_database: str) -> None:
    written(by_sqlalchemy(own_database.replace("postgresql://", "postgresql+psycopg://"), "a b/ü"))
    store = connected("prod", own_database)
    assert store is not None and store.kind == "openai-agents-postgres"
    with closing(store):
        assert [(each.id, each.title, each.rows) for each in store.threads()] == [("a b/ü", ITEMS[0]["content"], 3)]
        source = store.source("a b/ü")
    assert isinstance(source, Source) and sent(source) == ITEMS
    assert open_store(Path("nothing.sqlite")) is None
