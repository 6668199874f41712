"""What a resume does: the history that the next run sends, what becomes of every row, and which calls a saved run makes before it asks the model.

A session, and the input of a RunState, are looked through for calls without an output; a list that the application hands over itself is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...session import Row, RowKind, Session
from ...state import AddedRow, ResumeAs, RuntimeState, StateMessage
from ...verdicts import Drop, Reason, Stage
from .branches import MAIN, branches_of, messages_of
from .facts import facts_of
from .held import Held, items_of
from .history import cleaned, pruned
from .items import OUTPUT_OF, arguments_of, kind_of, role_of
from .runstate import Pending, RunState, run_state_of

DIALECT = "openai-responses"
PROFILES: dict[str, object] = {"0.24.0": None}
"""Observed release whose resume is simulated."""
NOT_STORED = ("the instructions, tools and model settings of the agent, which are in the application's code",)
SERVER_HELD = "what the provider keeps of the conversation itself: only what is new is sent"


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    """Derive the input of the next request."""
    state = RuntimeState(client="openai-agents", version=next(iter(PROFILES)), model=resume_as.model, dialect=DIALECT)
    state.added_at_send = [*NOT_STORED]
    run = run_state_of(session)
    state.facts_from = partial(facts_of, session, run)
    if run is not None:
        _of_run(session, run, resume_as, state)
    else:
        _of_history(session, resume_as, state)
    state.leaf = next((ref for ref in reversed(state.branch) if session.row(ref).kind is RowKind.MESSAGE), None)
    _fates(session, state)
    return state


def _of_history(session: Session, resume_as: ResumeAs, state: RuntimeState) -> None:
    rows = messages_of(session)
    branches = branches_of(session)
    if branches is not None:
        rows = list(branches[MAIN].rows) if MAIN in branches else []
        listed = {row.ref for branch in branches.values() for row in branch.rows}
        mine = {row.ref for row in rows}
        for row in messages_of(session):
            if row.ref not in mine and not row.damage:
                state.drops.append(Drop(row.ref, Stage.CHAIN, Reason.OTHER_BRANCH if row.ref in listed else Reason.NOT_LISTED))
    state.branch = [row.ref for row in rows]
    closed = [row for row in rows if isinstance(row.extra, Held) and row.extra.closed]
    if closed:
        state.refused = "its items are encrypted, and no key is known that opens them"
        return
    encrypted = any(isinstance(row.extra, Held) and not row.extra.plain for row in rows)
    held = [row for row in rows if isinstance(row.extra, Held)]
    taken = [row for row in held if not (encrypted and row.extra.plain)]
    if encrypted:
        state.drops += [Drop(row.ref, Stage.READ, Reason.MALFORMED) for row in held if row.extra.plain]
    handed_over = 0 in session.documents and any(row.extra.form == "element" for row in taken)
    _send(session, state, taken, orphans=not handed_over)
    _with_prompt(state, resume_as)
    if not state.messages:
        state.refused = "no item of it would be sent, and a run without input has nothing else to send"


def _send(
    session: Session, state: RuntimeState, rows: Sequence[Row], *, orphans: bool, stored: bool = True, answered: frozenset[str] = frozenset()
) -> None:
    """Put what is sent of the rows' items behind the messages, and a drop for each row of which nothing is."""
    held = [(row, item) for row in rows for item in items_of(session, row)]
    items = [cleaned(item) for _, item in held]
    fate = pruned(items, orphans=orphans, stored=stored, answered=answered)
    for sent in fate.sent:
        refs = [held[sent.item][0].ref]
        state.messages.append(StateMessage(role_of(items[sent.item]), [items[sent.item]], refs))
    placed = {ref for message in state.messages for ref in message.rows}
    for number, (row, _) in enumerate(held):
        if row.ref in placed:
            continue
        placed.add(row.ref)
        if number in fate.orphans:
            state.drops.append(Drop(row.ref, Stage.CLEANUP, Reason.UNRESOLVED_CALL))
        elif number in fate.tied:
            state.drops.append(Drop(row.ref, Stage.CLEANUP, Reason.REASONING_OF_CALL, held[fate.tied[number]][0].ref))
        else:
            state.drops.append(Drop(row.ref, Stage.CLEANUP, Reason.DUPLICATE, held[fate.replaced[number]][0].ref))


