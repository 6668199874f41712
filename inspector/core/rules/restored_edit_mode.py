"""Restored edit mode: the next resume lets file changes through unasked, without saying so.

**What it is.** The last permission mode of an interactive session is `acceptEdits`.

**Why it matters.** A person who resumes expects to be asked. The first file change runs at once.

**What the client does.** 2.1.332 restores `acceptEdits` and `plan` in its interactive mode; 2.1.197 always starts with the default.

**What the repair does.** It can put `default` in its place, when you choose so.

**What to check.** Whether you want that: the mode can be changed after the start.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("restored-edit-mode",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: a warning for `acceptEdits`, a note for `plan`."""
    if inspection.session.client != "claude-code":
        return
    newest = next((row for row in reversed(inspection.session.rows) if row.part == 0 and row.type == "permission-mode"), None)
    mode = newest.extra.permission_mode if newest else None
    if newest is not None and mode in ("acceptEdits", "plan"):
        says = "file changes then run without asking" if mode == "acceptEdits" else "nothing is changed until the plan is approved"
        yield Finding(
            "restored-edit-mode", Severity.WARNING if mode == "acceptEdits" else Severity.INFO, index.refs([newest]),
            f"An interactive resume restores the mode `{mode}` without a word: {says}.",
        )  # fmt: skip
