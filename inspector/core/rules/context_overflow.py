"""Context overflow: the restored transcript may not fit into the model's window.

**What it is.** The texts of the transcript are longer than the window of the release that is simulated, estimated at four characters to a token.
The window of a model is only known on the device (`contextSize`).

**Why it matters.** The next request fails (`exceededContextWindowSize`, `contextSizeExceeded`), and a full session can't be used any more.

**What the client does.** It throws an error. Apple's advice is a new session with fewer entries.

**What the repair does.** Nothing by itself. You may leave out the oldest turns until the rest fits: whole turns, so that no output stands without
its call and no prompt without its answer. Instructions stay, and so does every turn with a call whose outcome nobody knows.

**What to check.** What the turns that would go are needed for; the plan and the gathered texts are in fields of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..clients.apple_workflow.entry import Entry
from ..clients.apple_workflow.facts import TOKEN
from ..clients.apple_workflow.profiles import profile_for
from ..clients.apple_workflow.unsaved import calls_in, turns_of
from ..edits import DropRow, Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import AS_THE_CLIENT, Context, step

CODES = ("context-overflow",)
TRIM = "trim-oldest-turns"


def _sizes(inspection: Inspection) -> tuple[int, int]:
    """(estimated tokens of the entries, size of the window)."""
    rows = [row for row in inspection.session.main() if isinstance(row.extra, Entry)]
    return sum(len(row.extra.text) for row in rows) // TOKEN, profile_for(inspection.resume_as.version).context_tokens


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding, about a transcript that would be restored."""
    if inspection.session.client != "apple-workflow" or not inspection.state.messages or not inspection.state.branch:
        return
    tokens, window = _sizes(inspection)
    if tokens > window:
        rows = [row for row in inspection.session.main() if isinstance(row.extra, Entry)]
        says = f"The transcript has about {tokens:,} tokens; the window holds {window:,}."
        yield Finding("context-overflow", Severity.WARNING, index.refs(rows[-1:]), says)


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave out the oldest whole turns, where a person chooses so."""
    gone = _oldest(inspection)
    if not gone:
        return None
    rows = [row for turn in gone for row in turn]
    id = context.step_id(finding.code)
    choices = (AS_THE_CLIENT, TRIM)
    chosen = context.chosen(id, choices)
    edits = [DropRow(row.ref) for row in rows] if chosen == TRIM else []
    number = wording.count(len(gone), "turn")
    why = f"Left out, whole: the oldest {number}." if edits else f"The oldest {number} may be left out, so that the rest fits."
    details = {"calls": " ".join(call for turn in gone for call in calls_in(turn))}
    return step(finding.code, id, rows, edits, why, choices=choices, chosen=chosen, details=details)


def _oldest(inspection: Inspection) -> list[tuple[Row, ...]]:
    """The fewest oldest turns without which the transcript fits; the last turn always stays."""
    tokens, window = _sizes(inspection)
    open_calls = {each.call_id for each in inspection.operations if each.state == "uncertain"}
    found: list[tuple[Row, ...]] = []
    for turn in turns_of(inspection.session)[:-1]:
        if tokens <= window:
            break
        if open_calls.isdisjoint(calls_in(turn)):
            found.append(turn)
            tokens -= sum(len(row.extra.text) for row in turn) // TOKEN
    return found
