"""Thinking of another model: thoughts that the next model can't take over.

**What it is.** The answer was written by another model than the one that the request is for.

**Why it matters.** Thinking is signed for the model that wrote it. Without it, the model sees what was said and done, but not why.

**What the client does.** It leaves out thinking of another model; 2.1.89 sends it, and may be refused.

**What the repair does.** Nothing: the answer itself stays whole.

**What to check.** Whether the session should go on with the model that it was led by.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..verdicts import Reason

CODES = ("thinking-other-model",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One note for all such rows."""
    looked = index.of(inspection)
    rows = looked.dropped(Reason.THINKING_OTHER_MODEL)
    if rows:
        yield Finding(
            "thinking-other-model", Severity.INFO, index.refs(rows),
            f"{wording.count(len(rows), 'thinking row')} of another model would not be sent to {wording.short(looked.state.model or 'it', 40)}.",
        )  # fmt: skip
