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
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, rows_of, step

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
        hidden = not any(row in looked.on_branch and row.ref not in looked.drops for row in real)
        ends = "and the client sends only the stand-in." if hidden else "and the client sends the real one."
        yield Finding(
            "hidden-late-result", Severity.ERROR if hidden else Severity.INFO, index.refs([*real, *stand_ins]),
            f"The real result of {call} is in the file beside a stand-in that says that its outcome is unknown, {ends}",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put the real result in the place of the stand-in."""
    if finding.severity is Severity.INFO:
        return None
    rows = rows_of(context, finding)
    stand_ins = [row for row in rows if index.stands_in(context.session, row)]
    real = next((row for row in reversed(rows) if row not in stand_ins), None)
    target = next((row for row in stand_ins if row in context.looked.on_branch), None)
    if real is None or target is None:
        return None
    known = {block["tool_use_id"]: block for block in context.blocks(real) if isinstance(block, dict) and block.get("type") == "tool_result"}
    content = [known.get(block.get("tool_use_id"), block) if isinstance(block, dict) else block for block in context.blocks(target)]
    id = context.step_id(finding.code, target)
    mark = context.mark(id, real=real.id)
    value = context.content(target, content, mark, toolUseResult=context.value(real).get("toolUseResult"), toolDenialKind=None)
    edits = [context.rewrite(target, value)]
    return step(finding.code, id, [target, real], edits, "The real result takes the place of the stand-in: it is the better evidence.")
