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
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("restored-edit-mode",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding: a warning for `acceptEdits`, a note for `plan`."""
    if inspection.session.client != "claude-code":
        return
    newest = next(reversed(inspection.session.of_type("permission-mode", part=0)), None)
    mode = newest.extra.permission_mode if newest else None
    if newest is not None and mode in ("acceptEdits", "plan"):
        says = "file changes then run without asking" if mode == "acceptEdits" else "nothing is changed until the plan is approved"
        yield Finding(
            "restored-edit-mode", Severity.WARNING if mode == "acceptEdits" else Severity.INFO, index.refs([newest]),
            f"An interactive resume restores the mode `{mode}` without a word: {says}.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Nothing until a person chooses `default`."""
    row = context.session.row(finding.rows[0])
    id = context.step_id(finding.code, row)
    choices = ("keep", "default")
    chosen = context.chosen(id, choices)
    mark = context.mark(id, was=context.value(row).get("permissionMode"))
    edits = [context.with_fields(row, {"permissionMode": "default", context.write.MARK: mark})] if chosen == "default" else []
    why = "The permission mode becomes `default`." if edits else "The permission mode stays; a person may choose `default`."
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen)
