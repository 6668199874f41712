"""The recorded sessions and RunStates of the OpenAI Agents SDK, unpacked when a test asks; what the real SDK said of each is in `expected.json`."""

from __future__ import annotations

import json
import os
import tarfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.capture.store import open_store
from inspector.core import tablerow
from inspector.core.inspection import Inspection, inspect
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs

from .packed import Packed

os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "openai-agents"
REPORTED = CORPUS.parent / "reported"


@dataclass(frozen=True)
class Case(Packed):
    """One recorded case."""

    ARCHIVES = CORPUS

    @property
    def requests(self) -> list[Any]:
        """The inputs that the model received after the resume."""
        return [each["input"] for each in (self.expected["resume"] or {}).get("model_requests") or []]

    @property
    def items(self) -> list[Any]:
        """What the real SDK returned as the session's items."""
        result = self.expected["run"].get("result") if isinstance(self.expected["run"], dict) else None
        held = result.get("items_main") if isinstance(result, dict) else None
        return list(held or self.expected["items_as_library_returns"])

    def source(self) -> Source:
        return source_of(self.folder / "sessions.sqlite")


def every() -> list[Case]:
    """All recorded cases."""
    with tarfile.open(CORPUS / "recorded.tar.xz") as packed:
        return sorted((Case(*member.name.split("/")[:2]) for member in packed if member.name.endswith("expected.json")), key=lambda case: case.name)


def source_of(path: Path, thread: str | None = None, key: bytes | None = None) -> Source:
    """The only session of a store, or a named one."""
    store = open_store(path, key)
    assert store is not None
    with closing(store):
        return store.source(thread or store.threads()[0].id)


def stored(items: list[Any]) -> Source:
    """A session that holds these items."""
    rows = ({"id": n, "session_id": "s", "message_data": json.dumps(item), "created_at": "2026-11-30 09:00:00"} for n, item in enumerate(items, 1))
    return Source("s.sqlite", (Part("s.sqlite/agent_messages/s", b"".join(tablerow.pack("agent_messages", row) for row in rows)),))


def document(value: Any, indent: int | None = None) -> Source:
    """A file that holds this value as JSON."""
    return Source("given.json", (Part("given.json", json.dumps(value, indent=indent).encode()),))


def sent(source: Source, prompt: str | None = None) -> list[Any] | None:
    """The input of the derived request."""
    request = inspect(source, ResumeAs(prompt=prompt)).request
    return None if request is None else list(request.body["input"])


def fates(looked: Inspection) -> list[str]:
    """Refs that have a place or a drop: every row once."""
    placed = {ref for message in looked.state.messages for ref in message.rows if not ref.startswith("+")}
    return sorted([*placed, *(drop.row for drop in looked.state.drops)])
