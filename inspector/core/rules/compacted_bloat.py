"""Compacted bloat: most of the file stands before the last compaction.

**What it is.** A compaction starts the conversation anew with a summary; the rows before it stay in the file.

**Why it matters.** They are never sent again, but they are read on every start. A compaction that made the conversation longer did not help.

**What the client does.** It reads the whole file and sends what stands behind the boundary.

**What the repair does.** Nothing: old rows are history. A fork at the boundary begins without them.

**What to check.** Whether anybody still needs the old part before you archive the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("compacted-bloat",)
LEAST, SHARE = 5_000_000, 0.8
"""Bytes before the boundary, and their share of the file, that are worth a word."""
SMALL = 20_000
"""Tokens up to which a summary may well be longer than what it stands for."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """A note about dead weight, a warning about a compaction that made things longer."""
    looked = index.of(inspection)
    boundary = next((row for row in looked.branch if row.type == "system/compact_boundary"), None)
    if boundary is None:
        return
    total = len(inspection.session.source.parts[0].data)
    if boundary.start > LEAST and boundary.start > SHARE * total:
        yield Finding(
            "compacted-bloat", Severity.INFO, index.refs([boundary]),
            f"{wording.size(boundary.start)} of {wording.size(total)} stand before the last compaction and are never sent.",
        )  # fmt: skip
    metadata = inspection.session.record(boundary).get("compactMetadata")
    before, after = (metadata.get(name) for name in ("preTokens", "postTokens")) if isinstance(metadata, dict) else (None, None)
    if isinstance(before, int) and isinstance(after, int) and after > before and after > SMALL:
        yield Finding(
            "compacted-bloat", Severity.WARNING, index.refs([boundary]),
            f"The last compaction made the conversation longer: {before:,} tokens before, {after:,} after.",
        )  # fmt: skip
