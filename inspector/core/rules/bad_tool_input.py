"""Bad tool input: the arguments of a call are no object.

**What it is.** The call's `input` is a text, a list or nothing: it was cut while it was being written, or another program stored it so.

**Why it matters.** Every later request of the session is refused.

**What the client does.** It sends the input as it is stored.

**What the repair does.** It wraps the stored value in an object, marked as repaired; nothing of it is lost.

**What to check.** What the tool was really called with: its result may say.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("bad-tool-input",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such call of the derived request."""
    for problem in index.of(inspection).problems.get("A17", ()):
        yield Finding("bad-tool-input", Severity.ERROR, problem.rows, problem.message)
