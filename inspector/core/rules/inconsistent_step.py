"""Inconsistent step: the saved step needs something that was not saved, or the checkpoint names no step that is known.

**What it is.** A step runs on the outputs of the steps before it: gathering needs the plan, deciding the plan and the gathered texts, acting the
decision. Here one of them is missing, a field holds something else than a text, or the step is none of the five.

**Why it matters.** An action without a decision acts on nothing. A decision that is taken from the conversation instead would be an invention.

**What the client does.** An app that follows the course runs the step all the same; the decoder refuses a field of a wrong type.

**What the repair does.** Nothing by itself. You may set the step back to the one whose output is missing, once you have looked whether the action
was already tried.

**What to check.** Whether the step was done by another build or on another device: its record, or the target of the action.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.apple_workflow.checkpoint import OUTPUT, STEPS, Checkpoint, back_to, checkpoint_of, missing_inputs, reached, wrong_types
from ..clients.apple_workflow.resume import WORDS
from ..edits import ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import AS_THE_CLIENT, Context, step

CODES = ("inconsistent-step",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding that stops the workflow; a warning for each earlier output that is missing."""
    held = checkpoint_of(inspection.session) if inspection.session.client == "apple-workflow" else None
    if held is None or any(row.damage for row in inspection.session.main()):
        return
    rows = (held.fields["step"].row,) if "step" in held.fields else ()
    for wrong in wrong_types(held):
        yield Finding("inconsistent-step", Severity.FATAL, (wrong.row,), f"The field `{wrong.name}` is no text: the checkpoint can't be decoded.")
    if held.step is None:
        yield Finding("inconsistent-step", Severity.FATAL, rows, f"The checkpoint names no known step; the steps are {', '.join(STEPS)}.")
        return
    at = reached(held) or held.step
    lacks = missing_inputs(held, at)
    if lacks:
        named = " and the ".join(WORDS[each] for each in lacks)
        yield Finding("inconsistent-step", Severity.FATAL, rows, f"The step {at} needs the {named}, which was not saved.")
    elif at == "done" and "act" not in held.outputs:
        yield Finding("inconsistent-step", Severity.WARNING, rows, "The workflow is done, but no result of its action was saved.")
    else:
        gone = [each for each in STEPS[: STEPS.index(at)] if each not in held.outputs]
        if gone:
            names = ", ".join(f"`{OUTPUT[each][0]}`" for each in gone)
            yield Finding("inconsistent-step", Severity.WARNING, rows, f"The step {at} comes next, but {names} of a step before it was not saved.")


def mends(inspection: Inspection, finding: Finding) -> bool:
    """Whether there is a step to go back to."""
    held = checkpoint_of(inspection.session)
    return finding.severity is Severity.FATAL and _back(held) is not None


def _back(held: Checkpoint | None) -> str | None:
    return back_to(held, held.step) if held is not None and held.step is not None and reached(held) is None else None


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Set the step back to the first one whose output is missing, where a person chooses so."""
    held = checkpoint_of(context.session)
    to = _back(held)
    if finding.severity is not Severity.FATAL or held is None or to is None:
        return None
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    choices = (AS_THE_CLIENT, f"back-to-{to}")
    chosen = context.chosen(id, choices)
    edits = [] if chosen == AS_THE_CLIENT else [ReplaceRow(row.ref, context.write.step_row(context.session, row, to))]
    why = f"The step may be set back to {to}, which then runs again. First look whether {held.step} was already done elsewhere."
    if edits:
        why = f"The step is set back to {to}: its output is missing, so it runs again before {held.step}."
    open_operations = inspection.operations_open()
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen, waits_for=open_operations[0] if open_operations else None)
