"""Foreign session rows: rows of another session stand in this file.

**What it is.** Rows carry another `sessionId` than the rest of the file.

**Why it matters.** They may come from somebody else's project, and hang in the middle of this conversation. The client does not look at the
id in the rows: it would send them as part of this session.

**What the client does.** Only the name of the file counts. Rows that are on the chain are sent, whatever session they name.

**What the repair does.** Rows beside the continued branch are left out; rows on it wait for a decision. They can be exported as a transcript
of their own.

**What to check.** Whose rows they are, before you show them to anybody; and which client wrote them here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import LEAVE_OUT, Context, rows_of, step

CODES = ("foreign-session-rows",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each other session; a note where all rows name the same other one (a renamed copy of the file), or where they are the
    beginning that this session was copied from."""
    looked, own = index.of(inspection), inspection.session.id
    if looked.told["session"] <= {None, own}:
        return
    by_session: dict[str, list[Row]] = defaultdict(list)
    for row in looked.chain:
        named = getattr(row.extra, "session", None)
        if row.part == 0 and named:
            by_session[named].append(row)
    others = {named: rows for named, rows in by_session.items() if named != own}
    if own not in by_session and len(others) == 1:
        ((named, rows),) = others.items()
        yield Finding(
            "foreign-session-rows", Severity.INFO, index.refs(rows[:1]),
            f"Every row names the session {wording.short(named, 40)}, and the file another one: the file was renamed or copied.",
        )  # fmt: skip
        return
    begins = by_session[own][0].index if own in by_session else 0
    for named, rows in others.items():
        if rows[-1].index < begins:
            yield Finding(
                "foreign-session-rows",
                Severity.INFO,
                index.refs(rows),
                f"The file begins with {wording.count(len(rows), 'row')} of the session {wording.short(named, 40)}: this one was begun as its copy.",
            )
            continue
        sent = sum(row in looked.on_branch for row in rows)
        yield Finding(
            "foreign-session-rows", Severity.ERROR, index.refs(rows),
            f"{wording.count(len(rows), 'row belongs', 'rows belong')} to another session ({wording.short(named, 40)}); "
            + (f"{sent:,} of them would be sent as part of this one." if sent else "none of them would be sent."),
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave rows beside the continued branch out; rows on it stay until a person decides."""
    if finding.severity is Severity.INFO:
        return None
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    on_branch = any(row in context.looked.on_branch for row in rows)
    choices = ("keep", LEAVE_OUT) if on_branch else (LEAVE_OUT, "keep")
    chosen = context.chosen(id, choices)
    calls = ", ".join(block.id for row in rows for block in row.blocks if block.kind is BlockKind.CALL and block.id)
    why = "Rows of another session stay: they are part of the conversation that would be continued, so a person decides."
    if chosen == LEAVE_OUT:
        why = "Rows of another session are left out; the original keeps them."
    edits = context.leave_out(rows) if chosen == LEAVE_OUT else ()
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen, details={"calls": calls} if calls else {})
