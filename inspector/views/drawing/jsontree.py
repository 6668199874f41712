"""JSON -> coloured text, secrets masked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from django.utils.safestring import SafeString

from .html import el, join

TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)')
SURROGATE = re.compile("[\ud800-\udfff]")
LIMIT = 60_000
"""Characters of one value that the page draws; the download has the whole."""


def dump(value: Any) -> str:
    """Readable JSON text; lone surrogates stay escapes, so that the page can be encoded."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def draw(value: Any, mask: Callable[[str], str]) -> SafeString:
    """`<pre class="json">` of a value."""
    text = mask(dump(value))
    cut = len(text) - LIMIT
    if cut > 0:
        text = text[:LIMIT]
    out: list[str | SafeString] = []
    at = 0
    for match in TOKEN.finditer(text):
        out.append(text[at : match.start()])
        if match[1]:
            out += [el("span", match[1], class_="k" if match[2] else "s"), match[2] or ""]
        else:
            out.append(el("span", match[3], class_="n"))
        at = match.end()
    out.append(text[at:])
    if cut > 0:
        out.append(el("b", f"\n… {cut:,} more characters: see the download"))
    return el("pre", join(*out), class_="json", tabindex=0)
