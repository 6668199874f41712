"""Template words: times, sizes, chips."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ..views.drawing.words import SEVERITIES, VERDICTS

register = template.Library()


@register.filter
def ago(when: datetime | None) -> SafeString | str:
    """Relative time in words, absolute with zone on hover."""
    if when is None:
        return "–"
    seconds = (timezone.now() - when).total_seconds()
    if seconds < 0:
        words = f"{when:%Y-%m-%d}"
    elif seconds < 45:
        words = "now"
    elif seconds < 3600:
        words = f"{max(1, round(seconds / 60))} min ago"
    elif seconds < 86400:
        words = f"{round(seconds / 3600)} h ago"
    elif seconds < 86400 * 14:
        days = round(seconds / 86400)
        words = "yesterday" if days == 1 else f"{days} days ago"
    else:
        words = f"{when:%Y-%m-%d}"
    return format_html('<time datetime="{}" title="{}">{}</time>', when.isoformat(), f"{when:%Y-%m-%d %H:%M:%S %Z}", words)


@register.filter
def bytes_words(size: int | None) -> str:
    """`12.4 kB`, decimal units."""
    value = float(size or 0)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


@register.filter
def thousands(value: int | None) -> str:
    """`12,345`."""
    return f"{value or 0:,}"


@register.filter
def verdict_chip(verdict: str) -> SafeString:
    """The verdict in words, with its colour and shape."""
    style, words = VERDICTS.get(verdict, ("plain", verdict))
    return format_html('<span class="chip {}">{}</span>', style, words)


@register.filter
def severity_class(severity: str) -> str:
    """Chip class of a severity."""
    return SEVERITIES.get(severity, "info")
