"""Stale last-prompt: the client's own bookmark names a branch that is no longer the newest.

**What it is.** The last `last-prompt` row, written when the client stopped or changed branches, names a row on another branch than the rows
that were written after it.

**Why it matters.** The next resume returns to the old branch. What was said and done since then is on disk, but out of the conversation. This
happens after a rewind whose process was killed.

**What the client does.** It continues from the row that the bookmark names, unless that row is an ancestor of the last one. 2.1.89 ignores
the bookmark. 2.1.332 writes a better one on a rewind.

**What the repair does.** It adds a `last-prompt` row that names the leaf which a person chooses.

**What to check.** Which of the two branches is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import RowKind
from ..steps import Context
from ..verdicts import Reason

CODES = ("stale-last-prompt",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding; an error where messages of the newer branch would be left out."""
    looked, session = index.of(inspection), inspection.session
    if session.client != "claude-code":
        return
    bookmark = next(reversed(session.of_type("last-prompt", part=0)), None)
    named = looked.by_id.get((0, bookmark.extra.leaf or "")) if bookmark else None
    after = [row for row in looked.main if row.index > bookmark.index] if bookmark else []
    if bookmark is None or not named or not after:
        return
    newest = after[-1]
    if any(row.id == bookmark.extra.leaf for row in looked.ancestors(newest)) or newest in set(looked.ancestors(named[-1])):
        return
    left_out = [row for row in after if row.kind is RowKind.MESSAGE and row not in looked.on_branch]
    if left_out:
        yield Finding(
            "stale-last-prompt", Severity.ERROR, index.refs([bookmark, *left_out]),
            f"The client's bookmark names an older branch: {wording.count(len(left_out), 'message row')} written after it would be left out.",
        )  # fmt: skip
    elif named[-1] not in looked.on_branch and (drop := looked.drops.get(named[-1].ref)) and drop.reason is Reason.OTHER_BRANCH:
        yield Finding(
            "stale-last-prompt", Severity.INFO, index.refs([bookmark]), "The client's bookmark names another branch; this release ignores it."
        )


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Nothing until a person chooses the row to go on from; then a bookmark for the client."""
    if finding.severity is Severity.INFO:
        return None
    leaf, newest = context.looked.leaf(), context.session.row(finding.rows[-1])
    return context.continue_from(finding, [row for row in (leaf, newest) if row is not None])
