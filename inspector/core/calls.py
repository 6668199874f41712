"""What a client's reader says about the tool calls of a session: the calls, what answered them, and what else was noted of them.

Light like the rows: arguments and texts are parsed when somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .session import Row


class Outcome(StrEnum):
    """What a saved result is worth. From the best evidence to the least."""

    RESULT = "result"
    """What the tool gave back."""
    REFUSED = "refused"
    """The tool looked at the call and did nothing."""
    DENIED = "denied-before-run"
    """The row records that the call was denied before it ran."""
    HAPPENED = "resolved-happened"
    """Written by a repair; a person said that it happened."""
    DID_NOT_HAPPEN = "resolved-did-not-happen"
    LAUNCHED = "launched"
    """Started in the background; this result came at the start, not at the end."""
    REJECTED = "rejected"
    """Says only that the call was rejected, interrupted, cancelled or timed out: it may have run."""
    STAND_IN = "stand-in"
    """Written by the client in place of a result that was never saved."""
    MARKED = "marked"
    """Written by a repair in place of a result: nobody knows."""


ORDER = {outcome: number for number, outcome in enumerate(Outcome)}


@dataclass(slots=True, eq=False)
class Call:
    """One call. `record` is the row that holds it, which for a record inside a damaged line is not a row of the session; `row` is the line."""

    id: str | None
    tool: str
    row: Row
    record: Row
    block: int
    """Number of its block in the message."""
    order: int
    """Its place among all calls of the session."""
    whole: bool = True
    """False when the line broke off inside the call."""
    foreign: bool = False
    """Its row belongs to another session."""


@dataclass(slots=True, eq=False)
class Answer:
    """One saved result of a call."""

    row: Row
    record: Row
    outcome: Outcome
    error: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """What was noted later about a call that runs in the background. `status` is the client's word."""

    row: Row
    status: str


@dataclass(slots=True)
class Calls:
    """All that a session's rows say about calls."""

    calls: list[Call] = field(default_factory=list)
    answers: dict[tuple[int, str], list[Answer]] = field(default_factory=dict)
    """By part and call id, in file order."""
    notices: dict[str, list[Notice]] = field(default_factory=dict)
    """By call id."""
    progress: dict[str, Row] = field(default_factory=dict)
    """Call id -> the last row that shows it running, for calls without a sure result."""
    agents: dict[str, list[int]] = field(default_factory=dict)
    """Call id -> parts that hold the transcripts of the agents it started."""
    without_row: list[WithoutRow] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WithoutRow:
    """A tool that was used although no row holds such a call, while a turn is unfinished."""

    tool: str
    noted: Row
    """The row that names the tool."""
    after: Row
    """The last message of the unfinished turn."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A repair's note about a call that it took out of the conversation without anybody knowing whether it had run."""

    key: str
    """Key of the operation, as it was when the call stood in a row."""
    call_id: str | None
    tool: str
    arguments: object
    outcome: Outcome
    """MARKED, or what a person said since."""
    row: Row
