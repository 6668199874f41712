"""Injected system prompt: text stored in the transcript would be sent as the system prompt.

**What it is.** Newer clients keep the system prompt in a `prompt_snapshot` row and send what it says at the next resume. Here it is not the
text that any recorded request was sent with.

**Why it matters.** Whoever can edit the file can tell the model what it is and what it may do.

**What the client does.** It sends the text of the last such row on the chain as it stands.

**What the repair does.** Nothing: a person decides what the model may be told. A fork at a row before it leaves it out, and the client then
makes its prompt anew.

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
    shapes = session.of_type("api-request-shape", part=0)
    if any("\n\n".join(pieces) in "\n\n".join(_recorded(inspection, row)) for row in reversed(shapes)):
        return
    if shapes and any(row.index > snapshot.index for row in session.of_type("api-request", part=0)):
        said = "The system prompt stored in this row would be sent, and no recorded request was sent with it."
        yield Finding("injected-system-prompt", Severity.WARNING, index.refs([snapshot, shapes[-1]]), said)
    else:
        said = "The system prompt stored in this row would be sent; no recorded request that used it is here to compare it with."
        yield Finding("injected-system-prompt", Severity.INFO, index.refs([snapshot]), said)


def _recorded(inspection: Inspection, row: Row) -> list[str]:
    shape = inspection.session.value(row).get("shape")
    return _texts(shape.get("system")) if isinstance(shape, dict) else []


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
