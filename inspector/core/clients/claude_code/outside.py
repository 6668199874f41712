"""What a request holds beside the conversation: the stored system prompt, the recorded tools, and what the client adds that no file records."""

from __future__ import annotations

from typing import Any

from ...session import Row, Session
from ...state import RuntimeState
from .profiles import Profile
from .read import Light
from .recorded import last_shape


def stored_system_prompt(session: Session, branch: list[Row]) -> tuple[Row, str] | None:
    """Row and text of the last system prompt stored on the branch: its pieces with an empty line between them, as the client sends them."""
    for row in reversed(branch):
        if isinstance(row.extra, Light) and row.extra.attachment == "prompt_snapshot":
            attachment = session.value(row).get("attachment")
            stored = attachment.get("systemPrompt") if isinstance(attachment, dict) else None
            pieces = [piece for piece in stored if isinstance(piece, str)] if isinstance(stored, list) else []
            if pieces:
                return row, "\n\n".join(pieces)
    return None


def add_outside(session: Session, branch: list[Row], profile: Profile, state: RuntimeState) -> None:
    """Set the system prompt, where this release sends the stored one, and the tools; say what else comes from outside the file."""
    stored = stored_system_prompt(session, branch) if profile.rendered else None
    if stored is not None:
        row, text = stored
        state.system, state.system_row = [text], row.ref
        state.drops = [drop for drop in state.drops if drop.row != row.ref]
    state.tools = recorded_tools(session)
    state.added_at_send += [
        "the client's own system prompt: none is stored"
        if stored is None
        else "two lines before the stored system prompt: billing header and identity",
        "tool schemas of today's client" + ("" if state.tools is None else "; those of the last recorded request are shown"),
        "output of SessionStart hooks, which run again with source `resume`",
        "the current date, project notes and git status, where they are new to the conversation",
        "listings of agents, skills and deferred tools, where they changed",
    ]


def recorded_tools(session: Session) -> list[Any] | None:
    """Tool schemas of the last recorded request of the main transcript, or None."""
    shape = last_shape(session, 0)
    tools = shape.get("tools") if shape is not None else None
    return tools if isinstance(tools, list) else None
