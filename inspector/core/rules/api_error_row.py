"""API error row: an error text of the client stands where an answer of the model should be.

**What it is.** The request failed, and the client wrote its message ("API Error: …") into the conversation in the model's name.

**Why it matters.** The turn was never answered. The text is none of the model's own and must not reach it.

**What the client does.** It does not send such rows when they carry its mark (model `<synthetic>`); without that mark they are sent as if the
model had said it.

**What the repair does.** Nothing for marked rows. An unmarked one is left out.

**What to check.** Whether the cause is gone (limit, network, a request that the provider refuses): otherwise the next request fails as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row
from ..steps import Context, rows_of, step

CODES = ("api-error-row",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for error texts at the end of the branch and for those that would be sent; one note for all the others."""
    looked = index.of(inspection)
    errors = [row for row in looked.branch if index.api_error(row)]
    if not errors:
        return
    answered = max((looked.place[row] for row in looked.messages), default=-1)
    past = []
    for row in errors:
        sent = row.ref not in looked.drops and getattr(row.extra, "model", None) != "<synthetic>"
        said = wording.short(_text(inspection, row), 80)
        if sent:
            yield Finding(
                "api-error-row", Severity.WARNING, index.refs([row]), f"An error text of the client would be sent as the model's own: `{said}`."
            )
        elif looked.place[row] > answered:
            yield Finding("api-error-row", Severity.WARNING, index.refs([row]), f"The last request failed: `{said}`.")
        else:
            past.append(row)
    if past:
        yield Finding(
            "api-error-row", Severity.INFO, index.refs(past),
            f"{wording.count(len(past), 'error text')} of the client further up; they are not sent.",
        )  # fmt: skip


def _text(inspection: Inspection, row: Row) -> str:
    blocks = wording.blocks_of(inspection.session.value(row))
    return next((each["text"] for each in blocks if isinstance(each, dict) and isinstance(each.get("text"), str) and each["text"].strip()), "no text")


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Leave an error text out that would be sent as the model's own."""
    rows = [row for row in rows_of(context, finding) if getattr(row.extra, "model", None) != "<synthetic>" and row.ref not in context.looked.drops]
    if not rows:
        return None
    why = "An error text of the client is left out: it would be sent as the model's own words."
    return step(finding.code, context.step_id(finding.code, rows[0]), rows, context.leave_out(rows), why)
