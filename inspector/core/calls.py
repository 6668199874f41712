"""What a client's reader says about the tool calls of a session: the calls, what answered them, and what else was noted of them.

Light like the rows: arguments and texts are parsed when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from .session import Row

ABSENT: Final = "absent"
"""Stands for a file's content, or for its digest, where there is no file."""
Known = bytes | Literal["absent"] | None
"""What a file held before a call: its bytes, ABSENT, or None where it is not known."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that the transcript holds about an operation."""

    kind: str
    says: str
    row: str | None = None
    grade: str = "weak"
    """strong: settles it | weak: supports | none: shown so that nobody takes it for proof."""


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
    WAITING = "waiting"
    """The call, or its task, asks a person first and goes on with the answer."""
    ASKED = "asked"
    """A person was asked whether the tool may run, and had not answered when the state was saved."""
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


def message_of(call: Call) -> str | None:
    """Id of the message that a call is a piece of; None where its record has none, or its line broke off."""
    found: str | None = getattr(call.record.extra, "message_id", None)
    return found


@dataclass(slots=True, eq=False)
class Answer:
    """One saved result of a call."""

    row: Row
    record: Row
    outcome: Outcome
    error: bool
    about: str = ""
    """Key of the operation that a repair wrote it for; blank where no repair did."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What was noted later about a call that runs in the background. `status` is the client's word."""

    row: Row
    status: str


def nothing_more(call: Call, answers: list[Answer]) -> Iterable[Evidence]:
    """What a client whose rows say nothing else about a call adds to its evidence."""
    return ()


def no_words(row: Row) -> str:
    """What a client whose messages hold no text says in a row."""
    return ""


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
    records: dict[str, Row] = field(default_factory=dict)
    """Call id -> the record that the agent it started keeps beside its transcript."""
    only_a_person: frozenset[str] = frozenset()
    """Tools that do nothing but ask the person: without a result they wait."""
    remarks: Callable[[Call, list[Answer]], Iterable[Evidence]] = nothing_more
    """What else the client's rows hold of a call, when somebody reads the evidence."""
    words: Callable[[Row], str] = no_words
    """The text of a row of the model."""
    without_row: list[WithoutRow] = field(default_factory=list)
    lost_answer: Row | None = None
    """The message whose answer was never saved, although its tools may have started."""
    lost_said: Answer | None = None
    """What a repair noted behind it of what happened."""
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
