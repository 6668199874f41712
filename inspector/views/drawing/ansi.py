"""Terminal text -> HTML: colours and styles of SGR sequences become classes, every other control sequence is left out.

Colours beyond the sixteen of a terminal are not kept: a hostile transcript must not choose colours that hide text on the page.
"""

from __future__ import annotations

import re

from django.utils.safestring import SafeString

from .html import el, join

CONTROL = re.compile(
    "\x1b\\[([0-9;:]*)m"  # SGR: the one kind that is drawn
    "|\x1b\\[[0-?]*[ -/]*[@-~]"  # other CSI
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\|$)"  # OSC, DCS and their like, with their text
    "|\x1b[ -/]*[0-~]"  # two-character sequences
    "|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]"  # bare control characters; tab and newline stay
)
STYLES = {1: "b", 2: "d", 3: "i", 4: "u", 9: "s"}
ENDS = {22: "bd", 23: "i", 24: "u", 29: "s"}


def plain(text: str) -> str:
    """The text without its control sequences."""
    return CONTROL.sub("", text)


def draw(text: str) -> SafeString:
    """HTML of the text: escaped, with `<span class="ansi-…">` for what the sequences ask for."""
    if "\x1b" not in text:
        return join(CONTROL.sub("", text))
    out, at = [], 0
    styles: set[str] = set()
    colour: int | None = None
    for match in CONTROL.finditer(text):
        out.append(_span(text[at : match.start()], styles, colour))
        at = match.end()
        if match[1] is not None:
            colour = _apply(match[1], styles, colour)
    out.append(_span(text[at:], styles, colour))
    return join(*out)


def _span(text: str, styles: set[str], colour: int | None) -> SafeString:
    if not text:
        return SafeString("")
    classes = [f"ansi-{style}" for style in sorted(styles)] + ([f"ansi-{colour}"] if colour is not None else [])
    return el("span", text, class_=" ".join(classes)) if classes else join(text)


def _apply(parameters: str, styles: set[str], colour: int | None) -> int | None:
    """Change `styles` in place as the SGR parameters say; the colour that holds afterwards (0-15 or None)."""
    codes = [int(code) if code.isdigit() and len(code) < 4 else 0 for code in re.split("[;:]", parameters)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            styles.clear()
            colour = None
        elif code in STYLES:
            styles.add(STYLES[code])
        elif code in ENDS:
            styles.difference_update(ENDS[code])
        elif 30 <= code <= 37:
            colour = code - 30
        elif 90 <= code <= 97:
            colour = code - 82
        elif code == 39:
            colour = None
        elif code in (38, 48):
            palette = codes[:1] == [5] and len(codes) > 1
            if code == 38:
                colour = codes[1] if palette and codes[1] < 16 else None
            del codes[: 2 if palette else 4]
    return colour
