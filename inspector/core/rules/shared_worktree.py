"""Shared worktree: more than one session works in the same git worktree.

**What it is.** The registry of live processes names another session whose folder is the same worktree.

**Why it matters.** When the session that does not own it ends, it may offer to remove the worktree, with all that the other one has done there.

**What the client does.** It asks at the end whether to keep the worktree, and looks only at uncommitted changes.

**What the repair does.** Nothing on disk. A fork never owns a worktree.

**What to check.** Which session made the worktree, and that the other one is closed without removing it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import registry, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("shared-worktree",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each worktree that two or more sessions use."""
    known = registry.read(inspection.session)
    for path, rows in known.worktrees.items():
        users = [process for process in known.processes if process.cwd == path or process.cwd.startswith(path + "/")]
        if len({process.session for process in users}) > 1:
            busy = next((process.session for process in users if process.status == "busy"), None)
            yield Finding(
                "shared-worktree", Severity.ERROR, tuple(dict.fromkeys((*rows, *(process.row for process in users)))),
                f"{len(users)} live sessions use the worktree `{wording.short(path)}`"
                + (f"; {wording.short(busy, 40)} is busy in it." if busy else "."),
            )  # fmt: skip
