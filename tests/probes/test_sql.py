"""The SQL probe on a real SQLite file and on a real PostgreSQL: what it says, and that nothing can be written through it."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest
from django.db import connections

from inspector.probes import Reading, Template, run, sql_select, validate
from inspector.probes.secrets import Secrets
from inspector.probes.template import NotAsked

ANY = r"[\s\S]+"
SELECT = "SELECT id, state, amount FROM orders WHERE reference = :reference"
ROWS = [(1, "ref-1", "paid", 1250), (2, "ref-2", "open", 99), (3, "100%", "paid", 1)]
TABLE = "CREATE TABLE orders (id INTEGER PRIMARY KEY, reference TEXT, state TEXT, amount INTEGER)"


def template(select: str = SELECT, when: Any = "rows", parameters: tuple[str, ...] = ("reference",)) -> Template:
    config = {"connection": {"env": "PROBE_DATABASE"}, "select": select, "applied_when": when}
    return Template("orders", "sql-select", config, dict.fromkeys(parameters, ANY))


def look(reference: str = "ref-1", select: str = SELECT, when: Any = "rows") -> Reading:
    return run(template(select, when), {"reference": reference})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "a b#?.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute(TABLE)
        connection.execute("CREATE INDEX by_reference ON orders (reference)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    monkeypatch.setenv("PROBE_DATABASE", f"sqlite:///{quote(str(path))}")
    return path


def url_of_tests() -> str:
    """The test database of this process as a URL, password included."""
    given = connections["default"].settings_dict
    login = quote(given["USER"] or "", safe="") + (f":{quote(given['PASSWORD'], safe='')}" if given["PASSWORD"] else "")
    where = {name: value for name, value in (("host", given["HOST"]), ("port", str(given["PORT"]))) if value}
    return f"postgresql://{login}{'@' if login else ''}/{given['NAME']}?{urlencode(where)}"


@pytest.fixture
def postgres(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the test's own to the database in which `orders` stands."""
    if connections["default"].vendor != "postgresql":
        pytest.skip("needs PostgreSQL: python tests/postgres.py python -m pytest --only-database")
    monkeypatch.setenv("PROBE_DATABASE", url_of_tests())
    with psycopg.connect(url_of_tests(), autocommit=True) as connection:
        connection.execute(TABLE)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s)", ROWS)
        try:
            yield connection
        finally:
            connection.execute("DROP TABLE orders")


READINGS: list[tuple[dict[str, Any], str]] = [
    ({}, "applied"),
    ({"reference": "nobody"}, "not-applied"),
    ({"when": {"state": "paid", "amount": 1250}}, "applied"),
    ({"when": {"state": "open"}}, "unclear"),
    ({"when": {"amount": "1250"}}, "unclear"),
    ({"when": {"column_that_is_not_there": None}}, "unclear"),
    ({"reference": "nobody", "when": {"state": "paid"}}, "not-applied"),
    ({"when": {"id": "{reference}"}, "reference": "2", "select": "SELECT id FROM orders WHERE id = :reference"}, "applied"),
    ({"reference": "100%", "select": "SELECT id FROM orders WHERE reference LIKE '100%' AND reference = :reference"}, "applied"),
    ({"select": "SELECT count(*) AS n FROM orders WHERE reference = :reference", "when": {"n": 1}}, "applied"),
    ({"reference": "nobody", "select": "SELECT count(*) AS n FROM orders WHERE reference = :reference", "when": {"n": 1}}, "unclear"),
    ({"select": "WITH found AS (SELECT * FROM orders WHERE reference = :reference) SELECT id FROM found WHERE true"}, "applied"),
    ({"select": "SELECT no_such_column FROM orders WHERE reference = :reference"}, "failed"),
    ({"select": "SELECT id FROM no_such_table WHERE reference = :reference"}, "failed"),
]
INJECTIONS = [
    "x' OR '1'='1",
    "x'; DROP TABLE orders; --",
    'x" OR 1=1',
    "x\\' OR 1=1 --",
    "%",
    "_ef-1",
    ":reference",
    "%(reference)s",
    "$1",
    "0) OR (1=1",
]


