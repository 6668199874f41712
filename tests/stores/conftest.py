"""A PostgreSQL for stores: the one that DATABASE_URL names, a running one, or one of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests import postgres

NAME = f"stores_{os.getpid()}"


@pytest.fixture(scope="session")
def store_server() -> Iterator[str]:
    """Address of an empty database; gone afterwards."""
    given = os.environ.get("DATABASE_URL", "")
    with contextlib.ExitStack() as stack:
        url = given if given.startswith("postgres") else postgres.running_server()
        if url is None:
            folder = postgres.binaries()
            if folder is None:
                pytest.skip("no PostgreSQL was found")
            url = stack.enter_context(postgres.own_server(folder))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {NAME} TEMPLATE template0")
        yield urlunsplit(urlsplit(url)._replace(path=f"/{NAME}"))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@pytest.fixture
def store_database(store_server: str) -> Iterator[psycopg.Connection[Any]]:
    """An open connection to it, whose login may do everything."""
    with psycopg.connect(store_server, autocommit=True) as connection:
        yield connection
