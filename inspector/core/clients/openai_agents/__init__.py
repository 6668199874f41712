"""OpenAI Agents SDK: sessions in SQLite and PostgreSQL, lists of items, and RunStates, with what a run makes of them."""

from __future__ import annotations

from . import write
from .calls import arguments, calls, content_before, recorded_request, words
from .read import NAME, read, sniff
from .resume import PROFILES, resume
from .screen import screen, screen_items

TITLE = "OpenAI Agents SDK"
FINDS = frozenset((
    "truncated-tail", "unparseable-row", "resume-refused", "unresolved-call", "orphan-result", "duplicate-call-id", "duplicate-result",
    "uncertain-operation", "effect-without-row", "later-claim", "same-intent-new-key", "double-dispatch", "stale-attempt", "pending-approval",
    "open-turn", "user-tail", "orphan-reasoning", "duplicate-item-id", "truncated-arguments", "reexecution-risk", "branch-not-restored",
    "malformed-request",
))  # fmt: skip
"""Codes of the findings that a session of this client can have."""
MENDS = frozenset((
    "unresolved-call", "orphan-result", "duplicate-result", "orphan-reasoning", "duplicate-item-id", "reexecution-risk", "open-turn", "user-tail",
))  # fmt: skip
"""Those of them that a repair can mend."""

__all__ = [
    "FINDS", "MENDS", "NAME", "PROFILES", "TITLE", "arguments", "calls", "content_before", "read", "recorded_request", "resume", "screen",
    "screen_items", "sniff", "words", "write",
]  # fmt: skip
