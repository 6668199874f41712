"""A request in one line per block, for comparing two of them side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from django.utils.safestring import SafeString

from inspector.core.dialects.messages import blocks_of, messages_of

from .html import el, join

WIDTH = 110
"""Characters of a line that both sides have."""
CHANGED = 4_000
"""Characters of a line in which the sides differ: more than a repair writes, which a person reads whole."""
LONGEST = 20_000
"""Characters of a block that are compared."""
MOST = 600
"""Lines of a comparison that a page shows."""


def outline(body: Mapping[str, Any] | None) -> list[str]:
    """Lines such as `user       tool_result toolu_1 (error) "No result…"`; empty for no request."""
    lines: list[str] = []
    for message in messages_of(body):
        role = str(message.get("role", "?")) if isinstance(message, dict) else "?"
        content = blocks_of(message)
        blocks = content if isinstance(content, list) else [content]
        if isinstance(message, dict) and "role" not in message and "type" in message:  # an item that is no message: it is its only block
            role, blocks = "", [message]
        for number, block in enumerate(blocks):
            lines.append(f"{role if number == 0 else '':<10} {_block(block)}".rstrip())
    return lines


def cut(text: str, width: int) -> str:
    """At most `width` characters; a cut shows as `…`."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return cut(json.dumps(block, ensure_ascii=False), LONGEST)
    kind = str(block.get("type", "call" if "arguments" in block else "?"))
    names = ("name", "tool_use_id") if kind == "text" else ("name", "id", "tool_use_id", "call_id")
    name = " ".join(str(block[key]) for key in names if isinstance(block.get(key), str))
    said = next((block[key] for key in ("text", "thinking", "input", "content", "arguments", "output", "structure") if key in block), None)
    error = " (error)" if block.get("is_error") else ""
    quoted = "" if said is None else " " + cut(json.dumps(said, ensure_ascii=False, default=str), LONGEST)
    return f"{kind}{' ' + name if name else ''}{error}{quoted}"


def side_by_side(left: list[str], right: list[str], mask: Callable[[str], str], titles: tuple[str, str], around: int = 3) -> SafeString:
    """Two columns, line beside line; lines that only one side has carry a sign and a colour.

    Lines of both sides are cut sooner, and long runs of them folded to `around` lines at each end.
    """
    pairs: list[tuple[SafeString | str, SafeString | str]] = []

    def line(text: str, sign: str = " ", kind: str = "") -> SafeString:
        return el("span", f"{sign} {cut(mask(text), CHANGED if kind else WIDTH)}", class_=f"l {kind}".strip())

    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            lines = left[a:b]
            if len(lines) > 2 * around + 1:
                lines = [*lines[:around], f"… {len(lines) - 2 * around:,} equal lines", *lines[-around:]]
            pairs += [(line(text), line(text)) for text in lines]
        else:
            gone = [line(text, "−", "del") for text in left[a:b]]
            come = [line(text, "+", "ins") for text in right[c:d]]
            pairs += list(zip_longest(gone, come, fillvalue=""))
    if not pairs:
        return el("p", "Both are empty.", class_="muted")
    cells = []
    for one, other in pairs[:MOST]:
        cells += [el("div", one), el("div", other, class_="same" if one == other else None)]
    more = el("p", f"{len(pairs) - MOST:,} more lines are not shown.", class_="muted") if len(pairs) > MOST else ""
    return join(el("div", el("div", titles[0], class_="h"), el("div", titles[1], class_="h"), *cells, class_="diff"), more)
