"""`import_sessions --watch` imports a session again when its file has grown, and goes on after a bad file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from inspector.management.commands.import_sessions import transcript_of
from tests.shell.sessions import OTHER, SID, transcript, write_home

ROOT = Path(__file__).resolve().parents[2]


def test_the_transcript_of_a_changed_file_is_told_by_its_place(tmp_path: Path) -> None:
    project = write_home(tmp_path) / "projects/-home-dev-shop"
    main = project / f"{SID}.jsonl"
    assert transcript_of(main) == main
    assert transcript_of(project / SID / "subagents" / "agent-a1.jsonl") == main
    assert transcript_of(project / SID / "tool-results" / "t1.txt") == main
    assert transcript_of(tmp_path / ".claude" / "history.txt") is None


def wait_for(what: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.2)
    return False


def test_a_grown_file_and_a_new_one_come_in_while_it_watches(tmp_path: Path) -> None:
    place = tmp_path / "projects" / "-shop"
    place.mkdir(parents=True)
    file = place / f"{SID}.jsonl"
    file.write_bytes(transcript(turns=1))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INSPECTOR_", "DATABASE_URL", "DJANGO_"))}
    environment |= {"INSPECTOR_DATA_DIR": str(tmp_path / "data"), "PYTHONUNBUFFERED": "1"}
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
    log = tmp_path / "log"
    with log.open("wb") as out:
        watching = subprocess.Popen([*manage, "import_sessions", str(place), "--watch"], cwd=ROOT, env=environment, stdout=out, stderr=out)

        def count(table: str) -> int:
            with sqlite3.connect(tmp_path / "data" / "inspector.sqlite3") as database:
                found: tuple[int] = database.execute(f"SELECT count(*) FROM inspector_{table}").fetchone()
            return found[0]

        try:
            assert wait_for(lambda: b"Watching" in log.read_bytes()), log.read_text()
            time.sleep(1)  # the watch itself begins a moment after it is said
            file.write_bytes(transcript(turns=2))
            assert wait_for(lambda: count("revision") == 2), log.read_text()
            (place / f"{OTHER}.jsonl").write_bytes(transcript(OTHER))
            assert wait_for(lambda: count("session") == 2), log.read_text()
        finally:
            watching.send_signal(signal.SIGINT)
            code = watching.wait(30)
    assert code == 0 and "Traceback" not in log.read_text()
