"""Broken preserved segment: rows that a compaction kept can't be found again.

**What it is.** A compaction notes which of the last rows it keeps word by word (from `headUuid` to `tailUuid`, behind `anchorUuid`). One of
them is not in the file, or they do not hang together.

**Why it matters.** The model sees the summary only, not the last messages before it.

**What the client does.** It sends the summary and leaves the segment out, without a word.

**What the repair does.** It joins the rows of the segment again when they are all there; otherwise the loss is declared.

**What to check.** Whether the summary holds what the lost messages said.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("broken-preserved-segment",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each boundary with such a note; a note only where a later compaction made it moot."""
    looked = index.of(inspection)
    for row in inspection.session.of_type("system/compact_boundary", part=0):
        if row.id is None or row.sidechain:
            continue
        metadata = inspection.session.record(row).get("compactMetadata")
        segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
        if not isinstance(segment, dict):
            continue
        landmarks = [segment.get(name) for name in ("headUuid", "anchorUuid", "tailUuid")]
        found = [looked.by_id.get((0, name)) if isinstance(name, str) else None for name in landmarks]
        missing = sum(not rows for rows in found)
        tail = found[2]
        apart = not missing and tail is not None and not any(each.id == landmarks[0] for each in looked.ancestors(tail[-1]))
        if missing or apart:
            said = f"{missing} of its 3 landmarks are not in the file" if missing else "its rows do not hang together"
            severity = Severity.ERROR if row in looked.on_branch else Severity.INFO
            yield Finding(
                "broken-preserved-segment", severity, index.refs([row]),
                f"The messages that this compaction kept word by word would be left out: {said}.",
            )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take the broken note off the boundary, so that every release goes on from the summary alone."""
    if finding.severity is Severity.INFO:
        return None
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    value = context.value(row)
    metadata = {key: item for key, item in value["compactMetadata"].items() if key not in ("preservedSegment", "preservedMessages")}
    edit = context.rewrite(row, {**value, "compactMetadata": metadata, context.write.MARK: context.mark(id, was=value["compactMetadata"])})
    why = "The rows that were to be kept word by word do not hang together: the note is taken off, and the summary alone stands for them."
    return step(finding.code, id, [row], [edit], why)
