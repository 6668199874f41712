"""Legacy attachment: stored context of a kind that today's client no longer sends.

**What it is.** An earlier release saved a file or a folder that a person attached under another name (`new_file`, `new_directory`), or a
reminder of a kind that no longer exists.

**Why it matters.** The model saw that context when it answered; it will not see it again.

**What the client does.** 2.1.89 and 2.1.197 send `new_file` and `new_directory` as a read and a listing; 2.1.332 leaves them out.

**What the repair does.** It renames the type to the one in use (`file`, `directory`), as a step that you can see. Old reminders stay.

**What to check.** Whether the file has changed since: the model would see the old content.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, step

CODES = ("legacy-attachment",)
RENAMED = {"new_file": "file", "new_directory": "directory"}
RETIRED = frozenset("todo todo_reminder compaction_reminder ultramemory background_shell_status background_task_status async_agent_status".split())


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for each attachment that was renamed since and is not sent, one note for all retired kinds."""
    looked = index.of(inspection)
    if inspection.session.client != "claude-code":
        return
    retired = []
    for row in looked.branch:
        kind = getattr(row.extra, "attachment", None)
        if kind in RENAMED:
            lost = row.ref in looked.drops
            yield Finding(
                "legacy-attachment", Severity.WARNING if lost else Severity.INFO, index.refs([row]),
                f"An attachment is stored under its old type `{kind}` (now `{RENAMED[kind]}`)" + (" and would not be sent." if lost else "."),
            )  # fmt: skip
        elif kind in RETIRED and row.ref in looked.drops:
            retired.append(row)
    if retired:
        yield Finding(
            "legacy-attachment", Severity.INFO, index.refs(retired),
            f"{wording.count(len(retired), 'attachment')} of kinds that this client no longer sends.",
        )  # fmt: skip


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Rename the type to the one in use; retired kinds stay."""
    row = context.session.row(finding.rows[0])
    kind = getattr(row.extra, "attachment", None)
    if kind not in RENAMED:
        return None
    id = context.step_id(finding.code, row)
    value = context.value(row)
    attachment = {**value["attachment"], "type": RENAMED[kind]}
    edit = context.rewrite(row, {**value, "attachment": attachment, context.write.MARK: context.mark(id, was=kind)})
    return step(finding.code, id, [row], [edit], f"The old type `{kind}` becomes `{RENAMED[kind]}`.")
