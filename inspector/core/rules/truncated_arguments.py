"""Truncated arguments: the arguments of a call are no JSON.

**What it is.** The text of a call's arguments breaks off, or was never JSON: the answer was cut at its limit of tokens, or while it streamed.

**Why it matters.** What the tool was really called with is not known. Some providers refuse such a request, and the tool did not understand it.

**What the client does.** It sends the text as it is stored.

**What the repair does.** Nothing: arguments are never made up.

**What to check.** The output of the call: it says whether the tool ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("truncated-arguments",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such call of the request."""
    for problem in index.of(inspection).problems.get("R16", ()):
        yield Finding("truncated-arguments", Severity.WARNING, problem.rows, problem.message)
