"""Thinking only: an answer of the model that holds thinking and nothing else.

**What it is.** The model was stopped, or ran out of tokens, before it said anything.

**Why it matters.** A message that ends in thinking is refused by the provider.

**What the client does.** It leaves such answers out (2.0.76 sends them). Thinking is kept when another piece of the same answer is kept.

**What the repair does.** It leaves the whole answer out: thinking is all or nothing, and a signed block is never changed.

**What to check.** Nothing is lost but thoughts; if the turn mattered, ask again.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, symptoms
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..steps import Context, rows_of, step

CODES = ("thinking-only",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each such answer on the branch."""
    for pieces in index.of(inspection).groups.values():
        if symptoms.thinking_only(pieces):
            yield Finding(
                "thinking-only", Severity.WARNING, index.refs(pieces), "An answer of the model holds nothing but thinking; it can't be sent."
            )


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave the whole answer out."""
    rows = rows_of(context, finding)
    if not symptoms.thinking_only(rows):
        return None
    why = "An answer of nothing but thinking is left out as a whole; a signed block is never changed."
    return step(finding.code, context.step_id(finding.code, rows[0]), rows, context.leave_out(rows), why)
