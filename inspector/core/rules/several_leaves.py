"""Several leaves: the conversation has more than one end.

**What it is.** Rows branch: a person rewound and went on differently, a second process continued from an older row, or a call was left behind.

**Why it matters.** Only one branch is continued. When the newest rows are on another one, the latest work is out of the conversation.

**What the client does.** It continues from the row that the last `last-prompt` row names, or from the last row of the file, depending on the
release; 2.1.89 takes the newest time. The other branches stay in the file and are never sent.

**What the repair does.** Nothing by itself: branches are never merged. Choose the leaf to continue from; the other branch can become a fork
with an id of its own.

**What to check.** Which branch holds the work that you want, and whether both have changed the same files.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row, RowKind
from ..steps import Context, rows_of
from ..verdicts import Reason

CODES = ("several-leaves",)
EXPLAINED = frozenset(
    (Reason.BEFORE_COMPACTION, Reason.DUPLICATE, Reason.COMPACTION_BOUNDARY, Reason.BEFORE_GAP, Reason.MALFORMED, Reason.READING_STOPPED)
)
"""Why a row without children is no end of another branch."""


def find(inspection: Inspection) -> Iterator[Finding]:
    """An error for branches that are newer than the continued one, another for what follows the row that is continued from; one note for all
    older branches, and for what a person rewound."""
    looked = index.of(inspection)
    leaf = looked.leaf()
    if leaf is None:
        return
    mine = index.newest(row for row in looked.branch if row.kind is RowKind.MESSAGE)
    rewound = any(row.extra.explicit for row in inspection.session.of_type("last-prompt", part=0))
    newer: dict[Row, list[Row]] = {}
    older: list[Row] = []
    beyond: dict[Row, None] = {}
    parents = looked.parents[0]
    for end in (row for row in looked.main if row.id not in parents and _other_end(looked, row)):
        own = list(_own(looked, end))
        messages = [row for row in own if row.kind is RowKind.MESSAGE]
        if messages and own[-1].parent == leaf.id and not rewound:
            beyond.update(dict.fromkeys(messages))
        elif messages and index.newest(messages) > mine:
            newer[end] = messages
        elif messages:
            older.append(end)
    if newer:
        lost = len({row for messages in newer.values() for row in messages})
        yield Finding(
            "several-leaves",
            Severity.ERROR,
            index.refs([leaf, *newer]),
            f"The newest rows are not on the branch that would be continued: {wording.count(len(newer), 'other branch', 'other branches')} with "
            f"{wording.count(lost, 'message row')} would be left out. Choose which one to continue.",
        )
    if beyond:
        yield Finding(
            "several-leaves",
            Severity.ERROR,
            index.refs([leaf, *sorted(beyond, key=lambda row: row.index)]),
            "The conversation goes on behind the row that this client would continue from: "
            f"{wording.count(len(beyond), 'message row')} would be left out.",
        )
    if older:
        yield Finding(
            "several-leaves",
            Severity.INFO,
            index.refs([leaf, *older]),
            f"{wording.count(len(older), 'older branch', 'older branches')} beside the continued one: a rewind, or a call that was left behind.",
        )


def _other_end(looked: index.Index, row: Row) -> bool:
    """Whether a row without children ends another branch."""
    drop = looked.drops.get(row.ref)
    return row not in looked.on_branch and (drop is None or drop.reason not in EXPLAINED)


def _own(looked: index.Index, end: Row) -> Iterator[Row]:
    """Rows of a branch from its end up to where it leaves the continued one."""
    for row in looked.ancestors(end):
        if row in looked.on_branch:
            return
        yield row


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Nothing until a person chooses the row to go on from; then a bookmark for the client."""
    if finding.severity is Severity.INFO:
        return None
    return context.continue_from(finding, rows_of(context, finding))
