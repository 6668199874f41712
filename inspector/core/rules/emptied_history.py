"""Emptied history: most messages of the conversation have lost their content.

**What it is.** The rows are there, but their texts are blank: something wiped them.

**Why it matters.** The model would continue a conversation of which it can read nothing.

**What the client does.** It leaves blank answers out and sends `(no content)` for the rest.

**What the repair does.** Nothing: content that is not in the file can't be made up. Look for an older copy of the file.

**What to check.** Backups, and other sessions of the same project that were forked from this one.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("emptied-history",)
LEAST, SHARE = 5, 0.5
"""How many blank messages, and which share of all, make it more than single empty texts."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding."""
    messages = index.of(inspection).messages
    wiped = [row for row in messages if not row.blocks or symptoms.blank(row.blocks)]
    if len(wiped) >= LEAST and len(wiped) >= SHARE * len(messages):
        yield Finding(
            "emptied-history", Severity.ERROR, index.refs(wiped),
            f"{len(wiped):,} of {wording.count(len(messages), 'message row')} hold no content any more.",
        )  # fmt: skip
