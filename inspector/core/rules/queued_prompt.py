"""Queued prompt: a prompt that was typed and never sent.

**What it is.** A person typed while the model was at work; the session stopped before the prompt's turn came.

**Why it matters.** The prompt is in the file, and it is not in the conversation.

**What the client does.** It does not send queued prompts of an earlier process: they are lost on resume.

**What the repair does.** Nothing: what a person wants to say now is for that person to say.

**What to check.** Read the prompt, and type it again if it is still wanted.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row, RowKind

CODES = ("queued-prompt",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all prompts that still wait at the end. What was queued before the last message is past: the conversation went on."""
    session = inspection.session
    queue: list[tuple[Row, str]] = []
    for row in session.of_type("queue-operation", part=0):
        value = session.value(row)
        operation, content = value.get("operation"), value.get("content")
        if operation == "enqueue":
            queue.append((row, content if isinstance(content, str) else ""))
        elif operation == "popAll":
            queue.clear()
        elif queue:
            at = next((number for number, (_, text) in enumerate(queue) if text == content), 0)
            queue.pop(at)
    last = next((row.index for row in reversed(index.of(inspection).main) if row.kind is RowKind.MESSAGE), -1)
    waiting = [(row, text) for row, text in queue if row.index > last and text and not text.startswith("<task-notification>")]
    if waiting:
        yield Finding(
            "queued-prompt", Severity.WARNING, index.refs(row for row, _ in waiting),
            f"{wording.count(len(waiting), 'prompt was', 'prompts were')} never sent: `{wording.short(waiting[0][1])}`. A resume does not send it.",
        )  # fmt: skip
