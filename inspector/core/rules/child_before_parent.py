"""Child before parent: a row stands in the file before the row that it hangs from.

**What it is.** The client wrote its rows in another order than they belong together. Interactive sessions of some releases do so in their
first turn.

**Why it matters.** It is harmless to a reader that links rows by id, and misleading to one that goes by the order of lines.

**What the client does.** It links by id.

**What the repair does.** Nothing.

**What to check.** Nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("child-before-parent",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One note for all such rows."""
    looked = index.of(inspection)
    early = [
        row for row in looked.early
        if row.kind in index.CHAIN_KINDS and row.id is not None and looked.by_id[row.part, row.parent or ""][0].index > row.index
    ]  # fmt: skip
    if early:
        yield Finding(
            "child-before-parent",
            Severity.INFO,
            index.refs(early),
            f"{wording.count(len(early), 'row stands before its parent', 'rows stand before their parents')} in the file.",
        )
