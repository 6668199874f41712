"""The test's hold on worker processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent


def database_url() -> str:
    """Names the test database of this process to another one."""
    described = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(str(described['NAME']))}"
    login = quote(described["USER"], safe="") + (":" + quote(described["PASSWORD"], safe="") if described["PASSWORD"] else "")
    place = urlencode({"host": described["HOST"], "port": described["PORT"]} | described["OPTIONS"])
    return f"postgresql://{login}@/{quote(described['NAME'])}?{place}"


class Workshop:
    """Starts workers, each a process of its own, and waits for their end."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.jobs = folder, 0
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("INSPECTOR_")},
            "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "inspector.settings", "INSPECTOR_MODE": "local",
            "INSPECTOR_SELF_RESOLUTION": "off", "INSPECTOR_DATA_DIR": str(folder / "data"),
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.crash.worker"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(10)

    def start(self, job: dict[str, Any]) -> Job:
        self.jobs += 1
        files = self.folder / f"job-{self.jobs}"
        files.mkdir()
        return Job(self, self._order(start={**job, "files": str(files)}), files)

    def run(self, job: dict[str, Any]) -> Any:
        """What the job answers; it must come to its end."""
        started = self.start(job)
        assert started.wait() == 0, "the worker failed: see its errors above"
        return started.answer()

    def _order(self, **order: Any) -> int:
        assert self.process.stdin and self.process.stdout
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


class Job:
    def __init__(self, workshop: Workshop, pid: int, files: Path) -> None:
        self.workshop, self.pid, self.files = workshop, pid, files

    def wait(self) -> int:
        """Its exit code."""
        return self.workshop._order(wait=self.pid)

    def answer(self) -> Any:
        return json.loads((self.files / "done.json").read_text())

    def come_to(self, mark: str) -> None:
        """Wait until it says that it is `asleep` at its point, or `ready` for the start."""
        until = time.monotonic() + 30
        while not (self.files / mark).exists():
            assert time.monotonic() < until, f"the worker was never {mark}"
            time.sleep(0.005)

    def wake(self, seconds: float) -> None:
        """Let it go on, as if it had slept so long."""
        draft = self.files / "draft"
        draft.write_text(str(seconds))
        draft.rename(self.files / "woken")
