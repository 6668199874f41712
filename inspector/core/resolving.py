"""What a person found out about a call, put into the result that the model will read. Nothing else ever speaks for a missing result."""

from __future__ import annotations

from typing import Any

from . import wording
from .edits import ReplaceRow, Step
from .errors import PlanError
from .inspection import Inspection
from .operations import Operation, answered, by_ledger, left_out
from .session import Block, BlockKind, Row
from .steps import Context, Resolution, step

CODE = "uncertain-operation"
LOOK_FIRST = "Before you rely on it or run it again, look at the files that it touches and at the status of its task."

STAMP = "resolved without second person"
"""What marks and records say of an answer that one person gave alone."""


def text_for(resolution: Resolution | None) -> str:
    """The text that answers a call without a recorded result: what was found, by whom and when."""
    ended = "The session ended before a result of this call was recorded."
    said = f" Their words: “{resolution.text.strip()}”." if resolution and resolution.text.strip() else ""
    if resolution is None or resolution.outcome == "unknown":
        looked = f" {_who(resolution)}, without a sure answer." if resolution and resolution.by else ""
        return f"[{ended} Nobody knows whether it ran, or how far it got.{looked}{said} {LOOK_FIRST}]"
    if resolution.outcome == "happened":
        return (
            f"[{ended} {_who(resolution)}: it took effect.{said} "
            "Its output is not known. Do not run it again; read the files and the status of its task to see what it left.]"
        )
    return f"[{ended} {_who(resolution)}: it did not take effect.{said} {LOOK_FIRST}]"


def _who(resolution: Resolution) -> str:
    """`anna checked on 2026-11-30 12:34 UTC`."""
    when = f" on {resolution.at[:10]} {resolution.at[11:16]} UTC" if resolution.at else ""
    second = f", {resolution.confirmed_by} confirmed it" if resolution.confirmed_by else ""
    return f"{resolution.by or 'A person'} checked{when}{second}"


def is_error(resolution: Resolution | None) -> bool:
    """Whether the answer is marked as an error: always, unless a person confirmed the effect."""
    return resolution is None or resolution.outcome != "happened"


def mark_for(context: Context, id: str, resolution: Resolution | None, key: str | None) -> dict[str, Any]:
    """The mark of a row that answers a call; the ledger reads `resolution` from it."""
    more: dict[str, Any] = {"resolution": resolution.outcome, **_words(resolution)} if resolution else {"resolution": "unknown"}
    if key:
        more["operation"] = key
    return context.mark(id, **more)


def operation_of(inspection: Inspection, call_id: str | None) -> Operation | None:
    """The operation of a call, where the ledger has one."""
    return next((operation for operation in inspection.operations if call_id and operation.call_id == call_id), None)


def check(inspection: Inspection, resolutions: dict[str, Resolution]) -> None:
    """Raises PlanError for a resolution of something that is no call of this session, or whose result was recorded."""
    calls = {block.id for row in inspection.session.rows for block in row.blocks if block.kind is BlockKind.CALL}
    by_name = {name: operation for operation in inspection.operations for name in (operation.key, operation.call_id) if name}
    for name in resolutions:
        operation = by_name.get(name)
        if operation is None and name not in calls:
            raise PlanError(f"no call of this session is named {name!r}", hint="Use the call's id or the key of its operation")
        if operation is not None and operation.state in ("confirmed", "failed") and (answered(operation) or not by_ledger(operation)):
            raise PlanError(f"the result of {name} is recorded: there is nothing to resolve", hint="Leave this --resolve out")


def steps(context: Context) -> list[Step]:
    """Steps that write resolutions into results that stand already (stand-ins, and results that do not say what happened) and into notes
    about calls that were left out."""
    made = [step for operation in context.inspection.operations if left_out(operation) for step in _noted(context, operation)]
    for row in context.session.rows:
        for number, block in enumerate(row.blocks):
            if block.kind is BlockKind.RESULT and block.id:
                operation = operation_of(context.inspection, block.id)
                started = next((each for each in context.inspection.operations if each.call_id is None and each.result == row.ref), None)
                resolution = context.resolution(block.id, operation.key if operation else None, started.key if started else None)
                operation = started or operation
                if resolution is not None:
                    rewrite = _reworded if hasattr(context.write, "resolved") else _rewrite
                    made += rewrite(context, row, number, block, resolution, operation)
    return made


