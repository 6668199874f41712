"""What a person found out about calls that nobody knows: the questions that pages ask, and the answers as a plan takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.core import reading
from inspector.core.operations import Operation, left_out
from inspector.core.steps import Resolution
from inspector.templatetags.words import safe_text

from .desk import Desk

OUTCOMES = {
    "happened": ("It happened…", "You saw its effect. The model is told not to do it again."),
    "did-not-happen": ("It did not happen…", "You looked where its effect would be, and it is not there."),
    "unknown": ("We still don't know", "It stays open. A note is kept if you write one."),
}
"""Outcome -> its words, and what they mean."""
LONGEST = 2000
"""Characters of a note."""
MOST = 50
"""Questions on one page."""


def writes(desk: Desk) -> bool:
    """Whether an answer can be written into this session by a repair: only into its newest revision, and not while its client may write."""
    return hasattr(reading.CLIENTS.get(desk.session.client), "write") and not (desk.is_agent or desk.is_old or desk.session.live)


def asked_of(operation: Operation) -> bool:
    """Whether the operation is open and a row of the transcript can carry an answer."""
    return operation.state == "uncertain" and (operation.call_id is not None or operation.result is not None)


def open_operations(desk: Desk) -> list[Operation]:
    """Operations of the revision that a person may answer for."""
    return [operation for operation in desk.derived.inspection.operations if asked_of(operation)][:MOST] if writes(desk) else []


def name_of(operation: Operation) -> str:
    """The operation's key as a page may hold it: that of a call that was left out is recorded text."""
    return safe_text(operation.key)


def answers(operations: list[Operation], asked: Mapping[str, str], by: str, at: str) -> tuple[dict[str, Resolution], dict[str, str]]:
    """Resolutions by key of the operation, and what is wrong with those that are not taken.

    `asked` are the fields of a form. “We still don't know” without a note says nothing new and is no resolution.
    """
    found, wrong = {}, {}
    for operation in operations:
        outcome, text = asked.get(f"outcome-{name_of(operation)}", ""), asked.get(f"note-{name_of(operation)}", "").strip()
        if outcome not in OUTCOMES:
            if text:
                wrong[operation.key] = "Choose what you found; the note alone says nothing to the model."
        elif len(text) > LONGEST:
            wrong[operation.key] = f"The note has {len(text):,} characters; {LONGEST:,} are the limit."
        elif outcome != "unknown" and not text:
            wrong[operation.key] = "A note is needed: what did you look at, and what did it show?"
        elif text:
            found[operation.key] = Resolution(outcome, text, by, at)  # type: ignore[arg-type]
    return found, wrong


def question(operation: Operation, asked: Mapping[str, str], wrong: str = "") -> dict[str, Any]:
    """Template context of one question, with what was answered so far."""
    name = name_of(operation)
    chosen = asked.get(f"outcome-{name}", "")
    return {
        "key": name,
        "outcomes": [{"value": value, "words": words, "says": says, "chosen": value == chosen} for value, (words, says) in OUTCOMES.items()],
        "note": asked.get(f"note-{name}", ""),
        "longest": LONGEST,
        "wrong": wrong,
    }


def said(desk: Desk, operation: Operation) -> dict[str, str]:
    """What a person found, as the row says that a repair wrote: `resolution`, `says`, `by`, `at`, `stamp`; empty where nobody did.

    The row is the result that carries the answer, or the note about a call that was left out.
    """
    writer = getattr(reading.CLIENTS.get(desk.session.client), "write", None)
    ref = operation.result or next((each.row for each in operation.evidence if each.row and left_out(operation)), None)
    session = desk.derived.inspection.session
    value = session.value(session.row(ref)) if writer is not None and ref is not None else None
    mark = value.get(writer.MARK) if isinstance(value, dict) and writer is not None else None
    if not isinstance(value, dict) or not isinstance(mark, dict):
        return {}
    held = value | {"at": mark.get("at")} if left_out(operation) else mark
    if held.get("resolution") not in OUTCOMES:
        return {}
    found = {name: text for name in ("resolution", "says", "by", "at", "stamp") if isinstance(text := held.get(name), str)}
    return found | ({"at": f"{found['at'][:10]} {found['at'][11:16]} UTC"} if "at" in found else {})
