"""What an app holds after it resumed: always a new session, with the transcript restored into it or with what was saved as its instructions.

Source: the course's `resume`, which loads the checkpoint, makes a session, restores the transcript and runs the first unfinished step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...jsonspans import loads_object
from ...session import Row, RowKind, Session
from ...state import CLEAN_SESSION, AddedRow, ResumeAs, RuntimeState, StateMessage
from ...verdicts import Drop, Reason, Stage
from .checkpoint import STEPS, Checkpoint, checkpoint_of, missing_inputs, open_votes, reached, wrong_types
from .entry import Entry
from .envelope import Fault, demands_options, strict
from .facts import facts_of
from .profiles import Profile, profile_for
from .read import NAME, envelope_of, undecodable

DIALECT = "apple-transcript"
FRESH = "Continue the saved workflow. Do not restart finished steps."
"""The instructions that the course's new session is made with."""
WORDS = {"plan": "plan", "gather": "gathered texts", "decide": "decision", "act": "result of the action", "prompt": "prompt"}


@dataclass(frozen=True, slots=True)
class Restore:
    """What becomes of the saved transcript."""

    entries: tuple[Row, ...]
    """Of the transcript, in order, whether or not they are restored."""
    faults: tuple[Fault, ...]
    """Why it can't be restored; empty where it can, or where there is none."""
    row: str | None
    """The row that holds a transcript that can't be read at all."""
    present: bool


def restore_of(session: Session) -> Restore:
    """Whether the transcript goes into the new session."""
    entries = tuple(row for row in session.main() if isinstance(row.extra, Entry))
    envelope = envelope_of(session)
    if envelope is not None:
        return Restore(entries, tuple(strict(envelope)), None, True)
    held = undecodable(session)
    if held is None:
        return Restore((), (), None, False)
    row, data = held
    return Restore((), tuple(strict(data)) if data else (Fault("F1", None, "its text is no base64"),), row.ref, True)


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    """The state of a new session, or why there is none."""
    profile = profile_for(resume_as.version)
    held = checkpoint_of(session)
    restore = restore_of(session)
    state = RuntimeState(NAME, profile.version, resume_as.model or _model(session) or profile.default_model, DIALECT)
    state.refused = why_not(session, held, restore)
    state.finished = held is not None and held.step == "done" and not _damaged(session)
    placed: set[str] = set()
    restored = restore.present and not restore.faults and not (held is not None and resume_as.gate(CLEAN_SESSION))
    if state.refused is None:
        state.around = _around(session, profile, restored)
        if restored:
            for row in restore.entries:
                state.messages.append(StateMessage(row.type, [session.value(row)], [row.ref]))
        elif held is not None:
            state.messages.append(_clean(held))
        for message in state.messages:
            placed.update([*message.rows, *(row for _, row in message.riders)])
        placed |= _prompt(state, held, resume_as)
    state.branch = [row.ref for row in restore.entries]
    state.leaf = state.branch[-1] if state.branch else None
    state.drops = [_drop(row, state.refused, restore, restored) for row in session.rows if row.ref not in placed]
    state.added_at_send = [] if state.refused else list(_added(held, restore, restored))
    state.facts_from = lambda: facts_of(session, held, profile, restored, state.refused)
    return state


def why_not(session: Session, held: Checkpoint | None, restore: Restore) -> str | None:
    """Why the app would not go on, or would have nothing to send."""
    if _damaged(session):
        return "the file is no whole JSON document, and nothing is read from such a one"
    if held is None:
        if not restore.present:
            return "the file holds neither a workflow nor a transcript"
        return f"the transcript can't be decoded: {restore.faults[0].says}" if restore.faults else None
    wrong = wrong_types(held)
    if wrong:
        return f"the field {wrong[0].name} is no text, and the checkpoint can't be decoded"
    if held.step is None:
        return f"the saved step is none of {', '.join(STEPS)}" if "step" in held.fields else "no step is saved"
    if held.step == "done":
        return "the workflow is done: nothing is left to run"
    votes = open_votes(held)
    if votes:
        return f"the vote {votes[0].name} is open, and nothing goes on before it is decided"
    lacks = missing_inputs(held, reached(held) or held.step)
    if lacks:
        return f"the step {held.step} needs the {' and the '.join(WORDS[each] for each in lacks)}, which was not saved"
    return None


def next_step(held: Checkpoint) -> str | None:
    """The step that runs next by the saved fields; None where none does."""
    step = reached(held) or held.step
    return None if step in (None, "done") or missing_inputs(held, step or "") else step


