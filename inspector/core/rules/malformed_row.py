"""Malformed row: a record that lacks what its type needs.

**What it is.** A user or assistant row without a message, or an attachment row without its attachment.

**Why it matters.** The row can't be sent, and some releases refuse the whole session because of it.

**What the client does.** 2.1.197 and earlier fail at such a row when it is on the chain; later ones skip it, and the rows that hang from it
are bridged by time or lose what came before.

**What the repair does.** It leaves the row out and joins its children to its parent.

**What to check.** The row's raw bytes: what is left of it may say what it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import RowKind
from ..steps import Context, rows_of, step

CODES = ("malformed-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such row."""
    for row in inspection.session.rows:
        if getattr(row.extra, "content_missing", False) and row.kind in (RowKind.MESSAGE, RowKind.CONTEXT):
            what = "message text" if row.kind is RowKind.MESSAGE else "attachment"
            yield Finding(
                "malformed-row",
                Severity.WARNING,
                index.refs([row]),
                f"This `{row.type}` row holds no {what}; some releases refuse the session because of it.",
            )


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the row out and join its children to its parent."""
    rows = rows_of(context, finding)
    return step(finding.code, context.step_id(finding.code, rows[0]), rows, context.leave_out(rows), "The row holds nothing to send and is left out.")
