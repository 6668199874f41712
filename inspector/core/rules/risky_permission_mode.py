"""Risky permission mode: the session ran without asking for permission.

**What it is.** The newest permission mode is one that lets tools run unasked (`bypassPermissions`, `dontAsk`).

**Why it matters.** Whatever the model does next could run without a person seeing it first. The mode in a transcript is not to be trusted.

**What the client does.** It does not restore `bypassPermissions`; it starts with its default.

**What the repair does.** Nothing: a person decides about the mode when the session is started again.

**What to check.** What has run in this session while nobody was asked: see its operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("risky-permission-mode",)
UNASKED = ("bypassPermissions", "dontAsk")


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding, about the newest row that names a mode."""
    if inspection.session.client != "claude-code":
        return
    newest = next((row for row in reversed(inspection.session.rows) if row.part == 0 and getattr(row.extra, "permission_mode", None)), None)
    if newest is not None and newest.extra.permission_mode in UNASKED:
        yield Finding(
            "risky-permission-mode", Severity.WARNING, index.refs([newest]),
            f"The session last ran in the mode `{newest.extra.permission_mode}`: tools run without asking.",
        )  # fmt: skip
