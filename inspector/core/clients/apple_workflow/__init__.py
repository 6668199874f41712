"""Workflows on Apple's FoundationModels: checkpoints, and the transcripts that they, `fm` and feedback attachments hold."""

from __future__ import annotations

from ...state import CLEAN_SESSION
from . import write
from .calls import arguments, calls, content_before, recorded_request
from .profiles import PROFILES
from .read import NAME, read, sniff
from .resume import resume
from .screen import screen, screen_items, words

TITLE = "Apple FoundationModels workflow"
GATES = (CLEAN_SESSION,)
"""Switches of state.GATES that mean something here."""
UNKNOWN_IS_RESPONDING = True
"""Nothing outside the app tells whether its session is making a response: whoever takes it over has to say so."""
FINDS = frozenset((
    "truncated-tail", "unparseable-row", "lone-surrogate", "unresolved-call", "orphan-result", "duplicate-call-id", "duplicate-result",
    "uncertain-operation", "later-claim", "same-intent-new-key", "double-dispatch", "stale-attempt", "pending-approval", "malformed-request",
    "step-not-advanced", "inconsistent-step", "transcript-undecodable", "partial-response", "work-after-saved-step", "open-vote", "already-done",
    "context-overflow",
))  # fmt: skip
"""Codes of the findings that a session of this client can have."""
MENDS = frozenset((
    "unparseable-row", "transcript-undecodable", "unresolved-call", "step-not-advanced", "inconsistent-step", "partial-response",
    "work-after-saved-step", "context-overflow",
))  # fmt: skip
"""Those of them that a repair can mend in a document."""

__all__ = [
    "FINDS", "GATES", "MENDS", "NAME", "PROFILES", "TITLE", "UNKNOWN_IS_RESPONDING", "arguments", "calls", "content_before", "read",
    "recorded_request", "resume", "screen", "screen_items", "sniff", "words", "write",
]  # fmt: skip
