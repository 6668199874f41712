"""Partial response: the transcript seems to have been saved while a response was being made.

**What it is.** The last response breaks off, or the last prompt has no answer, and the step's output was never saved. Nothing in a transcript marks
an entry as partial: an app of the 27 SDK may keep the beginning of a response when a request fails (`preserveTranscript`). So it is a suspicion.
A checkpoint that says `isResponding` was saved at such a moment.

**Why it matters.** Half a sentence must not become the decision that is acted on; and a transcript must not be changed while the session responds.

**What the client does.** It restores the transcript as it is and sends the step's prompt again.

**What the repair does.** Nothing by itself. You may drop the response and its prompt, which is what `revertTranscript` does; where tools were called
in between, only the response, so that what they did stays known. And you may say that no response is under way any more.

**What to check.** Read the last response: is it whole?
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..clients.apple_workflow.checkpoint import checkpoint_of
from ..clients.apple_workflow.unsaved import Unsaved, calls_in, unsaved
from ..edits import DropRow, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import AS_THE_CLIENT, Context, step

CODES = ("partial-response",)
DROP = "drop-response"
NOT_RESPONDING = "not-responding"


def _suspected(inspection: Inspection) -> Unsaved | None:
    session = inspection.session
    found = unsaved(session, checkpoint_of(session)) if session.client == "apple-workflow" else None
    return found if found is not None and found.last != "whole" else None


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding about the last turn, and a warning where the checkpoint itself says that a response was being made."""
    found = _suspected(inspection)
    if found is not None and found.last == "cut":
        yield Finding(
            "partial-response", Severity.ERROR, index.refs(found.turn),
            f"The last response (“{wording.short(found.text, 40)}”) seems to break off, and the step {found.step} has no saved output.",
        )  # fmt: skip
    elif found is not None:
        of = f" of the step {found.step}" if found.step else ""
        yield Finding("partial-response", Severity.WARNING, index.refs(found.turn), f"The last prompt{of} has no answer: it may have been under way.")
    held = checkpoint_of(inspection.session) if inspection.session.client == "apple-workflow" else None
    if held is not None and held.responding:
        yield Finding(
            "partial-response", Severity.WARNING, (held.fields["isResponding"].row,),
            "The checkpoint was saved while the session was responding: what it holds may be partial.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Drop the last response, with its prompt where no tool was called in between, where a person chooses so; or note that none is under way."""
    held = checkpoint_of(context.session)
    if held is not None and held.responding and finding.rows == (held.fields["isResponding"].row,):
        return _over(context, finding)
    found = _suspected(inspection)
    if found is None or finding.rows != index.refs(found.turn):
        return None
    gone = [row for row in found.turn if row.type in ("response", "reasoning")] if calls_in(found.turn) else list(found.turn)
    # What stands before the last output belongs to the calls; only what follows it is in doubt.
    outputs = [row.index for row in found.turn if row.type == "toolOutput"]
    gone = [row for row in gone if not outputs or row.index > outputs[-1]]
    id = context.step_id(finding.code, found.turn[0])
    choices = (AS_THE_CLIENT, DROP)
    chosen = context.chosen(id, choices)
    edits = [DropRow(row.ref) for row in gone] if chosen == DROP else []
    what = "The response and its prompt are" if len(gone) > 1 else f"The {gone[0].type} is"
    why = f"{what} left out, and the step runs again." if edits else "Is the last response whole? If not, it may be dropped, and the step runs again."
    return step(finding.code, id, gone, edits, why, choices=choices, chosen=chosen)


def _over(context: Context, finding: Finding) -> Step:
    """On a person's word, the checkpoint no longer says that a response is being made."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    choices = (AS_THE_CLIENT, NOT_RESPONDING)
    chosen = context.chosen(id, choices)
    body = context.session.body_of(row)
    edits = [ReplaceRow(row.ref, body.replace(b"true", b"false"))] if chosen == NOT_RESPONDING else []
    why = "A person says that no response is being made." if edits else "Is the app still at work? Where no response is being made, say so."
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen)
