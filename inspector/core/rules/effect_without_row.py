"""Effect without row: a tool may have run, and no row of the transcript says so.

**What it is.** The client notes the names of the tools that it has used (`tools-used`). It names one here for which there is no call, and the
last turn is not finished.

**Why it matters.** Tools start as soon as their call is complete, but the rows of an answer are saved only when the answer ends. A process
that is killed in between has done the work and saved nothing.

**What the client does.** It continues as if nothing had been done; the model will do it again.

**What the repair does.** Nothing can be added: nobody knows the call. The finding stays, as a warning to look first.

**What to check.** What such a tool could have changed: files, branches, services. The prompt of the last turn says what it was to do.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind

CODES = ("effect-without-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    looked, session = index.of(inspection), inspection.session
    noted = next((row for row in reversed(session.rows) if row.type == "tools-used" and row.part == 0), None)
    tail = looked.tail()
    if noted is None or (tail is not None and tail.role == "assistant" and _said(looked, tail)):
        return
    listed = session.value(noted).get("tools")
    seen = {spot.block.name for _, spots in looked.calls.items() for spot in spots}
    unseen = [name for name in listed if isinstance(name, str) and name not in seen] if isinstance(listed, list) else []
    if unseen:
        names = ", ".join(f"`{wording.short(name, 40)}`" for name in unseen[:5])
        yield Finding(
            "effect-without-row", Severity.ERROR, index.refs([noted, *([tail] if tail else [])]),
            f"The client noted that it used {names}, but no row holds such a call, and the last turn is not finished: it may have run.",
        )  # fmt: skip


def _said(looked: index.Index, tail: object) -> bool:
    """Whether the last answer is a finished one: its last piece is text."""
    return any(block.kind is BlockKind.TEXT for row in looked.messages[-1:] if row is tail for block in row.blocks)
