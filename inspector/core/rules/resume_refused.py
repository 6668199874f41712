"""Resume refused: the client itself would not continue this session, or would send nothing.

**What it is.** What the simulated release does when it is asked to resume this file: it stops with an error, or finds no conversation.

**Why it matters.** Nobody can go on with the session as it is.

**What the client does.** It says "No conversation found", or stops with an error of its own, and changes nothing.

**What the repair does.** It mends the faults that cause it, where they are among the other findings. An empty file can't be repaired.

**What to check.** The other findings of this session, and whether another release would open it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("resume-refused",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    state = inspection.state
    if state.refused is None:
        return
    if inspection.session.client == "raw":
        yield Finding("resume-refused", Severity.FATAL, (), f"This can't be resumed: {state.refused}.")
    else:
        yield Finding("resume-refused", Severity.FATAL, (), f"The client {state.version} would not resume this session: {state.refused}.")
