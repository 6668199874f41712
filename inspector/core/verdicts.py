"""Why a row does not reach the request: one Drop per row, with stage, reason and the row that caused it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Stage(StrEnum):
    """Where on the way to the request the row was left out."""

    READ = "read"
    """The line is no record."""
    CHAIN = "chain"
    """Not on the branch that the resume continues."""
    CLEANUP = "clean-up"
    """Removed when the conversation was repaired at load."""
    SEND = "send"
    """Held by the client, but not part of a request."""


class Reason(StrEnum):
    """Stable codes of reasons; `SENTENCES` says each in words."""

    BLANK = "blank-line"
    FRAME = "brackets"
    DAMAGED = "damaged-line"
    READING_STOPPED = "reading-stopped"
    UNKNOWN_TYPE = "unknown-type"
    RECORD = "record"
    SUB_AGENT = "sub-agent"
    SIDECHAIN = "sidechain"
    OTHER_BRANCH = "other-branch"
    BEFORE_GAP = "before-gap"
    BEFORE_COMPACTION = "before-compaction"
    COMPACTION_BOUNDARY = "compaction-boundary"
    DUPLICATE = "duplicate"
    PROGRESS = "progress"
    UNRESOLVED_CALL = "unresolved-call"
    ORPHAN_RESULT = "orphan-result"
    DUPLICATE_RESULT = "duplicate-result"
    DUPLICATE_CALL = "duplicate-call"
    THINKING_ONLY = "thinking-only"
    THINKING_OTHER_MODEL = "thinking-other-model"
    EMPTY_TEXT = "empty-text"
    API_ERROR = "api-error"
    SYSTEM_NOTE = "system-note"
    ATTACHMENT_NOT_SENT = "attachment-not-sent"
    NOT_A_TRANSCRIPT = "not-a-transcript"
    MALFORMED = "malformed"
    NOT_RESTORED = "not-restored"
    REASONING_OF_CALL = "reasoning-of-call"
    NOT_LISTED = "not-listed"
    REFUSED = "refused"
    OLDER_STATE = "older-state"
    SUBGRAPH = "subgraph"
    UNMERGED = "unmerged"
    REPLACED = "replaced"


SENTENCES: dict[Reason, str] = {
    Reason.BLANK: "blank line",
    Reason.FRAME: "brackets of the document, which hold no value",
    Reason.DAMAGED: "the line is damaged and no record can be read from it",
    Reason.READING_STOPPED: "this client stops reading the file before this row",
    Reason.UNKNOWN_TYPE: "no known row type; the client ignores it",
    Reason.RECORD: "a record of the client's own state, never part of the conversation",
    Reason.SUB_AGENT: "belongs to a sub-agent's conversation",
    Reason.SIDECHAIN: "belongs to a side conversation",
    Reason.OTHER_BRANCH: "on a branch that the resume does not continue",
    Reason.BEFORE_GAP: "the chain is broken after this row and the client does not bridge the gap",
    Reason.BEFORE_COMPACTION: "before the last compaction; only the summary is sent",
    Reason.COMPACTION_BOUNDARY: "marks the compaction; never sent itself",
    Reason.DUPLICATE: "a later row with the same id replaces it",
    Reason.PROGRESS: "progress display only",
    Reason.UNRESOLVED_CALL: "a tool call without a result",
    Reason.ORPHAN_RESULT: "a tool result without its call",
    Reason.DUPLICATE_RESULT: "a second result for the same call",
    Reason.DUPLICATE_CALL: "a second call with the same id",
    Reason.THINKING_ONLY: "the message holds nothing but thinking",
    Reason.THINKING_OTHER_MODEL: "thinking of another model is not sent",
    Reason.EMPTY_TEXT: "the message has no visible text",
    Reason.API_ERROR: "an error text made by the client",
    Reason.SYSTEM_NOTE: "a note of the client, never sent",
    Reason.ATTACHMENT_NOT_SENT: "the client does not send this kind of context",
    Reason.NOT_A_TRANSCRIPT: "a file beside the transcript",
    Reason.MALFORMED: "the record lacks what its type needs",
    Reason.NOT_RESTORED: "the transcript is not restored: the work goes on in a clean session without it",
    Reason.REASONING_OF_CALL: "the reasoning before a call that is left out",
    Reason.NOT_LISTED: "no branch lists it, so that it is never read",
    Reason.REFUSED: "the client would not resume this session",
    Reason.OLDER_STATE: "an earlier checkpoint; only the newest one of the branch goes on",
    Reason.SUBGRAPH: "belongs to a subgraph's own state",
    Reason.UNMERGED: "was recorded by a task and never taken into the state: new input or an update came first, or its checkpoint was lost",
    Reason.REPLACED: "its messages were removed or replaced later, or are not taken in",
}


class Drop(NamedTuple):
    """Row `row` does not reach the request."""

    row: str
    stage: Stage
    reason: Reason
    because: str | None = None
    """The row that caused it, where one did."""
