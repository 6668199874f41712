"""What the ledger asks: the calls of a session, the outputs that answer them, and the turn of which nothing may have been saved."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ...calls import Answer, Call, Calls, Evidence, Known, Outcome
from ...session import BlockKind, Row, RowKind, Session
from ...state import RuntimeState
from .branches import MAIN, branches_of, messages_of
from .held import Held, items_of
from .items import NOT_APPROVED, TIMED_OUT, arguments_of, kind_of, mark_in, mark_of, text_of
from .runstate import RunState, run_state_of

RESOLVED = {"happened": Outcome.HAPPENED, "did-not-happen": Outcome.DID_NOT_HAPPEN}
ASKED = (
    "The SDK saves the calls of a turn together with their outputs; one saved without an output was waiting for approval then. "
    "What happened after a person approved it is in no session."
)
APPROVED = "A person had approved the call when the state was saved. It may have run since: the state tells nothing of what came later."
BEGUN = "The call had begun when the state was saved: its flag is set before the tool's code runs."


def calls(session: Session) -> Calls:
    """Every call; an output with its id answers it. A saved run adds what was decided about the calls that it stopped at."""
    run = run_state_of(session)
    book = Calls(words=partial(words, session))
    for row in session.rows:
        if row.kind is RowKind.MESSAGE and any(block.kind in (BlockKind.CALL, BlockKind.RESULT) for block in row.blocks):
            _note(session, book, row)
    if run is not None:
        _decided(run, book)
    else:
        book.lost_answer, note = lost_answer(session)
        mark = mark_of(items_of(session, note)[0]) if note is not None else {}
        if note is not None:
            said = RESOLVED.get(str(mark.get("resolution")), Outcome.MARKED)
            book.lost_said = Answer(note, note, said, False, str(mark.get("operation") or ""))
    book.remarks = partial(_remarks, session, run)
    return book


def _note(session: Session, book: Calls, row: Row) -> None:
    items = items_of(session, row)
    for number, block in enumerate(row.blocks):
        if block.kind is BlockKind.CALL:
            book.calls.append(Call(block.id, block.name or "", row, row, number, len(book.calls)))
        elif block.kind is BlockKind.RESULT and block.id is not None:
            about = str(mark_of(items[number]).get("operation") or "")
            book.answers.setdefault((row.part, block.id), []).append(Answer(row, row, outcome(items[number]), block.error, about))


def outcome(item: dict[str, Any]) -> Outcome:
    """What an output is worth, told by a repair's mark or by the words that the SDK itself writes."""
    mark = mark_of(item)
    if mark:
        return RESOLVED.get(str(mark.get("resolution")), Outcome.MARKED)
    text = text_of(item)
    if text == NOT_APPROVED:
        return Outcome.DENIED
    return Outcome.REJECTED if TIMED_OUT.fullmatch(text) else Outcome.RESULT


def _decided(run: RunState, book: Calls) -> None:
    """What a person had decided, as answers: waiting, or rejected. A call that was approved has none."""
    row = run.session.row(ref) if (ref := run.ref("current_step")) else None
    for each in run.pending() if row is not None else ():
        begun = run.invocations.get(each.call_id, {}).get("executed") is True
        if row is not None and each.decision != "approved" and not begun and (0, each.call_id) not in book.answers:
            mark = mark_in(each.message)
            said = (
                RESOLVED.get(str(mark.get("resolution")), Outcome.MARKED)
                if mark
                else Outcome.DENIED
                if each.decision == "rejected"
                else Outcome.ASKED
            )
            book.answers[0, each.call_id] = [Answer(row, row, said, False, str(mark.get("operation") or ""))]


def lost_answer(session: Session) -> tuple[Row | None, Row | None]:
    """The last message of a session, where no answer follows it: a turn is saved when it has ended, so a whole one may be missing.

    And the note behind it in which a repair told the model so. An output that a repair wrote has an operation of its own.
    """
    branches = branches_of(session)
    rows = messages_of(session) if branches is None else list(branches[MAIN].rows) if MAIN in branches else []
    rows = [row for row in rows if isinstance(row.extra, Held) and row.kind is RowKind.MESSAGE]
    note = None
    while rows and rows[-1].extra.marked and rows[-1].type == "message":
        note = rows.pop()
    if not rows or rows[-1].role != "user" or any(mark_of(item) for item in items_of(session, rows[-1])):
        return None, None
    answered = {block.id for row in rows for block in row.blocks if block.kind is BlockKind.RESULT}
    turn = []
    for row in reversed(rows):
        if row.role == "user" and not any(block.kind is BlockKind.RESULT for block in row.blocks):
            break
        turn.append(row)
    waits = any(block.kind is BlockKind.CALL and block.id not in answered for row in turn for block in row.blocks)
    return (None, None) if waits else (rows[-1], note)


def _remarks(session: Session, run: RunState | None, call: Call, answers: list[Answer]) -> Iterable[Evidence]:
    """What a session or a saved run tells of a call that no output answers."""
    if any(answer.outcome is not Outcome.ASKED for answer in answers):
        return
    if run is None:
        if not answers:
            yield Evidence("asks-first", ASKED, call.row.ref)
        return
    noted, at = run.invocations.get(call.id or "", {}), run.ref("context")
    pending = next((each for each in run.pending() if each.call_id == call.id), None)
    if noted.get("executed") is True:
        yield Evidence("process", BEGUN, at)
    elif noted.get("executed") is False:
        yield Evidence("not-begun", "The call had not begun when the state was saved. What came later is not in it.", at, "none")
    if pending is not None and pending.decision == "approved":
        yield Evidence("approved", APPROVED, at)


def arguments(session: Session, call: Call) -> Any:
    """The call's arguments, parsed from their text; the text itself where it is no JSON."""
    items = items_of(session, call.record)
    return arguments_of(items[call.block]) if call.block < len(items) and isinstance(items[call.block], dict) else None


def words(session: Session, row: Row) -> str:
    """The text of a message of the model."""
    items = items_of(session, row) if row.role == "assistant" else []
    return "\n".join(text_of(item) for item in items if kind_of(item) == "message")


def recorded_request(session: Session, state: RuntimeState) -> None:
    """No request is recorded by the SDK."""
    return None


def content_before(session: Session, row: str, call_id: str | None, path: str) -> Known:
    """The SDK keeps no files."""
    return None
