"""What a resume does: the conversation that the model receives next, the tasks that run before it, and the fate of every row.

Without new input the framework takes in what finished tasks have recorded and runs the others again. New input throws both away: only what the
newest checkpoint holds goes on.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from ...session import RowKind, Session
from ...state import AddedRow, ResumeAs, RuntimeState, StateMessage
from ...verdicts import Drop, Reason, Stage
from .facts import facts_of
from .standing import Standing, Told, standing_of
from .thread import ROOT, Cell, thread_of
from .values import shown

DIALECT = "langchain-messages"
PROFILES: dict[str, object] = {"1.2.24": None}
"""Observed release whose resume is simulated: reading a store, it treats those of older releases alike."""
NOT_STORED = ("the system prompt and the tools, which are in the graph's code",)


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    """Derive what the model would receive next."""
    standing = standing_of(thread_of(session))
    state = RuntimeState(client="langgraph", version=next(iter(PROFILES)), model=resume_as.model, dialect=DIALECT)
    state.facts_from = partial(facts_of, standing)
    newest = standing.newest
    if newest is None:
        state.refused = "the store holds no checkpoint of this thread; without new input a resume fails"
    elif newest.opaque is not None:
        state.refused = f"the newest checkpoint can't be read: {newest.opaque.why}"
    else:
        _derive(standing, resume_as, state)
    _fates(session, standing, state)
    return state


def _derive(standing: Standing, resume_as: ResumeAs, state: RuntimeState) -> None:
    newest = standing.newest
    assert newest is not None
    told = standing.conversation if resume_as.prompt is not None else standing.with_recorded
    state.messages = [_sent(each) for each in told]
    if resume_as.prompt is not None:
        message = {"type": "human", "content": resume_as.prompt}
        state.added.append(AddedRow("+1", "prompt", message))
        state.messages.append(StateMessage("human", [message], ["+1"]))
        state.runs_first = []
    else:
        state.runs_first = [asdict(each) | {"calls": [shown(call) for call in each.calls]} for each in standing.again]
        state.finished = standing.finished
    state.leaf = newest.row.ref
    state.added_at_send = [*NOT_STORED]
    if newest.message_channel() is None:
        state.added_at_send.append("all that a node sends to a model: this graph keeps no messages in its state")


def _sent(told: Told) -> StateMessage:
    message = {key: shown(value) for key, value in told.message.items() if value not in (None, [], {}) or key == "content"}
    return StateMessage(str(message["type"]), [message], [told.ref])


def _fates(session: Session, standing: Standing, state: RuntimeState) -> None:
    """The branch, and a Drop for each row that no message came from."""
    line = {checkpoint.id for checkpoint in standing.lineage}
    placed = {ref for message in state.messages for ref in message.rows}
    thrown: dict[str, str | None] = {write.cell.row.ref: after.row.ref for after, write in standing.thrown_away}
    lost = {write.cell.row.ref for write in standing.orphans if write.cell.ns == ROOT}
    thrown |= dict.fromkeys(lost, state.leaf)
    for row in session.rows:
        cell = row.extra
        own = isinstance(cell, Cell) and ((cell.ns == ROOT and cell.checkpoint_id in line) or row.ref in lost)
        if own:
            state.branch.append(row.ref)
        if row.ref in placed:
            continue
        if not isinstance(cell, Cell):
            reason = {RowKind.BLANK: Reason.BLANK, RowKind.DAMAGED: Reason.DAMAGED}.get(row.kind, Reason.UNKNOWN_TYPE)
            state.drops.append(Drop(row.ref, Stage.READ, reason))
        elif state.refused is not None:
            state.drops.append(Drop(row.ref, Stage.CHAIN, Reason.REFUSED))
        else:
            state.drops.append(_dropped(cell, own, thrown, state.leaf))


def _dropped(cell: Cell, own: bool, thrown: dict[str, str | None], newest: str | None) -> Drop:
    ref = cell.row.ref
    if cell.ns != ROOT:
        return Drop(ref, Stage.CHAIN, Reason.SUBGRAPH)
    if ref in thrown:
        return Drop(ref, Stage.CHAIN, Reason.UNMERGED, thrown[ref])
    if not own and cell.checkpoint_id:
        return Drop(ref, Stage.CHAIN, Reason.OTHER_BRANCH, newest)
    if cell.row.kind is RowKind.MESSAGE:
        return Drop(ref, Stage.CLEANUP, Reason.REPLACED, newest)
    if cell.table == "checkpoints" and ref != newest:
        return Drop(ref, Stage.CHAIN, Reason.OLDER_STATE, newest)
    return Drop(ref, Stage.SEND, Reason.RECORD)
