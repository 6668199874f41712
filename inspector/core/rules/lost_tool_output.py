"""Lost tool output: a result points to a file that is not here.

**What it is.** Large outputs are saved in a file beside the transcript (`tool-results/…`); the row holds the first two kilobytes and the path.

**Why it matters.** The model can't read the rest any more, and neither can you.

**What the client does.** It sends the preview with the path.

**What the repair does.** Nothing: content that is not here can't be made up.

**What to check.** Whether the file still lies in the session's own folder on the machine that it comes from; bring the folder in with the
transcript.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row

CODES = ("lost-tool-output",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding; a note only where nothing of the session's folder was given at all."""
    looked = index.of(inspection)
    here = {name.rsplit("/", 1)[-1] for name in inspection.session.source.names()}
    lost: list[Row] = [
        row for row in looked.messages
        if getattr(row.extra, "persisted", None) and row.extra.persisted.replace("\\", "/").rsplit("/", 1)[-1] not in here
    ]  # fmt: skip
    if not lost:
        return
    given = len(inspection.session.source.parts) > 1
    names = ", ".join(f"`{wording.short(row.extra.persisted.rsplit('/', 1)[-1], 40)}`" for row in lost[:3])
    yield Finding(
        "lost-tool-output", Severity.WARNING if given else Severity.INFO, index.refs(lost),
        f"{wording.count(len(lost), 'saved tool output')} ({names}) "
        + ("not in the session's folder." if given else "not among what was brought in: only the transcript was."),
    )  # fmt: skip
