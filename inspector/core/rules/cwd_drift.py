"""Working folder drift: the session moved to another folder.

**What it is.** Rows name a working folder outside the one that the session began in.

**Why it matters.** The client does not restore the folder. Commands that go on after a resume run where the client was started, and relative
paths point elsewhere.

**What the client does.** It works in the folder that it is started in.

**What the repair does.** Nothing.

**What to check.** Start the client in the folder of the last row. Rows of another project may belong to another session.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("cwd-drift",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for each folder outside the first one that rows of the branch name; a note for folders inside it, and for other rows."""
    looked = index.of(inspection)
    if len(looked.told["cwd"] - {None}) < 2:
        return
    first: dict[str, Row] = {}
    for row in [*looked.branch, *looked.main]:
        cwd = getattr(row.extra, "cwd", None)
        if cwd is not None and row.part == 0:
            first.setdefault(cwd, row)
    if len(first) < 2:
        return
    home = next(iter(first))
    for cwd, row in list(first.items())[1:]:
        inside = cwd.startswith((home.rstrip("/") + "/", home.rstrip("\\") + "\\")) or home.startswith(cwd.rstrip("/") + "/.claude/worktrees/")
        severity = Severity.WARNING if row in looked.on_branch and not inside else Severity.INFO
        yield Finding("cwd-drift", severity, index.refs([row]), f"The working folder changes from `{wording.short(home)}` to `{wording.short(cwd)}`.")
