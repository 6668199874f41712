"""Interrupted turn: the last answer was stopped half way.

**What it is.** A person pressed Esc or sent a signal, or the connection broke while the answer came in.

**Why it matters.** What is there of the answer may be cut in the middle. A tool that was stopped may have done its work, though its result
says that it was rejected.

**What the client does.** It keeps the piece, and adds a text of its own before the next prompt when the interruption stands last.

**What the repair does.** Nothing: what was said stays as it was said.

**What to check.** What the stopped tool changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row

CODES = ("interrupted-turn",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: a note for a person's own stop, a warning for an answer that broke off."""
    looked = index.of(inspection)
    tail = looked.tail()
    if tail is None:
        return
    if tail.role == "user":
        if symptoms.interruption(getattr(tail.extra, "text", None)):
            yield Finding("interrupted-turn", Severity.INFO, index.refs([tail]), "A person stopped the last turn.")
        return
    value = inspection.session.record(tail)
    message = value.get("message")
    if not isinstance(message, dict) or not any(block.kind is BlockKind.TEXT for block in tail.blocks):
        return
    if value.get("isAbortedMidStream") is True:
        yield Finding(
            "interrupted-turn", Severity.INFO, index.refs([tail]), "A person stopped the last answer; it may end in the middle of a sentence."
        )
    elif "stop_reason" in message and message["stop_reason"] is None:
        severity = Severity.WARNING if _says_why(inspection, looked, tail) else Severity.INFO
        said = "The last answer may have broken off: no reason for its end was saved."
        yield Finding("interrupted-turn", severity, index.refs([tail]), said)


def _says_why(inspection: Inspection, looked: index.Index, tail: Row) -> bool:
    """Whether this client saves why an answer ended: an earlier one says so. Some releases never do."""
    for pieces in list(looked.groups.values())[-6:]:
        message = inspection.session.record(pieces[-1]).get("message")
        if pieces[-1] is not tail and isinstance(message, dict) and message.get("stop_reason") is not None and message.get("model") != "<synthetic>":
            return True
    return False
