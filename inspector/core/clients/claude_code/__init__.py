"""Claude Code: JSON Lines transcripts and what a resume makes of them."""

from __future__ import annotations

from . import write
from .calls import arguments, calls
from .file_history import content_before
from .profiles import PROFILES
from .read import read, read_line, sniff
from .recorded import agent_requests, all_requests, recorded_request
from .resume import resume
from .screen import screen, screen_items
from .switching import continue_choice, listed

NAME = "claude-code"
TITLE = "Claude Code"
GATES = ("content-replacement", "context-collapse", "resume-interrupted-turn")
"""Switches of state.GATES that mean something here."""

__all__ = [
    "GATES", "NAME", "PROFILES", "TITLE", "agent_requests", "all_requests", "arguments", "calls", "content_before", "continue_choice", "listed",
    "read", "read_line", "recorded_request", "resume", "screen", "screen_items", "sniff", "write",
]  # fmt: skip
