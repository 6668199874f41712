"""Image limits: images that are larger than the provider takes.

**What it is.** An image has too many pixels or bytes (`oversized-image`), or it would be fine alone, and is too large for a request with more
than 20 images (`many-large-images`).

**Why it matters.** Every later request of the session is refused, also when the image is long past.

**What the client does.** It sends the images as they are stored.

**What the repair does.** It puts a marked text in the place of the images that are too large; the original keeps them.

**What to check.** Whether the model still needs to see them: they can be brought in again, smaller.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection

CODES = ("oversized-image", "many-large-images")


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each image of the derived request that is too large."""
    for problem in index.of(inspection).problems.get("A15", ()):
        code = "many-large-images" if "more than" in problem.message else "oversized-image"
        yield Finding(code, Severity.ERROR, problem.rows, problem.message)
