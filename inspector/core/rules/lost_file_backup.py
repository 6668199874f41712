"""Lost file backup: a saved state of a file is named, and the backup is not here.

**What it is.** Before the client changes a file it keeps a copy in `file-history`; a snapshot row names the copies.

**Why it matters.** Rewinding the files to that point is not possible without the copy.

**What the client does.** A rewind restores what it finds, and says that the rest can't be restored.

**What the repair does.** Nothing: the copy can't be made up.

**What to check.** The folder `file-history` on the machine that the session comes from; copies are cleaned up after 30 days.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("lost-file-backup",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding; a note only where no backup at all was given."""
    names: dict[str, Row] = {}
    session = inspection.session
    rows = [row for type in ("file-history-snapshot", "file-history-delta") for row in session.of_type(type, part=0)]
    for row in sorted(rows, key=lambda row: row.index):
        for name in _named(session.value(row)):
            names.setdefault(name, row)
    if not names:
        return
    here = {name.rsplit("/", 1)[-1] for name in session.source.names()}
    given = any("file-history/" in name for name in session.source.names())
    lost = {name: row for name, row in names.items() if name not in here}
    if lost:
        yield Finding(
            "lost-file-backup", Severity.WARNING if given else Severity.INFO, index.refs(dict.fromkeys(lost.values())),
            f"{len(lost):,} of {wording.count(len(names), 'file backup')} "
            + ("not in the folder of backups." if given else "not among what was brought in."),
        )  # fmt: skip


def _named(value: Any) -> Iterator[str]:
    """Backup names of a snapshot or a delta row."""
    if not isinstance(value, dict):
        return
    snapshot = value.get("snapshot")
    tracked = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    for backup in [*(tracked.values() if isinstance(tracked, dict) else ()), value.get("backup")]:
        if isinstance(backup, dict) and isinstance(backup.get("backupFileName"), str):
            yield backup["backupFileName"]
