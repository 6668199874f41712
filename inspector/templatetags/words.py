"""The words and marks that people read, for templates and for code: verdicts, severities, states of operations, times, sizes."""

from __future__ import annotations

import re
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from inspector.core.masking import mask
from inspector.models import Session
from inspector.queries import queue, stores

register = template.Library()

VERDICTS = {
    "ready": ("ok", "Ready to resume"),
    "needs-repair": ("warn", "Needs repair"),
    "needs-reconciliation": ("danger", "Something may have happened"),
    "live": ("live", "Live"),
    "blocked": ("blocked", "Can't be resumed"),
    "finished": ("plain", "Finished"),
    "": ("plain", "Being read"),
}
"""Verdict -> (chip class, words)."""

SEVERITIES = {"fatal": "fault", "error": "fault", "warning": "warn", "info": "info"}
"""Severity -> chip class."""

OPERATION_STATES = {
    "confirmed": ("ok", "Done according to the transcript", "We did not check the target."),
    "failed": ("plain", "Refused by the target", "It did not happen. It may be tried again."),
    "uncertain": ("danger", "We don't know if this happened", "The request was made; no result was saved. Do not repeat it. Check the target first."),
    "resolved": ("ok", "Resolved", "A person decided it from evidence."),
    "waiting-approval": ("warn", "Waiting for approval", "Nothing was sent."),
    "not-started": ("plain", "Not started", "The transcript says that it was not run."),
}
"""State of an operation -> (chip class, badge, sentence)."""

EFFECTS = {
    "read-only": "only reads",
    "idempotent": "a change; the same call again adds nothing",
    "mutating": "changes something",
    "destructive": "changes something beyond recall",
    "unknown": "unknown effect: we can't tell what this changes, so we treat it as a change",
}

HOWS = {"normal": "normal", "fork": "fork", "path": "from file path", "switch": "switch"}
"""Way of resuming -> words."""

GATES = {
    "resume-interrupted-turn": "the interrupted turn is sent at once",
    "content-replacement": "recorded replacements are applied",
    "context-collapse": "context-collapse entries are shown",
    "clean-session": "the transcript is not restored: a clean session gets what was saved as its instructions",
}
"""Gate of the client -> what it does when it is on."""

ROLES = {
    "user": "User",
    "assistant": "Assistant",
    "thinking": "Assistant · thinking",
    "tool": "Tool call",
    "result": "Tool result",
    "error": "Error",
    "notice": "Notice",
}
"""Role of a screen item -> words."""

ADDED = {
    "continuation": "continuation",
    "sentinel": "sentinel",
    "interrupted-result": "result for an interrupted call",
    "notification": "task notification",
    "prompt": "next prompt",
}
"""Why a resume adds a row -> words."""


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
def clock(when: datetime | None) -> SafeString | str:
    """`14:32`, with the date where that is another day; whole with zone on hover."""
    if when is None:
        return "–"
    words = f"{when:%H:%M}" if when.date() == timezone.now().date() else f"{when:%Y-%m-%d %H:%M}"
    return format_html('<time datetime="{}" title="{}">{}</time>', when.isoformat(), f"{when:%Y-%m-%d %H:%M:%S %Z}", words)


SURROGATE = re.compile("[\ud800-\udfff]")


@register.filter("masked")
def safe_text(text: str | None) -> str:
    """Recorded text as a page may hold it: secrets masked, halves of surrogate pairs (which no encoding takes) as U+FFFD."""
    return SURROGATE.sub("\ufffd", mask(text or ""))


@register.filter
def titled(session: Session | None) -> str:
    """What a session is called, secrets masked: titles and first prompts are recorded text."""
    return safe_text(str(session)) if session else ""


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
def folder_breaks(path: str) -> SafeString:
    """A path that breaks behind its separators, never inside a name that fits the line."""
    return SafeString("<wbr>".join(format_html("{}", piece) for piece in re.split(r"(?<=[/\\\\])", safe_text(path))))


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
def code_spans(text: str) -> SafeString:
    """Escaped text, secrets masked; what stands between backticks becomes `<code>`."""
    pieces = [format_html("<code>{}</code>" if number % 2 else "{}", piece) for number, piece in enumerate(safe_text(text).split("`"))]
    return SafeString("".join(pieces)) if len(pieces) % 2 else format_html("{}", safe_text(text))


@register.simple_tag
def open_operations() -> int:
    """Operations that nobody has settled yet, for the navigation."""
    return queue.open_count()


@register.simple_tag
def configured_stores() -> int:
    """How many stores the settings name, for the navigation."""
    return len(stores.names())


@register.filter
def severity_class(severity: str) -> str:
    """Chip class of a severity."""
    return SEVERITIES.get(severity, "info")
