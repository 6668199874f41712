"""Split message: the pieces of one answer of the model do not stand together.

**What it is.** Every block of an answer is a row of its own, all with the same message id. Here rows of something else stand between them:
results of parallel calls (usual), or a prompt or another answer (not usual).

**Why it matters.** The pieces must be sent as one message, with its thinking unchanged. A reader that goes by the order of the rows sends two,
and the provider refuses changed thinking.

**What the client does.** It joins pieces with the same id, also over results; not over a prompt.

**What the repair does.** Nothing: what is joined needs none, and over a prompt the order of what was said is evidence.

**What to check.** Whether two clients wrote at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("split-message",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for each message that a prompt or another answer splits; one note for all that only results split, in the chain or in the file."""
    looked = index.of(inspection)
    joined = {row: number for number, row in enumerate(looked.messages)}
    written = {row: number for number, row in enumerate(sorted(looked.messages, key=lambda row: (row.part, row.index)))}
    usual: list[Row] = []
    for message, pieces in looked.groups.items():
        if len(pieces) < 2 or (_together(pieces, joined) and _together(pieces, written)):
            continue
        between = looked.messages[joined[pieces[0]] : joined[pieces[-1]]]
        barriers = [row for row in between if not index.results_only(row) and (row.role == "user" or index.message_of(row) != message)]
        if barriers:
            yield Finding(
                "split-message",
                Severity.WARNING,
                index.refs([*pieces, *barriers]),
                f"The {len(pieces)} pieces of one answer do not stand together: {wording.count(len(barriers), 'row')} of something else between.",
            )
        else:
            usual += pieces
    if usual:
        yield Finding(
            "split-message",
            Severity.INFO,
            index.refs(usual),
            f"{wording.count(len(usual), 'piece')} of answers have something between them in the file; the client joins them by the message id.",
        )


def _together(pieces: list[Row], place: dict[Row, int]) -> bool:
    places = [place[row] for row in pieces]
    return max(places) - min(places) + 1 == len(pieces)
