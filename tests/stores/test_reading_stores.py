"""How stores are read: with their write-ahead log, without a trace in their folder, closed without a key, and never by what is not theirs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command

from inspector.capture import store
from inspector.capture.limits import LimitError, Limits
from inspector.core import ids, rulebook, tablerow
from inspector.core.errors import ReadError
from inspector.core.inspection import inspect
from tests.stores.recorded import KEY, Case

RAW_WAL = Case("langgraph-sqlite", "agent_killed_in_tool_sync__raw_wal")
MANY = Case("langgraph-sqlite", "multi_thread")
ENCRYPTED = Case("langgraph-sqlite", "agent_parallel_partial__encrypted")


def copied(case: Case, folder: Path) -> Path:
    for file in case.folder.glob("checkpoints.sqlite*"):
        shutil.copy(file, folder)
    return folder / "checkpoints.sqlite"


def test_everything_is_read_from_the_log_and_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    path = copied(RAW_WAL, tmp_path)
    (tmp_path / "checkpoints.sqlite-shm").unlink()
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    tmp_path.chmod(0o500)
    found = store.open_store(path)
    assert found is not None
    with closing(found):
        assert [(each.id, each.rows) for each in found.threads()] == [("t1", 13)]
    assert {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.iterdir()} == before


def test_without_its_log_the_file_is_no_store(tmp_path: Path) -> None:
    path = copied(RAW_WAL, tmp_path)
    (tmp_path / "checkpoints.sqlite-wal").unlink()
    assert store.open_store(path) is None


def test_other_files_are_no_stores(tmp_path: Path) -> None:
    text, other, damaged = tmp_path / "a.jsonl", tmp_path / "b.sqlite", tmp_path / "c.sqlite"
    text.write_text("{}\n")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE checkpoints (id)")
    damaged.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    assert store.open_store(text) is None
    assert store.open_store(other) is None
    with pytest.raises(ReadError):
        store.open_store(damaged)


def test_threads_are_listed_page_by_page_and_found_by_their_beginning() -> None:
    found = store.open_store(MANY.sqlite)
    assert found is not None
    with closing(found):
        assert [each.id for each in found.threads()] == ["42", "alpha", "beta/ü 1"]
        assert [each.id for each in found.threads(limit=2)] == ["42", "alpha"]
        assert [each.id for each in found.threads(after="alpha")] == ["beta/ü 1"]
        assert [each.id for each in found.threads(search="beta/ü")] == ["beta/ü 1"]
        assert found.threads(search="eta") == []
        assert found.threads(search="a", after="alpha") == []
        with pytest.raises(ReadError, match="gamma"):
            found.source("gamma")


def test_limits_are_kept() -> None:
    with pytest.raises(LimitError, match="INSPECTOR_LIMIT_BYTES"):
        store.open_store(MANY.sqlite, limits=Limits(bytes=1000))
    found = store.open_store(MANY.sqlite, limits=Limits(rows=10))
    assert found is not None
    with closing(found), pytest.raises(LimitError, match="INSPECTOR_LIMIT_ROWS"):
        found.source("alpha")


@pytest.mark.parametrize("key", [None, b"f" * 16], ids=["no key", "another key"])
def test_an_encrypted_thread_stays_closed_without_its_key(key: bytes | None) -> None:
    found = store.open_store(ENCRYPTED.sqlite, key)
    assert found is not None
    with closing(found):
        looked = inspect(found.source("t1"))
    assert looked.request is None
    assert "encrypted" in (looked.state.refused or "")
    facts = {fact.name: fact for fact in looked.state.facts}
    assert facts["checkpoints"].value == 3 and not facts["messages"].known


def test_what_was_decrypted_is_beside_the_row_and_not_in_it() -> None:
    found = store.open_store(ENCRYPTED.sqlite, KEY)
    assert found is not None
    with closing(found):
        source = found.source("t1")
    records = [json.loads(line) for line in bytes(source.parts[0].data[0 : len(source.parts[0].data)]).splitlines()]
    assert all(record["type"].endswith("+aes") for record in records)
    with sqlite3.connect(f"file:{ENCRYPTED.sqlite}?mode=ro", uri=True) as connection:
        stored = {row for (row,) in connection.execute("SELECT checkpoint FROM checkpoints")}
    assert {tablerow.unpack(record)["checkpoint"] for record in records if record["table"] == "checkpoints"} == stored
    found = rulebook.diagnose(inspect(source))
    assert "task-outcome-unknown" in {finding.code for finding in found}
    assert not any(finding.repairable for finding in found)  # nothing is written in plain words beside what is encrypted


def test_a_row_is_exact_in_its_line() -> None:
    columns = {"a": bytes(range(256)), "b": "ä \ud800 \u2028 \n", "c": None, "d": 7, "e": 1.5, "f": b""}
    line = tablerow.pack("t", columns)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert tablerow.unpack(json.loads(line)) == columns


def test_ids_tell_their_time_and_have_a_next_one() -> None:
    id = "1f1ec9d0-84aa-6a3a-8001-c6c1833a795c"
    assert ids.time_of(id) == "2026-11-30T09:04:21.832761Z"
    assert ids.time_of("64c66fe9-3663-644b-3adb-6e5c85c71c1") is None
    after = ids.following(id, 2, "seed")
    assert after > id and after[:18] == "1f1ec9d0-84aa-6a3b" and after[19:23] == "8002"


def test_a_named_connection_is_read_with_a_login_that_may_only_select(
    store_database: psycopg.Connection[Any], store_server: str, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case("langgraph-postgres", "agent_parallel_partial_sync")
    case.load(store_database)
    name = store_database.execute("SELECT current_database()").fetchone()[0]  # type: ignore[index]
    reader = f"reader_{name}"
    store_database.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'Geheim-77'")
    try:
        store_database.execute(f"GRANT USAGE ON SCHEMA public TO {reader}")
        store_database.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}")
        address = psycopg.conninfo.conninfo_to_dict(store_server)
        settings.STORES = {"prod": f"postgresql://{reader}:Geheim-77@/{address['dbname']}?host={address['host']}&port={address.get('port', 5432)}"}
        found = store.connected("prod", settings.STORES["prod"])
        assert found is not None
        with closing(found):
            with pytest.raises(ReadError) as refused:
                list(found._database.rows("DELETE FROM checkpoints WHERE thread_id = ? RETURNING thread_id", ["t1"]))  # type: ignore[attr-defined]
            assert "25006" in str(refused.value)
        call_command("stores", "prod", "--json")
        assert json.loads(capsys.readouterr().out)["threads"][0]["thread"] == "t1"
        with pytest.raises(SystemExit):  # findings remain
            call_command("inspect", "prod", "--form", "state", "--json")
        said = capsys.readouterr().out
        assert json.loads(said)["thread"] == "t1" and "Geheim" not in said and reader not in said
    finally:
        store_database.execute(f"DROP OWNED BY {reader}")
        store_database.execute(f"DROP ROLE {reader}")


def test_an_address_is_in_no_message(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.STORES = {"prod": "postgresql://anna:Geheim-77@127.0.0.1:1/orders"}
    with pytest.raises(SystemExit) as left:
        call_command("inspect", "prod")
    said = capsys.readouterr()
    assert left.value.code == 2
    assert "prod: the server can't be reached" in said.err
    assert not any(word in said.err + said.out for word in ("Geheim", "anna", "127.0.0.1", "orders"))
