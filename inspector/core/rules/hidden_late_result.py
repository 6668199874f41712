"""Hidden late result: the real result of a call is in the file, but a stand-in is sent in its place.

**What it is.** A second client resumed while the first one's tool still ran, and wrote "the outcome is unknown". Then the first client wrote
the real result.

**Why it matters.** The model is told that nobody knows, though the transcript knows.

**What the client does.** 2.1.332 sends the stand-in and ignores the real result; 2.1.197 sends the real one when it is on the chain.

**What the repair does.** It replaces the stand-in by the real result: a real result is the better evidence.

**What to check.** That the real result belongs to this run of the call, and whether the call was run a second time since.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("hidden-late-result",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each call with both a stand-in and a real result; a note where the real one is sent."""
    looked, session = index.of(inspection), inspection.session
    for key, spots in looked.results.repeated():
        rows = list(dict.fromkeys(spot.row for spot in spots))
        if len(rows) < 2:
            continue
        stand_ins = [row for row in rows if index.stands_in(session, row)]
        real = [row for row in rows if row not in stand_ins]
        if not stand_ins or not real:
            continue
        call = next((wording.call(session, spot.row, spot.block) for spot in looked.calls.get(key)), wording.short(key[1], 40))
        hidden = not any(row in looked.on_branch and row not in looked.drops for row in real)
        ends = "and the client sends only the stand-in." if hidden else "and the client sends the real one."
        yield Finding(
            "hidden-late-result", Severity.ERROR if hidden else Severity.INFO, index.refs([*real, *stand_ins]),
            f"The real result of {call} is in the file beside a stand-in that says that its outcome is unknown, {ends}",
        )  # fmt: skip