def _damaged(session: Session) -> bool:
    return any(row.damage for row in session.main()) or not next(session.main(), None)


def _model(session: Session) -> str | None:
    row = next(iter(session.of_type("modelName", part=0)), None)
    name = session.record(row).get("modelName") if row is not None else None
    return name if isinstance(name, str) else None


def version_of(session: Session) -> Any:
    """The version of the saved envelope, as written; None without one."""
    envelope = envelope_of(session)
    if envelope is None:
        return None
    return loads_object(envelope).get("version")


def _around(session: Session, profile: Profile, restored: bool) -> dict[str, Any]:
    version = version_of(session) if restored else profile.transcript_version
    return {"type": "FoundationModels.Transcript", "version": version}


def _clean(held: Checkpoint) -> StateMessage:
    """Instructions of a clean session: what was saved stands in for the transcript."""
    segments, rows = [FRESH], [""]
    plan = held.outputs.get("plan")
    if plan is not None:
        segments.append(f"Plan:\n{plan.value}")
        rows.append(plan.row)
    gathered = held.outputs.get("gather")
    if gathered is not None:
        segments.append("Gathered:\n" + "\n".join(f"- {text}" for text in held.gathered))
        rows.append(gathered.row)
    decision = held.outputs.get("decide")
    if decision is not None:
        segments.append(f"Decision:\n{decision.value}")
        rows.append(decision.row)
    contents = [{"id": f"instructions-{number}", "type": "text", "text": text} for number, text in enumerate(segments)]
    entry = {"role": "instructions", "id": "instructions", "contents": contents}
    return StateMessage("instructions", [entry], [], [(number, row) for number, row in enumerate(rows) if row])


def _prompt(state: RuntimeState, held: Checkpoint | None, resume_as: ResumeAs) -> set[str]:
    """Add the prompt that follows: the one that was asked for, or that of the step plan, which is saved. Returns the rows that it is made of."""
    text, row = resume_as.prompt, None
    if text is None and held is not None and next_step(held) == "plan" and held.prompt is not None and not _asked(state):
        text, row = str(held.prompt.value), held.prompt.row
    if text is None:
        return set()
    entry: dict[str, Any] = {"role": "user", "id": "prompt", "contents": [{"id": "prompt-0", "type": "text", "text": text}], "options": {}}
    if demands_options((state.around or {}).get("version")):
        entry["contextOptions"] = {}
    if row is None:
        state.added.append(AddedRow("+1", "prompt", entry))
        state.messages.append(StateMessage("prompt", [entry], ["+1"]))
        return set()
    state.messages.append(StateMessage("prompt", [entry], [row]))
    return {row}


def _asked(state: RuntimeState) -> bool:
    """Whether the transcript ends with a prompt already."""
    return bool(state.messages) and state.messages[-1].role == "prompt"


def _drop(row: Row, refused: str | None, restore: Restore, restored: bool) -> Drop:
    if row.kind is RowKind.FRAME:
        return Drop(row.ref, Stage.READ, Reason.FRAME)
    if row.kind is RowKind.BLOB:
        return Drop(row.ref, Stage.READ, Reason.NOT_A_TRANSCRIPT)
    if row.damage:
        return Drop(row.ref, Stage.READ, Reason.DAMAGED)
    if isinstance(row.extra, Entry) or row.ref == restore.row:
        if restore.faults or (not restored and refused is None):
            at = next((fault.entry for fault in restore.faults if fault.entry is not None), None)
            because = next((each.ref for each in restore.entries if each.extra.number == at), None) if at is not None else None
            return Drop(row.ref, Stage.CLEANUP, Reason.NOT_RESTORED, because)
        if refused is not None:
            return Drop(row.ref, Stage.SEND, Reason.REFUSED)
    return Drop(row.ref, Stage.SEND, Reason.RECORD)


def _added(held: Checkpoint | None, restore: Restore, restored: bool) -> list[str]:
    """What the app adds or leaves out, which the file can't tell."""
    told = []
    step = next_step(held) if held is not None else None
    if step is not None and step != "plan":
        told.append(f"the prompt of the step {step}, whose text is in the app's code")
    if restored and any(row.type == "instructions" for row in restore.entries):
        told.append(f"not the fresh instructions “{FRESH}”: the restored transcript replaces them with its own")
        told.append("the code of the tools: the restored definitions have none behind them unless the app passes its tools to the new session")
    elif not restored:
        told.append("the app's own instructions, where it gives others than the course does")
    return told