@pytest.mark.parametrize(("how", "verdict"), READINGS)
def test_rows_decide_on_sqlite(file: Path, how: dict[str, Any], verdict: str) -> None:
    was = file.read_bytes()
    reading = look(**how)
    assert reading.verdict == verdict, reading.says
    assert file.read_bytes() == was
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(("how", "verdict"), READINGS)
def test_rows_decide_on_postgresql(postgres: psycopg.Connection[Any], how: dict[str, Any], verdict: str) -> None:
    reading = look(**how)
    assert reading.verdict == verdict, reading.says
    assert postgres.execute("SELECT * FROM orders ORDER BY id").fetchall() == ROWS


@pytest.mark.parametrize("typed", INJECTIONS)
def test_typed_values_are_values_on_sqlite(file: Path, typed: str) -> None:
    was = file.read_bytes()
    assert look(typed).verdict == "not-applied"
    assert file.read_bytes() == was


@pytest.mark.parametrize("typed", INJECTIONS)
def test_typed_values_are_values_on_postgresql(postgres: psycopg.Connection[Any], typed: str) -> None:
    assert look(typed).verdict == "not-applied"
    assert postgres.execute("SELECT * FROM orders ORDER BY id").fetchall() == ROWS


# --- The first wall: the text of the statement ---

REFUSED = [
    "DELETE FROM orders WHERE reference = :reference",
    "INSERT INTO orders VALUES (:reference)",
    "UPDATE orders SET state = :reference",
    "SELECT 1 FROM orders WHERE reference = :reference; DROP TABLE orders",
    "SELECT 1 FROM orders WHERE reference = :reference;",
    "SELECT 1 -- FROM\nFROM orders WHERE reference = :reference",
    "SELECT /* x */ id FROM orders WHERE reference = :reference",
    "SELECT * INTO copy FROM orders WHERE reference = :reference",
    "SELECT id FROM orders WHERE reference = :reference FOR UPDATE",
    "SELECT id FROM orders WHERE reference = :reference FOR SHARE",
    "WITH gone AS (DELETE FROM orders WHERE reference = :reference RETURNING id) SELECT id FROM gone WHERE true",
    "WITH x AS (SELECT 1) INSERT INTO orders SELECT * FROM x WHERE 1 = :reference",
    "SELECT nextval('s') FROM orders WHERE reference = :reference",
    "SELECT pg_terminate_backend(1) FROM orders WHERE reference = :reference",
    "SELECT PG_Read_File('x') FROM orders WHERE reference = :reference",
    'SELECT "pg_sleep"(1) FROM orders WHERE reference = :reference',
    "SELECT pg_catalog.pg_notify('a', 'b') FROM orders WHERE reference = :reference",
    "SELECT dblink('x', 'y') FROM orders WHERE reference = :reference",
    "SELECT set_config('a', 'b', false) FROM orders WHERE reference = :reference",
    "SELECT load_extension('x') FROM orders WHERE reference = :reference",
    "SELECT query_to_xml('x', true, true, '') FROM orders WHERE reference = :reference",
    "SELECT lo_unlink(1) FROM orders WHERE reference = :reference",
    "SELECT $$x$$ FROM orders WHERE reference = :reference",
    "SELECT E'\\'' FROM orders WHERE reference = :reference",
    "SELECT U&'x' FROM orders WHERE reference = :reference",
    "SELECT 'open FROM orders WHERE reference = :reference",
    "SELECT id FROM orders WHERE reference = %(reference)s",
    "SELECT id FROM orders WHERE reference = '{reference}'",
    "SELECT id FROM orders WHERE reference = :other",
    "SELECT id FROM orders WHERE reference = ?",
    "SELECT count(*) FROM orders WHERE reference = :reference",
    "SELECT max(id) FROM orders WHERE reference = :reference",
    "SELECT :reference",
    "SELECT 1 UNION SELECT id FROM orders WHERE reference = :reference",
    "SELECT EXISTS (SELECT 1 FROM orders WHERE reference = :reference)",
    "PRAGMA writable_schema = 1",
    "ATTACH ':reference' AS x",
    "EXPLAIN ANALYZE SELECT :reference",
    "VALUES (:reference)",
    "TABLE orders",
    "(SELECT 1)",
    "COPY orders TO PROGRAM 'sh'",
    "CALL p(:reference)",
    "DO 'x'",
    "VACUUM",
    "SET ROLE x",
    "",
]


