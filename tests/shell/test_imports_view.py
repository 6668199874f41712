"""Imports by upload: progress in lines, and nothing left of one that was cancelled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from inspector.models import Artifact, AuditEntry, Session
from inspector.services import import_sessions as service

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "inspector" / "examples" / "projects" / "-home-dev-shop").glob("*.jsonl"))
pytestmark = pytest.mark.django_db(transaction=True)


def send(client: Client) -> Any:
    """Post all examples in one go, as the page's script does."""
    files = [SimpleUploadedFile(path.name, path.read_bytes()) for path in EXAMPLES]
    names = [f"-home-dev-shop/{path.name}" for path in EXAMPLES]
    return client.post("/imports/", {"files": files, "names": names}, headers={"Accept": "application/x-ndjson"})


def test_lines_tell_how_far_it_is_and_how_it_ended(client_of: Callable[[Any], Client], owner: Any) -> None:
    answer = send(client_of(owner))
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert lines[-1]["finished"] and f"{len(EXAMPLES)} sessions brought in" in lines[-1]["words"]
    counted = [line for line in lines if "of" in line]
    assert counted and counted[-1]["done"] == counted[-1]["of"] == sum(path.stat().st_size for path in EXAMPLES)
    assert Session.objects.filter(verdict="").count() == 0
    assert Session.objects.count() == len(EXAMPLES)


def test_a_connection_that_is_closed_cancels_the_import(client_of: Callable[[Any], Client], owner: Any) -> None:
    answer = send(client_of(owner))
    stream = iter(answer.streaming_content)
    while b'"of"' not in next(stream):  # until the first session is being read
        pass
    answer.close()
    assert not Session.objects.exists()
    assert not Artifact.objects.exists()
    assert AuditEntry.objects.filter(action="import-undone").exists()


def test_a_fault_of_ours_is_said_and_leaves_nothing(client_of: Callable[[Any], Client], owner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(service, "write_revision", fails)
    answer = send(client_of(owner))
    last = json.loads(b"".join(answer.streaming_content).splitlines()[-1])
    assert "ZeroDivisionError" in last["error"]
    assert not Session.objects.exists()
