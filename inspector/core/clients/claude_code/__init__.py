"""Claude Code: JSON Lines transcripts and what a resume makes of them."""

from __future__ import annotations

from ...screen import ScreenItem
from ...session import Session
from ...state import ResumeAs, RuntimeState
from .read import read, sniff
from .recorded import recorded_request

NAME = "claude-code"
TITLE = "Claude Code"

PROFILES: dict[str, object] = {}


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    raise NotImplementedError


def screen(session: Session) -> list[ScreenItem]:
    return []


__all__ = ["NAME", "TITLE", "read", "recorded_request", "sniff"]
