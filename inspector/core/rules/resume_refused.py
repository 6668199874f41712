"""Resume refused: the client itself would not continue this session, or would send nothing.

**What it is.** What the simulated release does when it is asked to resume this file: it stops with an error, or finds no conversation.

**Why it matters.** Nobody can go on with the session as it is.

**What the client does.** It says "No conversation found", or stops with an error of its own, and changes nothing.

**What the repair does.** It mends the faults that cause it, where they are among the other findings. An empty file can't be repaired.

**What to check.** The other findings of this session, and whether another release would open it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, step

CODES = ("resume-refused",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    state = inspection.state
    if state.refused is None or state.paused:
        return
    if inspection.session.client == "raw":
        yield Finding("resume-refused", Severity.FATAL, (), f"This can't be resumed: {state.refused}.")
    else:
        yield Finding("resume-refused", Severity.FATAL, (), f"The client {state.version} would not resume this session: {state.refused}.")


def misleading(inspection: Inspection) -> Row | None:
    """The client's bookmark where it names a row of a sub-agent although there is a conversation to name a row of, or None."""
    looked = index.of(inspection)
    bookmark = next((row for row in reversed(list(inspection.session.main())) if row.type == "last-prompt"), None)
    named = looked.by_id.get((0, bookmark.extra.leaf or "")) if bookmark is not None else None
    return bookmark if named and named[-1].sidechain and looked.main and looked.main[-1].id is not None else None


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Where the client's bookmark names a row of a sub-agent, set it to the last row of the conversation."""
    bookmark = misleading(inspection)
    if bookmark is None:
        return None
    leaf = context.looked.main[-1]
    id = context.step_id(finding.code, bookmark)
    last = list(context.session.main())[-1]
    edit = context.insert(last, context.write.last_prompt_row(context.session, leaf.id or "", context.mark(id)))
    why = "The client's bookmark names a row of a sub-agent; a new one names the last row of the conversation."
    return step(finding.code, id, [bookmark], [edit], why)
