"""Request hash mismatch: a recorded request no longer fits its own check sum.

**What it is.** Newer clients record each request with a hash of every message. A stored message whose content does not fit its hash
may have been changed after it was recorded, or was hashed in a way that is not known here. A message that can't be made again from the rows
is another thing: the rows were changed, or are not all here.

**Why it matters.** The record can't be trusted as evidence of what the model was told.

**What the client does.** It does not look at these rows when it resumes.

**What the repair does.** Nothing: a hash is never written anew.

**What to check.** Who had the file since; compare with an older copy.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..recorded import RecordedMessage

CODES = ("request-hash-mismatch",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for stored messages that were altered, a note for messages that can't be made again."""
    recorded = inspection.recorded
    if recorded is None:
        return
    altered = [message for message in recorded.messages if message.how == "altered"]
    missing = [message for message in recorded.messages if message.how == "missing"]
    if altered:
        yield Finding(
            "request-hash-mismatch", Severity.WARNING, _rows(recorded.row, altered),
            f"{wording.count(len(altered), 'message')} of the last recorded request "
            f"{'does' if len(altered) == 1 else 'do'} not fit the recorded hash; "
            f"{'it' if len(altered) == 1 else 'they'} may have been changed after {'it was' if len(altered) == 1 else 'they were'} recorded.",
        )  # fmt: skip
    if missing:
        yield Finding(
            "request-hash-mismatch", Severity.INFO, _rows(recorded.row, missing),
            f"{len(missing):,} of {wording.count(recorded.of, 'message')} of the last recorded request can't be made again from the rows, "
            f"{recorded.verified:,} are verified.",
        )  # fmt: skip


def _rows(first: str, messages: list[RecordedMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([first, *(row for message in messages for row in message.rows)]))[:500]
