"""The one way to write HTML in code: `el` escapes every text child and attribute, so that a forgotten escape is impossible."""

from __future__ import annotations

from html import escape

from django.utils.safestring import SafeString

Child = str | None
"""Text (escaped), HTML made by `el` or `join` (a SafeString, kept), or None (nothing)."""

VOID = frozenset(("input", "br", "hr", "rect", "img"))


def join(*children: Child) -> SafeString:
    """Children one after the other, as HTML."""
    return SafeString("".join([child if isinstance(child, SafeString) else escape(child) for child in children if child]))


def el(name: str, /, *children: Child, **attributes: str | int | bool | None) -> SafeString:
    """One element. `class_` and `for_` lose their underscore, other underscores become hyphens; None and False leave the attribute out."""
    parts = ["<", name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        parts.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    parts.append(">")
    if name not in VOID:
        parts += [join(*children), f"</{name}>"]
    return SafeString("".join(parts))
