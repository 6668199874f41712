"""Removed worktree: the git worktree that the session works in is gone.

**What it is.** The session's last worktree is not in the list of the repository's worktrees.

**Why it matters.** The work lies elsewhere or is lost, and commands that go on after a resume run in another folder.

**What the client does.** 2.1.332 says so, and works in the folder that it is started in.

**What the repair does.** Nothing on disk.

**What to check.** Whether the branch of the worktree still exists (`git branch -a`, `git reflog`), and make the worktree again from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import registry, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("removed-worktree",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding, where the list of worktrees was given."""
    known = registry.read(inspection.session)
    if known.own is not None and known.listed is not None and known.own[0] not in known.listed:
        path, ref = known.own
        said = f"The session works in the worktree `{wording.short(path)}`, which is not among the repository's worktrees any more."
        yield Finding("removed-worktree", Severity.WARNING, (ref,), said)
