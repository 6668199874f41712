"""SQL: does one SELECT on a named connection find the operation's row?

Config: `connection` ({"env": NAME}; the variable holds postgresql://… or sqlite:///PATH), `select` (one SELECT, typed values as :name),
`applied_when` ("rows": a row means that it happened; or {column: value}: a row with these values does, "{name}" stands for a typed one).
Parameters: what the select names.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from . import sql_text
from .pointer import MISSING, SLOT, same
from .secrets import Secrets, variable_problem
from .template import Answer, Expected, NotAsked, Template, text_key

TITLE = "SQL SELECT"
KEYS = {"connection": True, "select": True, "applied_when": True}
ROWS = 20
"""Rows that are read."""
TIMEOUT = 10
"""Seconds for the statement, and for the connection."""


class Table(NamedTuple):
    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool
    """Whether there are rows beyond the ones read."""


def problems(template: Template) -> Iterator[str]:
    """The connection must be a variable, the select one that only reads, and every parameter must be used."""
    if wrong := variable_problem(template.config["connection"], "`connection`"):
        yield wrong
    when = template.config["applied_when"]
    select = text_key(template, "select")
    yield from dict.fromkeys(sql_text.problems(select, template.parameters, when == "rows"))
    used = sql_text.slots_of(select)
    if isinstance(when, Mapping):
        for value in when.values():
            for name in SLOT.findall(value) if isinstance(value, str) else ():
                used.add(name)
                if name not in template.parameters:
                    yield f"`applied_when` names {{{name}}} without a parameter of this name."
    elif when != "rows":
        yield '`applied_when` must be "rows" or an object: column -> value.'
    for name in sorted(set(template.parameters) - used):
        yield f"The parameter `{name}` is used nowhere."


def asks(template: Template, values: Mapping[str, str]) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in values.items())
    variable = template.config["connection"]["env"]
    return f"On the database that {variable} names: {text_key(template, 'select')}" + (f" with {given}." if given else ".")


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Run the SELECT where nothing can be written, and compare its rows."""
    table = rows_of(template.config["connection"]["env"], text_key(template, "select"), values, secrets)
    more = f"more than {ROWS}" if table.more else str(len(table.rows))
    when = template.config["applied_when"]
    output = "".join(json.dumps(dict(zip(table.columns, row, strict=True)), default=str, ensure_ascii=False) + "\n" for row in table.rows)
    shown = output.encode("utf-8", "replace")
    if not table.rows:
        return Answer("not-applied", "The select found no row now. A late request could still make one.", shown)
    if when == "rows":
        return Answer("applied", f"The select found rows: {more}.", shown)
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    if any(all(same(row.get(column, MISSING), value, values) for column, value in when.items()) for row in found):
        return Answer("applied", f"The select found rows: {more}. One of them has the expected values.", shown)
    return Answer("unclear", f"The select found rows: {more}. None of those read has the expected values of {', '.join(when)}.", shown)


def rows_of(variable: str, select: str, values: Mapping[str, str], secrets: Secrets) -> Table:
    """The first rows of a SELECT on the database that an environment variable names. Raises NotAsked."""
    url = secrets.read(variable)
    if url is None:
        raise NotAsked(f"The environment variable {variable} is not set. Set it where the inspector runs, and start it anew.")
    if url.startswith("sqlite:///"):
        return sqlite_rows(unquote(url.removeprefix("sqlite:///")), select, values, secrets)
    if url.startswith(("postgresql://", "postgres://")):
        return postgres_rows(url, select, values, secrets)
    raise NotAsked(f"The environment variable {variable} must begin with postgresql:// or sqlite:///.")


def sqlite_rows(path: str, select: str, values: Mapping[str, str], secrets: Secrets) -> Table:
    """SQLite: opened read-only, and everything but reading is refused when the statement is prepared. `path` is a full path. Raises NotAsked.

    The database and its log stay as they are; SQLite may put its index of the log (`-shm`) beside them.
    """
    try:
        opened = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=TIMEOUT, isolation_level=None)
    except sqlite3.Error as error:
        raise NotAsked(f"The database could not be opened ({secrets.hide(str(error))}). Check the path and the rights of the inspector.") from None
    with closing(opened) as connection:
        ends = time.monotonic() + TIMEOUT
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
            connection.set_authorizer(only_reads)
            cursor = connection.execute(select, dict(values))
            rows = cursor.fetchmany(ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise NotAsked(f"The select could not be run ({secrets.hide(str(error))}). An administrator must check it.") from None
        return Table([column[0] for column in cursor.description or ()], rows[:ROWS], len(rows) > ROWS)


def only_reads(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    """What SQLite asks before it prepares a statement: selecting, reading a column, and functions that only compute."""
    harmless = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
    computes = action == sqlite3.SQLITE_FUNCTION and not sql_text.ACTS.fullmatch(second or "")
    return sqlite3.SQLITE_OK if harmless or computes else sqlite3.SQLITE_DENY


def postgres_rows(url: str, select: str, values: Mapping[str, str], secrets: Secrets) -> Table:
    """PostgreSQL: one statement in a read-only transaction that is rolled back, row by row, with a time limit. Raises NotAsked."""
    try:
        secrets.add(str(conninfo_to_dict(url).get("password") or ""))
        address = make_conninfo(url, connect_timeout=TIMEOUT, application_name="session-inspector probe")
    except (psycopg.Error, ValueError):
        raise NotAsked("The address of the database is not readable. Check the environment variable.") from None
    try:
        connection = psycopg.connect(address)
    except psycopg.Error as error:
        raise NotAsked(f"The database could not be reached ({first_line(error, secrets)}). Check its address and the network.") from None
    with closing(connection):
        try:
            connection.execute("SET TRANSACTION READ ONLY")
            connection.execute(f"SET LOCAL statement_timeout = {TIMEOUT * 1000}")
            connection.execute(f"SET LOCAL lock_timeout = {TIMEOUT * 1000}")
            rows: list[tuple[Any, ...]] = []
            with connection.cursor() as cursor:
                # `stream` sends one statement only, and takes rows one by one instead of all at once.
                for row in cursor.stream(sql_text.for_psycopg(select).encode(), dict(values)):
                    rows.append(row)
                    if len(rows) > ROWS:
                        break
                columns = [column.name for column in cursor.description or ()]
        except (psycopg.Error, UnicodeError) as error:
            raise NotAsked(f"The select could not be run ({first_line(error, secrets)}). An administrator must check it.") from None
        return Table(columns, rows[:ROWS], len(rows) > ROWS)


def first_line(error: Exception, secrets: Secrets) -> str:
    """The first line of a driver's message, without secrets."""
    return secrets.hide(str(error).strip().partition("\n")[0])[:300] or type(error).__name__
