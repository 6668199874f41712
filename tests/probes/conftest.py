"""Real targets, each made for one test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.probes.targets import SECRET, Repositories, Server


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    """The value of PROBE_TOKEN."""
    monkeypatch.setenv("PROBE_TOKEN", f"Bearer {SECRET}")
    return SECRET
