"""A request that the transcript itself recorded as sent: its body, rebuilt, and how much of it the recorded hashes confirm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

How = Literal["stored", "rebuilt", "altered", "missing"]


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message of a recorded request. Only `stored` and `rebuilt` ones fit their hash."""

    hash: str
    """Hash as recorded; empty where the request that it was taken over from is not in the file."""
    how: How
    """stored: kept whole in a row of its own · rebuilt: made again from the conversation's rows · altered: kept in a row, but its
    content no longer fits its hash · missing: nothing in the file has this hash."""
    rows: tuple[str, ...] = ()
    """Rows it was made from; for a missing one the rows that should have made it, as far as its neighbours tell."""

    @property
    def verified(self) -> bool:
        return self.how in ("stored", "rebuilt")


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A recorded request, rebuilt; `verified` of `of` messages match their hashes."""

    row: str
    """Ref of the row that records the request."""
    body: dict[str, Any]
    """Provider JSON. A message that is missing stands as our best reading of its rows, or as `{"role": null, "content": null}`."""
    verified: int
    of: int
    mismatches: tuple[str, ...] = ()
    """Refs of the rows whose recorded hash does not fit."""
    messages: tuple[RecordedMessage, ...] = ()
    at: str | None = None
    source: str | None = None
    """What the client sent it for, in its own word (`sdk`, `repl_main_thread`, …)."""
    agent: str | None = None
    """Agent id, for a request of a sub-agent."""
    parts_at: int | None = None
    """Index of the first message in which the request derived from the state differs from this one; None: it only continues it."""
    note: str = ""
    """One sentence for a person."""
