"""Sessions for the browser: recorded examples, imported as a person would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.capture import folder
from inspector.models import Session
from inspector.services.import_sessions import import_sessions, limits

EXAMPLES = Path(__file__).resolve().parents[2] / "inspector" / "examples" / "projects" / "-home-dev-shop"
KILLED = EXAMPLES / "d6a6f2ed-12d2-49f3-8448-24b4d67caffb.jsonl"
"""Killed in the second of three parallel calls: two have no result."""
CLEAN = EXAMPLES / "119fafed-6e35-4bcf-a7d5-a4915d2efb8b.jsonl"


@pytest.fixture
def bring_in(owner: Any) -> Callable[[Path], Session]:
    """Import one transcript; the session as it then is."""

    def one(path: Path) -> Session:
        outcomes = import_sessions(candidates=folder.candidates(path, limits()), actor=owner)
        return outcomes[0].session

    return one
