"""Invalid permission mode: a mode that no known release has.

**What it is.** A row names a permission mode that is none of the known ones.

**Why it matters.** What a transcript says about permissions is not to be trusted: it can be edited. A mode that does not exist says that it was,
or that another program wrote it.

**What the client does.** It starts with its default mode.

**What the repair does.** It puts `default` in its place, as a step that you can see.

**What to check.** Who or what wrote the row.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, rows_of, step

CODES = ("invalid-permission-mode",)
KNOWN = frozenset("default acceptEdits plan bypassPermissions dontAsk auto".split())


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each mode that is not known."""
    if inspection.session.client != "claude-code":
        return
    if index.of(inspection).told["permission_mode"] <= {None, *KNOWN}:
        return
    rows: dict[str, list[Row]] = {}
    for row in inspection.session.main():
        mode = getattr(row.extra, "permission_mode", None)
        if mode is not None and mode not in KNOWN:
            rows.setdefault(mode, []).append(row)
    for mode, named in rows.items():
        yield Finding(
            "invalid-permission-mode", Severity.WARNING, index.refs(named),
            f"{wording.count(len(named), 'row names', 'rows name')} the permission mode `{wording.short(mode, 40)}`, which does not exist.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put `default` in its place."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0])
    edits = [
        context.with_fields(row, {"permissionMode": "default", context.write.MARK: context.mark(id, was=context.value(row).get("permissionMode"))})
        for row in rows
    ]  # fmt: skip
    return step(finding.code, id, rows, edits, "A permission mode that does not exist becomes `default`.")
