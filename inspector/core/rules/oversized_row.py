"""Oversized row: one row of very many bytes.

**What it is.** A single record of more than eight million bytes: a huge tool output, an image, a pasted file.

**Why it matters.** A request may hold 32 MB in all. A row near that size makes every request fail, and slows every start of the client.

**What the client does.** It reads and sends the row like any other.

**What the repair does.** Nothing by itself: only a person can say what of it is still needed. A fork before the row leaves it out.

**What to check.** What the row is, and whether the conversation needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import RowKind

CODES = ("oversized-row",)
LIMIT, REQUEST = 8_000_000, 32_000_000
"""Bytes from which on a row is worth a word, and the most that a provider takes in one request."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row of a transcript."""
    for row in inspection.session.rows:
        length = row.end - row.start
        if length < LIMIT or row.kind is RowKind.BLOB:
            continue
        sent = row in index.of(inspection).on_branch
        severity = Severity.ERROR if sent and length > REQUEST else Severity.WARNING
        yield Finding(
            "oversized-row", severity, index.refs([row]), f"One `{row.type}` row holds {wording.size(length)}; a whole request may hold 32 MB."
        )
