"""`manage.py serve` as a person runs it: a process of its own, an empty data folder, the printed link."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import sqlite3
from pathlib import Path
from urllib.parse import urlsplit

from tests.conftest import ROOT, Serve, address_of


def visit(link: str) -> http.client.HTTPResponse:
    """The answer to a GET of the link itself; redirects are not followed."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    connection.request("GET", f"{parts.path}?{parts.query}")
    return connection.getresponse()


def test_the_printed_link_signs_in_and_an_interrupt_ends_it(serve: Serve) -> None:
    process = serve("--port", "0")
    link = address_of(process)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/launch/\?token=[\w-]{40,}", link)
    first, second = visit(link), visit(link)
    assert (first.status, first.headers["Location"]) == (302, "/")
    assert any(cookie.startswith("inspector_session=") for cookie in first.headers.get_all("Set-Cookie"))
    assert second.status == 403
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0


def test_static_files_come_without_a_collecting_step(serve: Serve) -> None:
    home = address_of(serve("--port", "0")).split("launch/")[0]
    assert visit(f"{home}static/vendor/htmx/htmx.min.js").read() == (ROOT / "static/vendor/htmx/htmx.min.js").read_bytes()


def test_a_port_in_use_is_said_in_one_line(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = serve("--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "Choose another with --port" in errors and errors.count("\n") == 1


def test_team_mode_prints_no_link(serve: Serve) -> None:
    process = serve("--port", "0", INSPECTOR_MODE="team", INSPECTOR_SECRET_KEY="k" * 50)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address_of(process))


def test_the_examples_are_imported_once(serve: Serve, tmp_path: Path) -> None:
    for _ in range(2):
        process = serve("--demo", "--port", "0")
        address_of(process)
        with contextlib.closing(sqlite3.connect(tmp_path / "data" / "inspector.sqlite3")) as database:
            ids = [row[0] for row in database.execute("SELECT native_id FROM inspector_session ORDER BY native_id")]
        examples = ROOT / "inspector" / "examples"
        documents = [json.loads(file.read_bytes()).get("id", "") for file in examples.rglob("*.json")]
        threads = [{"langgraph": "t1", "openai-agents": "order-7"}[file.parent.name] for file in examples.rglob("*.sqlite")]
        assert ids == sorted([*documents, *threads, *(file.stem for file in examples.rglob("*.jsonl"))])
        process.send_signal(signal.SIGINT)
        process.wait(10)


def test_team_mode_without_a_key_is_said_in_one_line(serve: Serve) -> None:
    process = serve("--port", "0", INSPECTOR_MODE="team")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "needs INSPECTOR_SECRET_KEY" in errors and errors.count("\n") == 1


def test_a_database_that_is_not_there_is_said_in_one_line(serve: Serve) -> None:
    process = serve("--port", "0", DATABASE_URL="postgresql://nobody@127.0.0.1:1/x")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "Check DATABASE_URL" in errors and errors.count("\n") == 1


def test_a_path_that_is_not_there_is_said_in_one_line(serve: Serve, tmp_path: Path) -> None:
    process = serve(str(tmp_path / "missing"), "--port", "0")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert str(tmp_path / "missing") in errors and errors.count("\n") == 1
