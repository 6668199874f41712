"""Problems of the derived request: the request that would be sent breaks a rule of the provider.

**What it is.** The request is derived as the client would send it and held against the provider's rules (A1 to A22). Most problems have a page
of their own; these are the ones that show only in the request: thinking that was changed (`thinking-edited`), is missing where it must be
(`thinking-missing`) or has no signature (`thinking-unsigned`), an answer at the end (`assistant-tail`), white space at the end of it
(`trailing-space`), content of a wrong shape (`malformed-request`).

**Why it matters.** The provider refuses the request, and every later one that holds the same message.

**What the client does.** It sends the request and shows the provider's error.

**What the repair does.** Nothing by itself: the rules that name the rows behind a problem mend them. Signed thinking is left out for the whole
message, never changed.

**What to check.** The place in the request that the finding names.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..dialects.problems import CODE_OF, Problem
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("thinking-edited", "thinking-missing", "thinking-unsigned", "assistant-tail", "trailing-space", "malformed-request")


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each problem of the request."""
    for problems in index.of(inspection).problems.values():
        for problem in problems:
            severity = Severity.ERROR if problem.blocking else Severity.WARNING
            yield Finding(_code(problem), severity, problem.rows, f"The request breaks rule {problem.rule}: {problem.message}")


def _code(problem: Problem) -> str:
    if problem.rule == "A15" and "more than" in problem.message:
        return "many-large-images"
    return CODE_OF.get(problem.rule, "malformed-request")
