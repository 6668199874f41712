"""Open background task: work was started in the background, and no row says that it ended.

**What it is.** A shell command or a sub-agent runs beside the conversation. Its call has a result ("launched"), and the notice that it ended is
missing.

**Why it matters.** It may have finished, stopped half way, or still run. The transcript can't tell.

**What the client does.** It tells the model that the work did not finish, also where it did. 2.1.89 says nothing.

**What the repair does.** Nothing: the notice is added by the client itself.

**What to check.** The process list, the task's output file, and the sub-agent's own transcript.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("open-background-task",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for all tasks on the branch without a notice of their end."""
    looked, session = index.of(inspection), inspection.session
    started = {row.extra.task: row for row in looked.messages if getattr(row.extra, "task", None)}
    if not started:
        return
    ended = " ".join(row.extra.text or "" for row in looked.messages if "<task-notification>" in (getattr(row.extra, "text", None) or ""))
    for row in looked.branch:
        if getattr(row.extra, "attachment", None) == "queued_command":
            ended += str(session.value(row)["attachment"].get("prompt"))
    open_ = {task: row for task, row in started.items() if f"<task-id>{task}</task-id>" not in ended}
    if open_:
        yield Finding(
            "open-background-task", Severity.WARNING, index.refs(open_.values()),
            f"{wording.count(len(open_), 'background task has', 'background tasks have')} no notice of the end "
            f"({wording.short(next(iter(open_)), 40)}): it may have finished, stopped half way, or still run.",
        )  # fmt: skip
