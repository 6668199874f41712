"""Last resort: any bytes as unknown rows. Never refuses, derives nothing."""

from __future__ import annotations

from ...calls import Call, Calls, Known
from ...jsonspans import lines
from ...screen import ScreenItem
from ...session import Row, RowKind, Session
from ...source import Source
from ...state import ResumeAs, RuntimeState
from ...verdicts import Drop, Reason, Stage

NAME = "raw"
TITLE = "Unknown program"
PROFILES: dict[str, object] = {"none": None}


def sniff(source: Source) -> bool:
    """Takes everything; stands last."""
    return True


def read(source: Source) -> Session:
    """One row a line, nothing interpreted."""
    rows = []
    for number, part in enumerate(source.parts):
        for index, (start, end, data) in enumerate(lines(part.data)):
            kind = RowKind.UNKNOWN if data.strip() else RowKind.BLANK
            rows.append(Row(number, index, start, end, kind, "text"))
    return Session(client=NAME, source=source, rows=rows)


def resume(session: Session, resume_as: ResumeAs) -> RuntimeState:
    """Nothing can be said about what a resume would do."""
    drops = [Drop(row.ref, Stage.READ, Reason.BLANK if row.kind is RowKind.BLANK else Reason.UNKNOWN_TYPE) for row in session.rows]
    return RuntimeState(
        client=NAME,
        version="none",
        model=None,
        dialect="anthropic-messages",
        drops=drops,
        refused="no known program wrote this file; nothing can be derived from it",
    )


def screen(session: Session) -> list[ScreenItem]:
    """What a person saw is not known."""
    return []


def recorded_request(session: Session, state: RuntimeState) -> None:
    """No request is recorded."""
    return None


def calls(session: Session) -> Calls:
    """No call is known."""
    return Calls()


def arguments(session: Session, call: Call) -> None:
    """No call is known."""
    return None


def content_before(session: Session, row: str, call_id: str | None, path: str) -> Known:
    """No file is known."""
    return None
