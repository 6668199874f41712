"""The map of the whole session: one SVG, at most `SLOTS` marks, each a link to a row. Inline styles are refused by policy; SVG attributes are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from .html import el, join

SLOTS = 240
WORST = ("p", "w", "c", "u", "m", "o", "x")
"""Marks, the one to show first: problem, warning, compaction or added, user, message, other, left out."""
NAMES = {"p": "problem", "w": "warning", "c": "compaction", "u": "user message", "m": "message", "o": "other row", "x": "left out"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One row on the map."""

    ref: str
    kind: str
    """One of WORST."""


def draw(marks: Sequence[Mark], link: Callable[[str], str]) -> SafeString:
    """SVG of the rows in order. Neighbours share a slot where there are too many; the worst of them gives colour and link."""
    if not marks:
        return SafeString("")
    slots = min(SLOTS, len(marks))
    height = min(1000 / slots, 14.0)
    shapes = []
    for slot in range(slots):
        first, last = slot * len(marks) // slots, (slot + 1) * len(marks) // slots
        worst = min(marks[first:last], key=lambda mark: WORST.index(mark.kind))
        thick = height - 1 if height > 3 else height * 0.85
        width = 16 if worst.kind in "pw" else 12
        rect = el("rect", x=3, y=f"{slot * height:.1f}", width=width, height=f"{max(thick, 1.5):.1f}", rx=1, class_=worst.kind)
        title = el("title", f"{worst.ref}: {NAMES[worst.kind]}")
        shapes.append(el("a", join(title, rect), href=link(worst.ref), data_ref_link=worst.ref, tabindex=-1))
    return el("svg", *shapes, viewBox="0 0 22 1000", preserveAspectRatio="none", aria_hidden="true")
