"""What the ledger asks: the calls of a transcript, and the outputs that answer them."""

from __future__ import annotations

from typing import Any

from ...calls import Answer, Call, Calls, Known, Outcome
from ...jsonspans import NotJson, loads
from ...recorded import RecordedRequest
from ...session import BlockKind, Row, Session
from ...state import RuntimeState
from .entry import Entry, blocks_of, mark_of

OUTCOMES = {"happened": Outcome.HAPPENED, "did-not-happen": Outcome.DID_NOT_HAPPEN}


def calls(session: Session) -> Calls:
    """Every call of a toolCalls entry; a tool entry with its id answers it."""
    book = Calls(words=_words)
    for row in session.main():
        for number, block in enumerate(row.blocks):
            if block.kind is BlockKind.CALL:
                book.calls.append(Call(block.id, block.name or "", row, row, number, len(book.calls)))
            elif block.kind is BlockKind.RESULT and block.id is not None:
                mark = mark_of(session.value(row))
                outcome = OUTCOMES.get(str(mark.get("resolution")), Outcome.MARKED) if "resolution" in mark else Outcome.RESULT
                book.answers.setdefault((row.part, block.id), []).append(Answer(row, row, outcome, error=False))
    return book


def _words(row: Row) -> str:
    return row.extra.text if isinstance(row.extra, Entry) and row.type == "response" else ""


def arguments(session: Session, call: Call) -> Any:
    """The call's arguments, parsed from their text; the text itself where it is no JSON."""
    held = blocks_of(session.value(call.record))
    found = held[call.block].get("arguments") if call.block < len(held) and isinstance(held[call.block], dict) else None
    if not isinstance(found, str):
        return found
    try:
        return loads(found.encode("utf-8", "surrogatepass"))
    except NotJson:
        return found


def recorded_request(session: Session, state: RuntimeState) -> RecordedRequest | None:
    """No request is recorded by this framework."""
    return None


def content_before(session: Session, row: str, call_id: str | None, path: str) -> Known:
    """No file is known."""
    return None
