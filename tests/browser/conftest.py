"""Sessions for the browser: recorded examples, imported as a person would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.capture import folder
from inspector.models import Session
from inspector.services.add_evidence import add_evidence
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.import_sessions import import_sessions, limits

EXAMPLES = Path(__file__).resolve().parents[2] / "inspector" / "examples" / "projects" / "-home-dev-shop"
KILLED = EXAMPLES / "d6a6f2ed-12d2-49f3-8448-24b4d67caffb.jsonl"
"""Killed in the second of three parallel calls: two have no result."""
CLEAN = EXAMPLES / "119fafed-6e35-4bcf-a7d5-a4915d2efb8b.jsonl"

Settle = Callable[[Session, str, str], None]


@pytest.fixture
def bring_in(owner: Any) -> Callable[[Path], Session]:
    """Import one transcript; the session as it then is."""

    def one(path: Path) -> Session:
        outcomes = import_sessions(candidates=folder.candidates(path, limits()), actor=owner)
        return outcomes[0].session

    return one


@pytest.fixture
def settle(owner: Any, team_mate: Any) -> Settle:
    """Say of a session's one open operation what happened, in these words, as one person, and approve it as another."""

    def both(session: Session, outcome: str, statement: str) -> None:
        operation = session.ledger.get(state="uncertain")
        seen = add_evidence(operation=operation, actor=owner, says="It was looked at.")
        claim = claim_outcome(operation=operation, actor=owner, outcome=outcome, statement=statement, evidence=[seen])
        decide_claim(claim=claim, actor=team_mate, digest=claim.digest, approve=True)

    return both
