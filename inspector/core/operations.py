"""Calls paired with results -> the operations of a session, with graded evidence and the class of their effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that the transcript holds about an operation."""

    kind: str
    says: str
    row: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """A tool call with its effect class and what is known of it. `key` survives repair and fork."""

    key: str
    call_id: str | None
    tool: str
    arguments: Any
    effect: str
    """read-only | idempotent | mutating | destructive | unknown"""
    why_effect: str
    state: str
    """confirmed | failed | uncertain | resolved | waiting-approval | not-started"""
    on_branch: bool
    call: str | None
    result: str | None
    evidence: tuple[Evidence, ...] = ()
    target: str | None = None
    """What the call acts on (a path, a host, an order), where it can be told."""
