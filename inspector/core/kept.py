"""What the kept ledger says of operations: it governs over what the bytes of a transcript tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kept:
    """One operation of the kept ledger, as far as a derivation asks for it."""

    key: str
    state: str
    """As `core.operations.Operation.state`."""
    says: str
    """A sentence: what was found, by whom; or who reported it."""
    call_id: str | None = None
    tool: str = ""
    arguments: Any = None
    effect: str = "unknown"
    why_effect: str = ""
    target: str | None = None
    policy: str = ""
    own: bool = False
    """No call of a transcript needs to speak of it: it was reported by a person, or registered by an application."""
