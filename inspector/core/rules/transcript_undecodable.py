"""Transcript undecodable: Apple's decoder would refuse the saved transcript.

**What it is.** The decoder takes a transcript whole or not at all: JSON that breaks off, a role or a segment that it does not know, a missing key,
or arguments of a call that are no JSON each refuse all of it.

**Why it matters.** The new session starts without the conversation. Where the app does not catch the error, it does not resume at all.

**What the client does.** An app that follows the course's text makes a clean session with the plan and the gathered texts as its instructions:
worse context, but no paid or slow work is done again.

**What the repair does.** Where only keys are missing that the decoder demands, it puts them in, empty. Entries and segments of unknown kinds may be
left out, where you choose so; so may a transcript that is no JSON at all, for apps that stop at it. The bytes as found stay in the first revision.

**What to check.** Whether an older copy of the checkpoint has the transcript whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..clients.apple_workflow.checkpoint import checkpoint_of
from ..clients.apple_workflow.envelope import faults
from ..clients.apple_workflow.resume import Restore, next_step, restore_of, version_of
from ..edits import DropRow, Edit, ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import AS_THE_CLIENT, Context, step

CODES = ("transcript-undecodable",)
PUT_IN = "put-in"
LEAVE_OUT_UNKNOWN = "leave-out-unknown"
TAKE_OUT = "take-out-transcript"


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: a warning where a clean session can go on with what was saved."""
    if inspection.session.client != "apple-workflow":
        return
    restore = restore_of(inspection.session)
    if not restore.faults:
        return
    held = checkpoint_of(inspection.session)
    numbers = {fault.entry for fault in restore.faults}
    rows = [row.ref for row in restore.entries if row.extra.number in numbers] or [ref for ref in (restore.row,) if ref]
    more = f", and {len(restore.faults) - 1} more" if len(restore.faults) > 1 else ""
    says = f"The saved transcript can't be decoded: {restore.faults[0].says}{more}."
    if held is None:
        yield Finding("transcript-undecodable", Severity.FATAL, tuple(rows), says)
        return
    used = [name for step, name in (("plan", "plan"), ("gather", "gathered texts")) if step in held.outputs]
    if used:
        says += f" A clean session can go on with the {' and the '.join(used)} as its instructions."
    elif next_step(held) == "plan":
        says += " Nothing is lost with it: a clean session begins with the prompt."
    yield Finding("transcript-undecodable", Severity.WARNING, tuple(rows), says)


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put in what the decoder demands; leave out what it can't know, where a person chooses so."""
    restore = restore_of(context.session)
    if restore.row is not None:
        return _take_out(context, finding, context.session.row(restore.row))
    version = version_of(context.session)
    edits, rest = _filled(context, restore, version, whole=True)
    if edits and not rest:
        rows = [context.session.row(str(edit.row)) for edit in edits]
        id = context.step_id(finding.code)
        chosen = context.chosen(id, (PUT_IN, AS_THE_CLIENT))
        why = "Keys that Apple's decoder demands are put in, empty, so that it takes the transcript."
        return step(finding.code, id, rows, edits if chosen == PUT_IN else (), why, choices=(PUT_IN, AS_THE_CLIENT), chosen=chosen)
    edits, rest = _filled(context, restore, version, whole=False)
    if rest or not edits:
        return None
    rows = [context.session.row(str(edit.row)) for edit in edits]
    id = context.step_id(finding.code)
    chosen = context.chosen(id, (AS_THE_CLIENT, LEAVE_OUT_UNKNOWN))
    why = "Entries and segments of kinds that the decoder does not know may be left out, so that it takes the rest."
    made = edits if chosen == LEAVE_OUT_UNKNOWN else ()
    return step(finding.code, id, rows, made, why, choices=(AS_THE_CLIENT, LEAVE_OUT_UNKNOWN), chosen=chosen)


def _filled(context: Context, restore: Restore, version: object, whole: bool) -> tuple[list[Edit], bool]:
    """Edits that put in what is missing, and leave out what is unknown unless all of it is to stay (`whole`); and whether faults are left."""
    tools = {block.id: block.name or "" for row in restore.entries for block in row.blocks if block.kind is BlockKind.CALL and block.id}
    edits: list[Edit] = []
    entries = []
    for row in restore.entries:
        old = context.session.value(row)
        kept = old if whole or not isinstance(old, dict) else context.write.without_unknown(old)
        if kept is None or not isinstance(kept, dict):
            if whole:
                entries.append(old)
            else:
                edits.append(DropRow(row.ref))
            continue
        new = context.write.mended(kept, row.extra.number, version, tools)
        entries.append(new)
        if new != old:
            edits.append(ReplaceRow(row.ref, context.write.rewritten(b"", new)))
    body = {"type": "FoundationModels.Transcript", "version": version, "transcript": {"entries": entries}}
    return edits, bool(faults(body))


def _take_out(context: Context, finding: Finding, row: Row) -> Step | None:
    if checkpoint_of(context.session) is None or finding.severity is Severity.FATAL:
        return None
    id = context.step_id(finding.code, row)
    chosen = context.chosen(id, (AS_THE_CLIENT, TAKE_OUT))
    edits = [ReplaceRow(row.ref, b"{" + context.write.dumps(row.extra.key) + b": null}")] if chosen == TAKE_OUT else []
    why = "The transcript may be taken out, for apps that stop at one that they can't decode; its bytes stay in the first revision."
    return step(finding.code, id, [row], edits, why, choices=(AS_THE_CLIENT, TAKE_OUT), chosen=chosen)
