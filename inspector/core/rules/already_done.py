"""Already done: steps of the workflow whose output is saved, and effects that are recorded.

**What it is.** A field that exists means that its step is done. A tool output in the transcript means that the tool ran, whether or not the step
that called it was saved.

**Why it matters.** None of it may run again. A finished workflow is not even saved again: that would move the date of its last save.

**What the client does.** It skips steps by the saved step alone. An app that follows the course saves a finished checkpoint again, which only
rewrites the file.

**What the repair does.** Nothing.

**What to check.** Nothing, unless the saved step lies before one that is done (`step-not-advanced`).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..clients.apple_workflow.checkpoint import STEPS, checkpoint_of
from ..clients.apple_workflow.facts import statuses
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("already-done",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A note about the steps that are done, and one about an action that is recorded while its step is not."""
    held = checkpoint_of(inspection.session) if inspection.session.client == "apple-workflow" else None
    if held is None or held.step is None:
        return
    step = held.fields["step"].row
    done = [each for each in STEPS[:-1] if statuses(held)[each] == "done"]
    if held.step == "done":
        yield Finding("already-done", Severity.INFO, (step,), "The workflow is done: nothing is left to run, and nothing has to be saved.")
    elif done:
        rows = tuple(dict.fromkeys((step, *(held.outputs[each].row for each in done if each in held.outputs))))
        yield Finding("already-done", Severity.INFO, rows, f"Done already, and not to be run again: {', '.join(done)}.")
    acted = [each for each in inspection.operations if each.state == "confirmed" and each.call and each.result] if held.step == "act" else []
    saved = {row.extra.text for row in inspection.session.main() if row.type == "toolOutput"} & set(held.gathered)
    for operation in acted:
        row = inspection.row(operation.result or "")
        if row.extra.text not in saved and operation.effect != "read-only":
            yield Finding(
                "already-done", Severity.INFO, (operation.call or "", row.ref),
                f"The output of {wording.operation(operation.tool, operation.arguments)} is recorded: it is not to be called again.",
                operation=operation.key,
            )  # fmt: skip
