"""The map of the whole session: one SVG, at most `SLOTS` marks, each a link to a row. Inline styles are refused by policy; SVG attributes are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.utils.safestring import SafeString

from .html import el, join

SLOTS = 240
WORST = ("p", "w", "c", "u", "o")
"""Marks, the one to show first."""
NAMES = {"p": "problem", "w": "warning", "c": "compaction", "u": "prompt", "o": "row"}


def draw(part: int, rows: int, kinds: Mapping[int, str], link: Callable[[str], str]) -> SafeString:
    """SVG of the rows of a part. `kinds`: row number -> one of WORST, for those that are marked.

    Neighbours share a slot where there are too many rows; the worst of them gives colour and link.
    """
    slots = min(SLOTS, rows)
    worst: dict[int, tuple[int, int]] = {}
    for number, kind in kinds.items():
        slot, rank = number * slots // rows, (WORST.index(kind), number)
        if slot not in worst or rank < worst[slot]:
            worst[slot] = rank
    height = min(1000 / max(slots, 1), 14.0)
    shapes = []
    for slot in range(slots):
        rank, number = worst.get(slot, (WORST.index("o"), -(-slot * rows // slots)))
        kind, ref = WORST[rank], f"{part}:{number}"
        thick = height - 1 if height > 3 else height * 0.85
        rect = el("rect", x=3, y=f"{slot * height:.1f}", width=16 if kind in "pw" else 12, height=f"{max(thick, 1.5):.1f}", rx=1, class_=kind)
        title = el("title", f"{ref}: {NAMES[kind]}")
        shapes.append(el("a", join(title, rect), href=link(ref), data_ref_link=ref, tabindex=-1))
    return el("svg", *shapes, viewBox="0 0 22 1000", preserveAspectRatio="none", aria_hidden="true") if shapes else SafeString("")
