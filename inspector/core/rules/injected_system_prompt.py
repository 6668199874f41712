"""Injected system prompt: text stored in the transcript would be sent as the system prompt.

**What it is.** Newer clients keep the system prompt in a `prompt_snapshot` row and send what it says at the next resume. Here it is not the
text that the last recorded request was sent with.

**Why it matters.** Whoever can edit the file can tell the model what it is and what it may do.

**What the client does.** It sends the text of the last such row on the chain as it stands.

**What the repair does.** Nothing by itself. You can leave the row out; the client then makes its prompt anew.

**What to check.** The text itself, in the state panel: where does it differ from the recorded one, and who wrote that?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("injected-system-prompt",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding; a note where no request was recorded to compare with."""
    looked, session = index.of(inspection), inspection.session
    snapshot, pieces = _stored(inspection, looked)
    if snapshot is None or not pieces:
        return
    shape = next((row for row in reversed(session.rows) if row.type == "api-request-shape" and row.part == 0), None)
    if shape is None:
        yield Finding(
            "injected-system-prompt", Severity.INFO, index.refs([snapshot]),
            "The system prompt stored in this row would be sent; no recorded request is here to compare it with.",
        )  # fmt: skip
        return
    recorded_shape = session.value(shape).get("shape")
    recorded = _texts(recorded_shape.get("system")) if isinstance(recorded_shape, dict) else []
    if "\n\n".join(pieces) not in "\n\n".join(recorded):
        yield Finding(
            "injected-system-prompt", Severity.WARNING, index.refs([snapshot, shape]),
            "The system prompt stored in this row would be sent, and it is not the one that the last recorded request was sent with.",
        )  # fmt: skip


def _stored(inspection: Inspection, looked: index.Index) -> tuple[Row | None, list[str]]:
    for row in reversed(looked.branch):
        if getattr(row.extra, "attachment", None) == "prompt_snapshot":
            value: Any = inspection.session.value(row)
            pieces = value["attachment"].get("systemPrompt")
            if pieces:
                return row, _texts(pieces)
    return None, []


def _texts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    found = [each.get("text") if isinstance(each, dict) else each for each in given] if isinstance(given, list) else []
    return [each for each in found if isinstance(each, str)]
