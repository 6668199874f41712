"""Branch not restored: the newest rows are on a branch that a reopened session does not go on with.

**What it is.** A session of the OpenAI Agents SDK can have branches. Which one was in use is kept in memory only; a session that is opened anew is on
`main`. Here another branch was written last.

**Why it matters.** The model does not see what was said and done on the other branch, and may do it again. Tables that are read without their
branches show both as one conversation, which it never was.

**What the client does.** It goes on with `main`, without a word.

**What the repair does.** Nothing: which branch goes on is the application's choice (`switch_to_branch`).

**What to check.** On which branch the last person worked, and what was done on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..clients.openai_agents.branches import MAIN, branches_of
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("branch-not-restored",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: the rows of the branch that was written last."""
    branches = branches_of(inspection.session) if inspection.session.client == "openai-agents" else None
    if branches is None or len(branches) < 2:
        return
    last = max(branches.values(), key=lambda branch: branch.newest)
    if last.id == MAIN:
        return
    mine = {row.ref for row in branches[MAIN].rows} if MAIN in branches else set()
    own = [row for row in last.rows if row.ref not in mine]
    yield Finding(
        "branch-not-restored", Severity.WARNING if own else Severity.INFO, index.refs(own),
        f"The branch {wording.short(last.id, 60)} was written last, with {wording.count(len(own), 'item')} of its own; a session that is opened anew "
        "goes on with main and does not show them to the model.",
    )  # fmt: skip
