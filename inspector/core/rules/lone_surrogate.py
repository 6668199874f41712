"""Lone surrogate: half of a character that needs two code units.

**What it is.** A text was cut in the middle of an emoji or another character outside the basic plane, and the escape of its first or second
half was stored alone (`\\ud99c`).

**Why it matters.** Such a text can't be encoded as UTF-8. A request that holds it is refused, on every turn, until the text is gone.

**What the client does.** Recent releases send the replacement character instead; earlier ones send it as it is and fail.

**What the repair does.** It puts U+FFFD in its place, in that one escape; every other byte stays.

**What to check.** Nothing: one damaged character is replaced by a sign that says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import index, symptoms
from ..clients.claude_code.read import holds_surrogate
from ..edits import ReplaceRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import RowKind
from ..steps import Context, step

CODES = ("lone-surrogate",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row; an error where the row belongs to the conversation."""
    for row in index.of(inspection).odd:
        if "lone-surrogate" in row.faults:
            severity = Severity.ERROR if row.kind in index.CHAIN_KINDS else Severity.WARNING
            yield Finding(
                "lone-surrogate", severity, index.refs([row]),
                f"A text in this `{row.type}` row holds half of a character; a provider refuses a request with it.",
            )  # fmt: skip


ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
REPLACEMENT = rb"\ufffd"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put U+FFFD in the place of each half; where a signed thinking block holds one, leave the thinking of the whole message out."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    pieces = context.pieces(row)
    if row.kind is RowKind.MESSAGE and any(holds_surrogate(block) for block in context.blocks(row) if symptoms.is_thinking(block)):
        gone = {piece: {number for number, block in enumerate(context.blocks(piece)) if symptoms.is_thinking(block)} for piece in pieces}
        edits = context.without_blocks({piece: numbers for piece, numbers in gone.items() if numbers}, context.mark(id))
        return step(finding.code, id, pieces, edits, "Signed thinking is never changed: the thinking of this message is left out as a whole.")
    edit = ReplaceRow(row.ref, whole_characters(context.session.bytes_of(row)))
    return step(finding.code, id, [row], [edit], "Half a character is replaced by U+FFFD; every other byte of the row stays.")


def whole_characters(raw: bytes) -> bytes:
    """JSON bytes with each escape of a lone surrogate replaced by that of U+FFFD."""
    found = [(spot.start(), spot.end(), int(spot[1], 16) if spot[1] else 0) for spot in ESCAPE.finditer(raw)]
    out, at, number = b"", 0, 0
    while number < len(found):
        start, end, unit = found[number]
        paired = number + 1 < len(found) and found[number + 1][0] == end and 0xDC00 <= found[number + 1][2] <= 0xDFFF
        if 0xD800 <= unit <= 0xDBFF and paired:
            number += 2
            continue
        if 0xD800 <= unit <= 0xDFFF:
            out += raw[at:start] + REPLACEMENT
            at = end
        number += 1
    return out + raw[at:]
