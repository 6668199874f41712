"""LangGraph: threads of a checkpointer's tables, and what the framework makes of them at a resume."""

from __future__ import annotations

from . import write
from .calls import arguments, calls, content_before, recorded_request
from .forking import copied
from .read import read, read_line, sniff
from .resume import PROFILES, resume
from .screen import screen, screen_items, shown_record

NAME = "langgraph"
TITLE = "LangGraph"

__all__ = [
    "NAME", "PROFILES", "TITLE", "arguments", "calls", "copied", "content_before", "read", "read_line", "recorded_request", "resume", "screen",
    "screen_items", "shown_record", "sniff", "write",
]  # fmt: skip
