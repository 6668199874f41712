"""Odd bytes: a record that can be read, though its bytes are not what a client writes.

**What it is.** Bytes that are no UTF-8, or a byte order mark in front of a line: the file was edited or copied by another program.

**Why it matters.** The client reads such a line, but with replacement characters in place of the bad bytes.

**What the client does.** It reads the line and goes on.

**What the repair does.** Nothing: no byte of a readable row is changed without need.

**What to check.** Where the file comes from, and which program last wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("odd-bytes",)
SAID = {"bad-utf8": "bytes that are no UTF-8", "byte-order-mark": "a byte order mark"}


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row."""
    for row in index.of(inspection).odd:
        for fault in row.faults:
            if fault in SAID:
                severity = Severity.WARNING if fault == "bad-utf8" else Severity.INFO
                yield Finding("odd-bytes", severity, index.refs([row]), f"This line holds {SAID[fault]}: another program wrote or changed it.")
