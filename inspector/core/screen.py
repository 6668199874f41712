"""What a person saw: one item per thing on the screen, with the rows behind it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScreenItem:
    """`role`: user, assistant, thinking, tool, result, error, notice. `folded`: the client shows a stub or nothing of it."""

    rows: tuple[str, ...]
    role: str
    text: str
    folded: bool = False
