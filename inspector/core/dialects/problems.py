"""A provider rule that a request breaks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`rule` is the stable id of a provider rule (A1, R3, G2); `pointer` the place in the body; `rows` the rows behind it."""

    rule: str
    pointer: str
    rows: tuple[str, ...]
    message: str
    blocking: bool = True
    """False for rules that no look-up confirmed: a warning, never a reason to refuse."""
