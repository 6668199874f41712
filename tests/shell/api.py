"""A program that uses the API with a person's token, and the sessions and targets that its tests share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from inspector.models import Session, Target
from inspector.services.issue_token import issue_token

from .sessions import bring_bytes

KILLED = Path(__file__).parent.parent / "corpus" / "claude-code" / "live332-b_kill_bash"
NO_BODY: dict[str, Any] = {}


class Program:
    """Sends JSON with the token of one person; each call answers (status, JSON)."""

    def __init__(self, user: User, name: str = "worker") -> None:
        self.user, self.browser = user, Client(enforce_csrf_checks=True)
        self.token = issue_token(user=user, name=name, actor=None)[1]

    def send(self, method: str, path: str, body: dict[str, Any] | bytes = NO_BODY, token: str | None = None, **more: Any) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body)
        headers = {"authorization": f"Bearer {self.token if token is None else token}"}
        answer = self.browser.generic(method, path, data, content_type="application/json", headers=headers, **more)
        return answer.status_code, answer.json()

    def get(self, path: str) -> tuple[int, Any]:
        return self.send("GET", path, b"")

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        return self.send("POST", path, body)

    def ok(self, path: str, **body: Any) -> Any:
        """POST that must succeed; its JSON."""
        status, answer = self.post(path, **body)
        assert status in (200, 201), answer
        return answer

    def work(self, name: str = "run-1", holder: str = "worker") -> tuple[int, dict[str, Any]]:
        """A run and the fields that prove its lease."""
        run = self.ok("/api/runs/", client="crewai", name=name)["run"]["id"]
        lease = self.ok(f"/api/runs/{run}/lease/", holder=holder)["lease"]
        return run, {"holder": lease["holder"], "fence": lease["fence"]}


def killed_session() -> Session:
    """A session whose client was killed while a command was running."""
    file = next((KILLED / "source").rglob("*.jsonl"))
    return bring_bytes(file.read_bytes(), file.name).session


def key_target(name: str = "payments") -> Target:
    """A target that knows an operation again by its key, for a day."""
    return Target.objects.create(name=name, kind=Target.Kind.KEY, contract="Keys are kept for a day.", key_valid_seconds=86_400)
