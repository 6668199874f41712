"""Sidechain tail: the file ends in a side conversation.

**What it is.** The last rows of the main transcript belong to a sub-agent (`isSidechain`): it was at work when the process stopped.

**Why it matters.** The sub-agent's work is not in the conversation, and what it had begun may have happened.

**What the client does.** It continues from the last row of the main conversation; the side rows stay where they are and are not sent.

**What the repair does.** Nothing to the side rows. The call that started the sub-agent is answered like any other open call.

**What to check.** What the sub-agent did last: its calls are listed among the operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("sidechain-tail",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    rows = (row for row in reversed(index.of(inspection).chain) if row.part == 0)
    tail = list(takewhile(lambda row: row.sidechain, rows))[::-1]
    if tail:
        yield Finding(
            "sidechain-tail", Severity.WARNING, index.refs(tail),
            f"The file ends in {wording.count(len(tail), 'row')} of a sub-agent: it was at work when the session stopped.",
        )  # fmt: skip
