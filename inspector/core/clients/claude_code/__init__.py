"""Claude Code: JSON Lines transcripts and what a resume makes of them."""

from __future__ import annotations

from ...screen import ScreenItem
from ...session import Session
from .profiles import PROFILES
from .read import read, sniff
from .recorded import recorded_request
from .resume import resume

NAME = "claude-code"
TITLE = "Claude Code"


def screen(session: Session) -> list[ScreenItem]:
    return []


__all__ = ["NAME", "PROFILES", "TITLE", "read", "recorded_request", "resume", "screen", "sniff"]
