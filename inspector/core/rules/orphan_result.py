"""Orphan result: a tool result whose call is not in the conversation.

**What it is.** The row with the call is missing, stands before a compaction, or is on another branch.

**Why it matters.** A provider refuses a result whose call is not in the message before it.

**What the client does.** It leaves the result out; 2.1.332 puts a short note in its place when it was the first message.

**What the repair does.** It turns the result into marked text, or leaves it out. A call is never made up for it.

**What to check.** What the result says: the model no longer sees it, though it acted on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("orphan-result",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call id; a warning where the result is on a branch that is not continued."""
    looked = index.of(inspection)
    for key, spots in looked.results.items():
        calls = looked.calls.get(key)
        if calls and calls[0].row in looked.on_branch:
            continue
        rows = list(dict.fromkeys(spot.row for spot in spots))
        sent = [row for row in rows if row in looked.on_branch]
        if not calls:
            beside = "" if sent or rows[0].part or rows[0].sidechain else " It is not on the branch that would be continued."
            severity = Severity.WARNING if beside else Severity.ERROR
            said = (
                f"A tool result{wording.where(inspection.session, rows[0])} answers the call {wording.short(key[1], 40)}, which is in no row.{beside}"
            )
            yield Finding("orphan-result", severity, index.refs(rows), said)
        elif sent and not any(spot.row in looked.on_branch for spot in calls):
            yield Finding(
                "orphan-result", Severity.ERROR, index.refs(sent),
                f"The result of {wording.call(inspection.session, calls[-1].row, calls[-1].block)} is in the conversation that would be continued, "
                "its call is not.",
            )  # fmt: skip
