"""Duplicate uuid: two different rows have the same id.

**What it is.** A row was written again with other content, or two programs gave out the same id.

**Why it matters.** Only one of them can be in the conversation; the other is lost without a word.

**What the client does.** The content of the last one counts, at the place of the first in the chain.

**What the repair does.** It gives nothing a new meaning by itself: the row that the client ignores is left out, so that every reader sees the
same conversation. The original keeps both.

**What to check.** Which of the two is what really happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("duplicate-uuid",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each id that rows of different content share."""
    session = inspection.session
    looked = index.of(inspection)
    for _, rows in looked.by_id.repeated():
        rows = [row for row in rows if row.kind in index.CHAIN_KINDS]
        if len(rows) > 1 and len({session.bytes_of(row).strip() for row in rows}) > 1:
            severity = Severity.ERROR if any(row in looked.on_branch for row in rows) else Severity.WARNING
            yield Finding(
                "duplicate-uuid", severity, index.refs(rows),
                f"{wording.count(len(rows), 'row')} with other content share the id {wording.short(rows[0].id, 40)}; the client uses the last one.",
            )  # fmt: skip
