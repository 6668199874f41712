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
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("invalid-permission-mode",)
KNOWN = frozenset("default acceptEdits plan bypassPermissions dontAsk auto".split())


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each mode that is not known."""
    if inspection.session.client != "claude-code":
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
