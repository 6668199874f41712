"""Progress bloat: rows that only showed progress fill the file.

**What it is.** Earlier releases saved every step of a running command as a row of its own.

**Why it matters.** They are never sent, make the file large and every start slow.

**What the client does.** It reads and ignores them.

**What the repair does.** Nothing without being asked: they do no harm to the conversation.

**What to check.** Nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("progress-bloat",)
LEAST, SHARE, MUCH = 1_000_000, 0.3, 20_000_000
"""Bytes of progress rows and their share of the file that are worth a note, and the bytes that are worth a warning."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    rows = inspection.session.of_type("progress", part=0)
    held = sum(row.end - row.start for row in rows)
    total = len(inspection.session.source.parts[0].data)
    if held > LEAST and held > SHARE * total:
        yield Finding(
            "progress-bloat", Severity.WARNING if held > MUCH else Severity.INFO, index.refs(rows),
            f"{wording.count(len(rows), 'progress row')} hold {wording.size(held)} of {wording.size(total)}.",
        )  # fmt: skip
