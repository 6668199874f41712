"""LangGraph: threads of a checkpointer's tables, and what the framework makes of them at a resume."""

from __future__ import annotations

from . import write
from .calls import arguments, calls, content_before, recorded_request
from .forking import copied
from .read import read, sniff
from .resume import PROFILES, resume
from .screen import screen

NAME = "langgraph"
TITLE = "LangGraph"

__all__ = [
    "NAME", "PROFILES", "TITLE", "arguments", "calls", "copied", "content_before", "read", "recorded_request", "resume", "screen", "sniff", "write",
]  # fmt: skip
