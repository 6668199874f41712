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
from typing import Any

from .. import index
from ..dialects.anthropic_messages import IMAGE_BYTES, IMAGE_PIXELS, MANY_IMAGE_PIXELS
from ..edits import Step
from ..findings import Finding, Severity
from ..images import pixels
from ..inspection import Inspection
from ..steps import Context, rows_of, step

CODES = ("oversized-image", "many-large-images")


def find(inspection: Inspection) -> Iterator[Finding]:
    """One finding for each image of the derived request that is too large."""
    for problem in index.of(inspection).problems.get("A15", ()):
        code = "many-large-images" if "more than" in problem.message else "oversized-image"
        yield Finding(code, Severity.ERROR, problem.rows, problem.message)


LEFT_OUT = "[An image was left out here: it is larger than the provider takes. The original transcript still holds it.]"


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Put a marked text in the place of the images that are too large."""
    rows = rows_of(context, finding)
    id = context.step_id(finding.code, rows[0]) if rows else ""
    side = MANY_IMAGE_PIXELS if finding.code == "many-large-images" else IMAGE_PIXELS
    contents = {row: [_smaller(block, side) for block in context.blocks(row)] for row in rows}
    contents = {row: content for row, content in contents.items() if content != context.blocks(row)}
    edits = context.without_blocks({}, context.mark(id), contents)
    return step(finding.code, id, contents, edits, "A text stands in the place of an image that is too large; the original keeps it.")


def _smaller(block: Any, side: int) -> Any:
    """The block, with a text in the place of an image over the limits; images inside results included."""
    if not isinstance(block, dict):
        return block
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        return {**block, "content": [_smaller(each, side) for each in block["content"]]}
    source = block.get("source")
    data = source.get("data") if block.get("type") == "image" and isinstance(source, dict) else None
    if not isinstance(data, str):
        return block
    size = pixels(data)
    return {"type": "text", "text": LEFT_OUT} if len(data) > IMAGE_BYTES or (size and max(size) > side) else block
