"""Second root: the conversation begins anew in the middle of the file.

**What it is.** The first row of the conversation has no parent, and there are older rows before it that it does not hang from.

**Why it matters.** All of the older rows are out of the conversation. A rewind to the very first prompt looks like this and is meant so; a lost
parent looks the same and is not.

**What the client does.** It takes the row for the beginning, without a word.

**What the repair does.** Nothing by itself: a rewind is meant so. You can hang the row from the one that stood before it; that is also done
for a row that the repair itself recovered. A fork at one of the older rows goes on with the older part.

**What to check.** Whether the first prompt of the conversation speaks of things that only the older rows explain.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import RowKind
from ..steps import AS_THE_CLIENT, Context, step
from ..verdicts import Reason

CODES = ("second-root",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """At most one finding; a note where the client's bookmark says that a person rewound."""
    looked = index.of(inspection)
    root = looked.branch[0] if looked.branch else None
    if root is None or root.parent is not None or root.type == "system/compact_boundary" or getattr(root.extra, "compact_summary", False):
        return
    older = [row for row in looked.dropped(Reason.OTHER_BRANCH, Reason.BEFORE_GAP) if row.kind is RowKind.MESSAGE and row.index < root.index]
    if not older or not any(row.parent is None for row in older):
        return
    rewound = any(row.extra.explicit for row in inspection.session.of_type("last-prompt", part=0))
    yield Finding(
        "second-root",
        Severity.INFO if rewound else Severity.WARNING,
        index.refs([root]),
        f"The conversation begins in the middle of the file: {wording.count(len(older), 'older message row')} before it would not be sent.",
    )


RELINK = "relink"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Nothing until a person chooses; but where a recovered row is the new beginning, hang it from the row before it."""
    row = context.session.row(finding.rows[0])
    before = context.before(row)
    if before is None:
        return None
    id = context.step_id(finding.code, row)
    choices = (AS_THE_CLIENT, RELINK) if context.began in (None, row.id) else (RELINK, AS_THE_CLIENT)
    chosen = context.chosen(id, choices)
    why = "The conversation begins with this row; a person may hang it from the row before it."
    edits = []
    if chosen == RELINK:
        edits = [context.relink(row, before.id)]
        why = f"The row hangs from row {context.origin(before.ref)}, so that the older rows stay part of the conversation."
    return step(finding.code, id, [row], edits, why, choices=choices, chosen=chosen)
