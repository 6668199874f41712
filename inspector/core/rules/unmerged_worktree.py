"""Unmerged worktree: a git worktree holds commits or changes that are nowhere else.

**What it is.** The worktree's branch is ahead of the main one, or has uncommitted changes.

**Why it matters.** Removing the worktree, or its branch, would lose that work. A clean tree is no proof that nothing is lost.

**What the client does.** It looks only at uncommitted changes when it offers to remove a worktree.

**What the repair does.** Nothing on disk.

**What to check.** Merge or push the branch before anybody removes the worktree.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import registry, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("unmerged-worktree",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such worktree that the given list of worktrees names."""
    known = registry.read(inspection.session)
    for path, state in known.unmerged.items():
        said = wording.count(state.ahead, "commit") + " not on the main branch" if state.ahead else "uncommitted changes"
        yield Finding(
            "unmerged-worktree", Severity.ERROR, known.worktrees.get(path, ()),
            f"The worktree `{wording.short(path)}` holds {said}; removing it would lose them.",
        )  # fmt: skip
