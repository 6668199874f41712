"""Work after the saved step: the transcript holds answers that the checkpoint's fields do not.

**What it is.** The step's model call was answered, or its tool gave its output, and the app was suspended before it saved the field. The save comes
after the step: what lies between them is done and not known.

**Why it matters.** The step runs again. Paid work is paid twice; where the step acts, the effect happens twice.

**What the client does.** It restores the transcript, with the answer in it, and asks again.

**What the repair does.** Nothing by itself. You may take the recorded text over into the field, which advances the step; or drop the turn, where it
called no tool, and let the step run again.

**What to check.** That the text is the whole output of the step. For an action: its target.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from .. import index, wording
from ..clients.apple_workflow.checkpoint import OUTPUT, STEPS, Checkpoint, checkpoint_of
from ..clients.apple_workflow.unsaved import Unsaved, calls_in, unsaved
from ..edits import DropRow, Edit, InsertRow, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import AS_THE_CLIENT, Context, step

CODES = ("work-after-saved-step",)
TAKE_OVER = "take-over"
DROP = "drop-turn"


def _work(inspection: Inspection) -> tuple[Checkpoint, Unsaved] | None:
    """The unsaved work whose newest turn is whole."""
    held = checkpoint_of(inspection.session) if inspection.session.client == "apple-workflow" else None
    found = unsaved(inspection.session, held)
    return (held, found) if held is not None and found is not None and found.last == "whole" else None


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: an error where the step acts, because its effect would happen again."""
    work = _work(inspection)
    if work is None:
        return
    _, found = work
    rows = [row for turn in found.turns for row in turn]
    acts = found.step == "act"
    again = "its effect would happen again" if acts else "the model would be asked again"
    yield Finding(
        "work-after-saved-step", Severity.ERROR if acts else Severity.WARNING, index.refs(rows),
        f"The transcript holds {wording.count(len(found.turns), 'turn')} of the step {found.step} whose result was not saved: {again}.",
    )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Take the text over, or drop the turn, where a person chooses so."""
    work = _work(inspection)
    if work is None:
        return None
    held, found = work
    choices = _choices(found)
    if len(choices) == 1:
        return None
    id = context.step_id(finding.code, found.turns[0][0])
    chosen = context.chosen(id, choices)
    rows = [row for turn in found.turns for row in turn]
    edits: list[Edit] = []
    why = f"The step {found.step} may have been done. Its text may be taken over as the step's output."
    if chosen == TAKE_OVER:
        edits = _taken_over(context, held, found)
        why = f"A person says that the recorded text is the output of the step {found.step}: it is saved as such."
    elif chosen == DROP:
        edits, why = [DropRow(row.ref) for row in rows], f"The turn is left out, and the step {found.step} runs again."
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen)


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether there is anything to choose."""
    work = _work(inspection)
    return work is not None and len(_choices(work[1])) > 1


def _choices(found: Unsaved) -> tuple[str, ...]:
    takes = any(_texts(found)) and (found.step == "gather" or len(found.turns) == 1)
    return (AS_THE_CLIENT, *((TAKE_OVER,) if takes else ()), *(() if any(map(calls_in, found.turns)) else (DROP,)))


def _texts(found: Unsaved) -> list[str]:
    """What the turns made of the step: of gathering the outputs of the tools, else the last answer."""
    outputs = [row.extra.text for turn in found.turns for row in turn if row.type == "toolOutput"]
    return outputs if found.step == "gather" and outputs else [found.text] if found.text.strip() else []


def _taken_over(context: Context, held: Checkpoint, found: Unsaved) -> list[Edit]:
    """The output's field with the text, or with the texts behind those that it has; `step-not-advanced` advances the step then."""
    at = str(found.step)
    names = OUTPUT[at]
    old = next((held.fields[name] for name in names if name in held.fields), None)
    made = _texts(found)
    value = [*held.gathered, *made] if at == "gather" else made[0]
    body = json.dumps({old.name if old else names[0]: value}, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if old is not None:
        return [ReplaceRow(old.row, body)]
    before = [held.outputs[each].row for each in STEPS[: STEPS.index(at)] if each in held.outputs]
    after = context.session.row(before[-1] if before else held.fields["step"].row)
    return [InsertRow(after.ref, body, context.new_ref())]