@pytest.mark.parametrize("select", REFUSED)
def test_anything_but_one_select_is_refused(file: Path, select: str) -> None:
    was = file.read_bytes()
    assert validate(template(select))
    assert look(select=select).verdict == "failed"
    assert file.read_bytes() == was


@pytest.mark.parametrize(
    "select",
    [
        "SELECT o.id, 'it''s; -- DELETE' AS t FROM orders o WHERE o.reference = :reference AND o.id::text <> '' ORDER BY 1",
        'SELECT "update", "set" FROM orders WHERE reference = :reference',
        "SELECT replace(state, 'a', 'b') FROM orders WHERE reference=:reference",
        "SELECT id FROM orders WHERE id IN (SELECT max(id) FROM orders) AND reference = :reference",
        "select id from orders where reference = :reference",
        "SELECT count(*) AS n FROM orders WHERE reference = :reference GROUP BY state",
    ],
)
def test_usual_selects_are_accepted(select: str) -> None:
    assert validate(template(select)) == []


def test_other_faults_of_a_template_are_named() -> None:
    assert validate(Template("x", "sql-select", {"connection": "sqlite:///x", "select": SELECT, "applied_when": "rows"}, {"reference": ANY}))
    assert validate(Template("x", "sql-select", {"connection": {"env": "HOME"}, "select": SELECT, "applied_when": "rows"}, {"reference": ANY}))
    assert validate(template(when="always"))
    assert validate(template(when={"id": "{other}"}))
    assert validate(template(parameters=("reference", "unused")))


# --- The second wall: the database refuses what the first one would let through ---

WRITES = [
    "DELETE FROM orders",
    "UPDATE orders SET state = 'x'",
    "INSERT INTO orders VALUES (9, 'x', 'x', 1)",
    "DROP TABLE orders",
    "CREATE TABLE t (a INTEGER)",
]
SQLITE_WRITES = [
    *WRITES,
    "PRAGMA query_only = OFF",
    "PRAGMA user_version = 7",
    "ATTACH ':memory:' AS other",
    "VACUUM",
    "BEGIN IMMEDIATE",
    "REINDEX",
    "SELECT 1; DELETE FROM orders",
    "WITH x AS (SELECT 9) INSERT INTO orders SELECT 9, 'x', 'x', 9 FROM x",
    "SELECT load_extension('x')",
]
POSTGRES_WRITES = [
    *WRITES,
    "WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone",
    "WITH n AS (INSERT INTO orders VALUES (9) RETURNING id) SELECT id FROM n",
    "SELECT 1; DELETE FROM orders",
    "COMMIT; DELETE FROM orders",
    "SELECT * INTO copy FROM orders",
    "SELECT id FROM orders FOR UPDATE",
    "SET TRANSACTION READ WRITE",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT nextval('numbers')",
    "SELECT writes()",
    "TRUNCATE orders",
    "COPY orders TO PROGRAM 'true'",
]


@pytest.mark.parametrize("statement", SQLITE_WRITES)
def test_sqlite_itself_refuses_to_write(file: Path, statement: str) -> None:
    was = file.read_bytes()
    with pytest.raises(NotAsked):
        sql_select.rows_of("PROBE_DATABASE", statement, {}, Secrets())
    assert file.read_bytes() == was
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("statement", POSTGRES_WRITES)
def test_postgresql_itself_refuses_to_write(postgres: psycopg.Connection[Any], statement: str) -> None:
    postgres.execute("CREATE SEQUENCE numbers")
    postgres.execute("CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'DELETE FROM orders RETURNING id'")
    try:
        with pytest.raises(NotAsked):
            sql_select.rows_of("PROBE_DATABASE", statement, {}, Secrets())
        assert postgres.execute("SELECT * FROM orders ORDER BY id").fetchall() == ROWS
        assert postgres.execute("SELECT is_called FROM numbers").fetchone() == (False,)
        assert postgres.execute("SELECT to_regclass('t'), to_regclass('copy')").fetchone() == (None, None)
    finally:
        postgres.execute("DROP SEQUENCE numbers")
        postgres.execute("DROP FUNCTION writes()")


