"""Duplicate rows: the same rows stand in the file more than once, unchanged.

**What it is.** A row, or a whole run of rows (`replayed-rows`), was written again: a client saved its memory twice, or files were joined.

**Why it matters.** Releases differ in which copy counts. A copy at the end of the file can become the row that the session continues from, and
all that came after the original is then gone from the conversation.

**What the client does.** The last copy's content counts. Releases before 2.1.266 also continue from the copy when it is the last row; later
ones follow the conversation down to its tip.

**What the repair does.** It leaves the later copies out: the first occurrence stays where it was.

**What to check.** That nothing after the original is missing from the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, rows_of, step

CODES = ("duplicate-row", "replayed-rows")
FIRSTS = {
    "duplicate-row": "Duplicate rows: a row stands in the file again, unchanged.",
    "replayed-rows": "Replayed rows: a run of three or more rows stands in the file again, in the same order and unchanged.",
}
"""What each code finds, in a line: the help page is the same."""
RUN = 3
"""From this many copies in a row on it is a replay."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each run of copies that follow each other."""
    looked, session = index.of(inspection), inspection.session
    copies: list[Row] = []
    for _, rows in looked.by_id.repeated():
        first = session.bytes_of(rows[0]).strip()
        copies += [row for row in rows[1:] if row.end - row.start >= len(first) and session.bytes_of(row).strip() == first]
    if not copies:
        return
    numbers = {row: number for number, row in enumerate(looked.chain)}
    copies = sorted((row for row in copies if row in numbers), key=numbers.__getitem__)
    for run in _runs(copies, numbers):
        said = "is a copy of an earlier one" if len(run) == 1 else "follow each other as copies of earlier ones"
        code = "replayed-rows" if len(run) >= RUN else "duplicate-row"
        yield Finding(code, Severity.WARNING, index.refs(run), f"{wording.count(len(run), 'row')} {said}: same id, same content.")


def _runs(rows: list[Row], numbers: dict[Row, int]) -> Iterator[list[Row]]:
    run: list[Row] = []
    for row in rows:
        if run and numbers[row] != numbers[run[-1]] + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the later copies out; the first one stays where it was."""
    rows = rows_of(context, finding)
    why = f"{wording.count(len(rows), 'later copy', 'later copies')} left out; the first one stays where it was."
    return step(finding.code, context.step_id(finding.code, rows[0]), rows, [DropRow(row.ref) for row in rows], why)