def _with_prompt(state: RuntimeState, resume_as: ResumeAs) -> None:
    if resume_as.prompt is not None:
        item = {"content": resume_as.prompt, "role": "user"}
        ref = f"+{len(state.added) + 1}"
        state.added.append(AddedRow(ref, "prompt", item))
        state.messages.append(StateMessage("user", [item], [ref]))


def _of_run(session: Session, run: RunState, resume_as: ResumeAs, state: RuntimeState) -> None:
    """The next request of a saved run. A new prompt does not go with it: the run goes on where it stopped."""
    rows = [row for row in session.main() if isinstance(row.extra, Held)]
    state.branch = [row.ref for row in rows]
    pending = run.pending()
    state.answered = frozenset(each.call_id for each in pending)
    state.runs_first = []
    state.refused, state.paused = _refusal(run, pending)
    if state.refused is not None:
        return
    approved = [each for each in pending if each.decision == "approved"]
    rejected = [each for each in pending if each.decision == "rejected"]
    given = [row for row in rows if row.extra.form == "input" and row.extra.key == "original_input"]
    _send(session, state, given, orphans=_is_list(run.get("original_input")), stored=False)
    _send(session, state, [row for row in rows if row.extra.form == "run-item"], orphans=True, stored=False, answered=state.answered)
    for each in rejected:
        item = {"call_id": each.call_id, "output": each.message, "type": OUTPUT_OF.get(kind_of(each.item), "function_call_output")}
        ref = f"+{len(state.added) + 1}"
        state.added.append(AddedRow(ref, "rejected", item))
        state.messages.append(StateMessage("user", [item], [ref]))
    later = [row for row in rows if row.extra.form == "input" and row.extra.key == "pending_input"]
    _send(session, state, later, orphans=False)
    row = run.ref("current_step")
    state.runs_first = [
        {
            "name": each.tool, "id": each.call_id, "status": "unknown", "row": row,
            "calls": [{"id": each.call_id, "name": each.tool, "args": arguments_of(each.item)}],
        }
        for each in approved
    ]  # fmt: skip
    if run.get("conversation_id") or run.get("previous_response_id"):
        state.around = {key: run.get(key) for key in ("previous_response_id", "conversation_id") if run.get(key)}
        state.added_at_send.append(SERVER_HELD)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _refusal(run: RunState, pending: list[Pending]) -> tuple[str | None, bool]:
    """Why nothing would be sent, and whether that is because a person has not answered yet."""
    if not run.readable:
        return f"release {next(iter(PROFILES))} does not read a RunState of version {run.schema[:20]}", False
    begun = run.unfinished()
    if begun:
        named = " and ".join(id for id, _ in begun)
        return f"the call {named[:200]} had begun and its output was not saved: the SDK stops with an error instead of running it again", False
    open_calls = [each for each in pending if each.decision is None]
    if open_calls:
        named = ", ".join(dict.fromkeys(each.tool for each in open_calls))
        return f"it waits for a person's yes or no to {named[:200]}; resumed without one it stops there again and asks the model nothing", True
    return None, False


def _fates(session: Session, state: RuntimeState) -> None:
    """A Drop for each row that has neither a place nor one yet."""
    done = {ref for message in state.messages for ref in message.rows} | {drop.row for drop in state.drops}
    for row in session.rows:
        if row.ref in done:
            continue
        held = isinstance(row.extra, Held)
        if row.kind is RowKind.BLANK:
            state.drops.append(Drop(row.ref, Stage.READ, Reason.BLANK))
        elif row.kind is RowKind.FRAME:
            state.drops.append(Drop(row.ref, Stage.READ, Reason.FRAME))
        elif row.damage:
            state.drops.append(Drop(row.ref, Stage.READ, Reason.DAMAGED))
        elif state.refused is not None and held:
            state.drops.append(Drop(row.ref, Stage.CHAIN, Reason.REFUSED))
        elif row.kind is RowKind.UNKNOWN:
            state.drops.append(Drop(row.ref, Stage.READ, Reason.UNKNOWN_TYPE))
        else:
            state.drops.append(Drop(row.ref, Stage.SEND, Reason.RECORD))