def test_a_live_wal_database_is_read_and_left_alone(file: Path) -> None:
    """The application keeps its database open and has written to the log beside it."""
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO orders VALUES (4, 'ref-4', 'paid', 1)")
        connection.commit()
        logs = [file, file.with_name(file.name + "-wal")]
        was = [path.read_bytes() for path in logs]
        assert look("ref-4").verdict == "applied"
        assert [path.read_bytes() for path in logs] == was
    connection.close()


def test_what_a_killed_application_left_is_read_and_left_alone(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log beside the database that was never merged into it: whoever opens it for writing merges it and deletes the log."""
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO orders VALUES (4, 'ref-4', 'paid', 1)")
        connection.commit()
        left = tmp_path / "left"
        left.mkdir()
        names = [file.name, file.name + "-wal"]
        for name in names:
            (left / name).write_bytes((file.parent / name).read_bytes())
    connection.close()
    was = [(left / name).read_bytes() for name in names]
    monkeypatch.setenv("PROBE_DATABASE", f"sqlite:///{quote(str(left / file.name))}")
    assert look("ref-4").verdict == "applied"
    assert [(left / name).read_bytes() for name in names] == was


def test_at_most_twenty_rows_are_read_and_a_missing_one_beyond_them_is_no_no(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.executemany("INSERT INTO orders VALUES (?, 'many', 'open', 1)", [(number,) for number in range(100, 150)])
    connection.close()
    reading = look("many", when={"state": "paid"})
    assert (reading.verdict, "more than 20" in reading.says, reading.output.count(b"\n")) == ("unclear", True, 20)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i > 0) SELECT count(*) FROM n"


def test_an_endless_select_is_ended_on_sqlite(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_select, "TIMEOUT", 1)
    begun = time.monotonic()
    flood = ENDLESS.replace("count(*)", "i") + " WHERE :reference <> ''"
    assert look(select=flood).verdict == "applied"
    assert look(select=f"{ENDLESS} WHERE i < 0 AND :reference <> ''", when={"n": 1}).verdict == "failed"
    assert time.monotonic() - begun < 8


def test_an_endless_select_and_a_flood_of_rows_are_ended_on_postgresql(postgres: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_select, "TIMEOUT", 2)
    begun = time.monotonic()
    select = "SELECT a FROM generate_series(1, 100000000) a, generate_series(1, 100) b WHERE a < 0 OR :reference = ''"
    assert look(select=select).verdict == "failed"
    flood = look(select="SELECT generate_series(1, 100000000) AS a WHERE :reference <> ''")
    assert (flood.verdict, "more than 20" in flood.says) == ("applied", True), flood.says
    assert time.monotonic() - begun < 15


# --- Failing is no answer, and says no secret ---


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://dev:s3cret-word@127.0.0.1:9/shop",
        "postgresql://dev:s3cret-word@127.0.0.1:port/shop",
        "postgresql://dev:s3cret-word@[::1/shop",
        "mysql://dev:s3cret-word@localhost/shop",
        "s3cret-word",
        "sqlite:////nowhere/s3cret-word.sqlite3",
        "postgresql://dev:s3cret%2Dword@127.0.0.1:9/s",
    ],
)
def test_an_unreachable_database_is_no_answer_and_no_secret_is_said(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("PROBE_DATABASE", url)
    reading = look()
    assert reading.verdict == "failed"
    assert "s3cret" not in repr(reading)


def test_a_file_that_is_missing_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_DATABASE", f"sqlite:///{tmp_path}/none.sqlite3")
    assert look().verdict == "failed"
    monkeypatch.delenv("PROBE_DATABASE")
    assert "PROBE_DATABASE is not set" in look().says
    assert list(tmp_path.iterdir()) == []


def test_a_secret_that_the_database_gives_back_is_hidden(file: Path) -> None:
    reading = look(select="SELECT file AS place, id FROM pragma_database_list, orders WHERE reference = :reference")
    assert str(file) not in repr(reading)
    assert reading.output_sha256 == hashlib.sha256(reading.output).hexdigest()
