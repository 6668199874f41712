"""Later claim: the model says that something was done of which nobody knows whether it happened.

**What it is.** A call has no result that tells, and the next words of the model read as if it had worked ("Shipped.", "The order has been
refunded."). Only English sentences are recognised, and only those before the next call that changes something. It is a warning where the
sentence names the act, and a note where it may speak of something else ("Done.").

**Why it matters.** A person who reads the conversation takes the sentence for a report. The model wrote it without having seen a result; in the
next request it is a fact of the conversation.

**What the client does.** It sends the sentence as it stands.

**What the repair does.** Nothing: what was said was said. The answer to the call says that nobody knows.

**What to check.** The target of the call, with a read. The sentence is no evidence, in either direction.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import claims, reading, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Session

CODES = ("later-claim",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each uncertain operation that such a sentence follows."""
    for operation in inspection.operations:
        if operation.state != "uncertain" or operation.call is None:
            continue
        claim = next((each.row for each in operation.evidence if each.kind == "assistant-claim" and each.row), None)
        if claim is None:
            continue
        said = claim_in(inspection.session, claim)
        named = claims.names(said, operation.tool, operation.arguments)
        yield Finding(
            "later-claim", Severity.WARNING if named else Severity.INFO, (operation.call, claim),
            f"The model says later: “{wording.short(said)}” Nobody knows whether {wording.operation(operation.tool, operation.arguments)} happened: "
            "the sentence is no proof.",
            operation=operation.key,
        )  # fmt: skip


def claim_in(session: Session, ref: str) -> str:
    """The sentence of a row that claims that something was done."""
    said = getattr(reading.CLIENTS[session.client], "words", None)
    if said is not None:
        return claims.claim_in(said(session, session.row(ref))) or ""
    blocks = wording.blocks_of(session.value(session.row(ref)))
    texts = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
    return claims.claim_in("\n".join(texts)) or ""
