"""Bad tool input: the arguments of a call are no object.

**What it is.** The call's `input` is a text, a list or nothing: it was cut while it was being written, or another program stored it so.

**Why it matters.** Every later request of the session is refused.

**What the client does.** It sends the input as it is stored.

**What the repair does.** It wraps the stored value in an object, marked as repaired; nothing of it is lost.

**What to check.** What the tool was really called with: its result may say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import index
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..jsonspans import NotJson, loads
from ..steps import Context, rows_of, step

CODES = ("bad-tool-input",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such call of the derived request."""
    for problem in index.of(inspection).problems.get("A17", ()):
        yield Finding("bad-tool-input", Severity.ERROR, problem.rows, problem.message)


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Wrap the stored value in an object, or take the object that a text spells."""
    contents, marks = {}, []
    rows = rows_of(context, finding)
    for row in rows:
        content = context.blocks(row)[:]
        for number, block in enumerate(content):
            if isinstance(block, dict) and block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
                marks.append(block.get("input"))
                content[number] = {**block, "input": _object(block.get("input"))}
                contents[row] = content
    if not contents:
        return None
    id = context.step_id(finding.code, rows[0])
    edits = context.without_blocks({}, context.mark(id, was=marks), contents)
    return step(finding.code, id, contents, edits, "The call's arguments are put into an object.")


def _object(given: Any) -> dict[str, Any]:
    """The object that a text spells, else an object that holds the value."""
    if isinstance(given, str):
        try:
            spelled = loads(given.encode("utf-8", "surrogatepass"))
        except NotJson:
            spelled = None
        if isinstance(spelled, dict):
            return spelled
    return {} if given is None else {"value": given}
