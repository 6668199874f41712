"""Lone surrogate: half of a character that needs two code units.

**What it is.** A text was cut in the middle of an emoji or another character outside the basic plane, and the escape of its first or second
half was stored alone (`\\ud99c`).

**Why it matters.** Such a text can't be encoded as UTF-8. A request that holds it is refused, on every turn, until the text is gone.

**What the client does.** Recent releases send the replacement character instead; earlier ones send it as it is and fail.

**What the repair does.** It puts U+FFFD in its place, in that one escape; every other byte stays.

**What to check.** Nothing: one damaged character is replaced by a sign that says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("lone-surrogate",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row; an error where the row belongs to the conversation."""
    for row in inspection.session.rows:
        if "lone-surrogate" in row.faults:
            severity = Severity.ERROR if row.kind in index.CHAIN_KINDS else Severity.WARNING
            yield Finding(
                "lone-surrogate", severity, index.refs([row]),
                f"A text in this `{row.type}` row holds half of a character; a provider refuses a request with it.",
            )  # fmt: skip
