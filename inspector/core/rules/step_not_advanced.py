"""Step not advanced: the output of the saved step exists, and the checkpoint still names that step.

**What it is.** A workflow saves which step comes next. Here the field that the step fills is there already: the app was ended between the answer
and the save, or its code advances the step only where it called the model.

**Why it matters.** An app that follows the course returns the checkpoint unchanged at every resume: it never leaves this step. One that does not
look at the field does the paid work, or the action, a second time.

**What the client does.** It loads the checkpoint and runs the step that it names.

**What the repair does.** It sets the step that the saved fields call for, in the encoding that the file has. The date of the last save stays.

**What to check.** That the field holds the whole output of the step.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.apple_workflow.checkpoint import STEPS, checkpoint_of, reached
from ..edits import ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("step-not-advanced",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    if inspection.session.client != "apple-workflow":
        return
    held = checkpoint_of(inspection.session)
    to = reached(held) if held is not None else None
    if held is None or held.step is None or to is None:
        return
    done = [held.outputs[each] for each in STEPS[STEPS.index(held.step) : STEPS.index(to)]]
    yield Finding(
        "step-not-advanced", Severity.ERROR, (held.fields["step"].row, *(each.row for each in done)),
        f"The checkpoint names the step {held.step}, but `{done[-1].name}` is saved already: the step {to} is next.",
    )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Set the step that the saved fields call for."""
    held = checkpoint_of(context.session)
    to = reached(held) if held is not None else None
    if to is None:
        return None
    row = context.session.row(finding.rows[0])
    why = f"The step is set to {to}: what the steps before it make is saved, and nothing of it is run again."
    edit = ReplaceRow(row.ref, context.write.step_row(context.session, row, to))
    return step(finding.code, context.step_id(finding.code, row), [row], [edit], why)