def note(context: Context, operation: Operation) -> Step:
    """Keep in mind an operation whose call the steps before have left out: a row of this project's own, which the client ignores."""
    resolution = context.resolution(operation.key, operation.call_id)
    id = f"{CODE}:{operation.key}"
    end = list(context.session.main())[-1]
    row = context.write.left_out_row(
        context.session, operation.key, operation.call_id, operation.tool, operation.arguments,
        resolution=_said(resolution), at=context.at, mark=context.mark(id),
    )  # fmt: skip
    about = wording.operation(operation.tool, operation.arguments)
    open_still = resolution is None or resolution.outcome == "unknown"
    known = "nobody knows whether it ran" if open_still else f"a person says: {resolution.outcome if resolution else ''}"
    why = f"The call {about} is no longer in the conversation; a note in the file, which the model never reads, keeps that {known}."
    waits = operation.key if open_still else None
    return step(CODE, id, [end], [context.insert(end, row)], why, waits_for=waits, details={"call": operation.call_id or ""})


def _said(resolution: Resolution | None) -> dict[str, str]:
    """A resolution as a note stores it."""
    if resolution is None:
        return {}
    return {"resolution": resolution.outcome, **_words(resolution)}


def _words(resolution: Resolution) -> dict[str, str]:
    """The words that a person left, who it was, and that no second person confirmed it."""
    stamp = STAMP if resolution.by and not resolution.confirmed_by and resolution.outcome != "unknown" else ""
    found = {"says": resolution.text.strip(), "by": resolution.by, "confirmed_by": resolution.confirmed_by, "stamp": stamp}
    return {name: text for name, text in found.items() if text}


def _noted(context: Context, operation: Operation) -> list[Step]:
    resolution = context.resolution(operation.key, operation.call_id)
    row = context.session.row(str(operation.evidence[0].row))
    value = context.value(row)
    said = _said(resolution)
    if resolution is None or all(value.get(name) == said.get(name) for name in ("resolution", "says")):
        return []
    id = context.step_id(CODE, row)
    mark = context.mark(id)
    bare = {name: item for name, item in value.items() if name not in ("resolution", "says", "by", "confirmed_by", "stamp")}
    changed = {**bare, **said, context.write.MARK: mark}
    why = f"A person says about {operation.call_id or operation.key}: {resolution.outcome}. The note about the call that was left out keeps it."
    return [step(CODE, id, [row], [context.rewrite(row, changed)], why, details={"call": operation.call_id or ""})]


def _reworded(context: Context, row: Row, number: int, block: Block, resolution: Resolution, operation: Operation | None) -> list[Step]:
    """The same for a client whose writer knows how its rows hold a result: only one that a repair wrote is changed."""
    stored = context.write.marked(context.session, row, block.id)
    id = context.step_id(CODE, row)
    mark = mark_for(context, id, resolution, operation.key if operation else None)
    if not stored or (stored.get("resolution"), stored.get("says")) == (mark["resolution"], mark.get("says")):
        return []
    data = context.write.resolved(context.session, row, block.id, text_for(resolution), error=is_error(resolution), mark=mark)
    if data is None:
        return []
    why = f"A person says about {block.id}: {resolution.outcome}. The model is told so in the result of the call."
    return [step(CODE, id, [row], [ReplaceRow(row.ref, data)], why, details={"call": block.id or ""})]


def _rewrite(context: Context, row: Row, number: int, block: Block, resolution: Resolution, operation: Operation | None) -> list[Step]:
    value = context.value(row)
    stored = context.write.mark_of(value)
    id = context.step_id(CODE, row)
    mark = mark_for(context, id, resolution, operation.key if operation else None)
    if (stored.get("resolution"), stored.get("says")) == (mark["resolution"], mark.get("says")):
        return []
    changed = context.write.with_result(value, number, text_for(resolution), is_error(resolution), mark)
    why = f"A person says about {block.id}: {resolution.outcome}. The model is told so in the result of the call."
    return [step(CODE, id, [row], [context.rewrite(row, changed)], why, details={"call": block.id or ""})]
