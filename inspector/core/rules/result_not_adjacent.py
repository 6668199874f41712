"""Result not adjacent: a tool result does not stand where the provider wants it.

**What it is.** Between a call and its result there is a prompt or another answer of the model. Or, harmless and usual with parallel calls, the
result hangs beside the chain and not on it.

**Why it matters.** A provider takes a result only in the message right after its call. A reader or a fork that follows the chain alone loses a
result that hangs beside it.

**What the client does.** It joins results to their calls by the message id. It does not move a result over a prompt: such a call is dropped or
the request is refused.

**What the repair does.** It moves a result over what stands between. Results beside the chain need no repair, a fork copies them; a result on
another branch stays there, for no rule can say that it belongs here.

**What to check.** Nothing for the usual kind. Otherwise read the rows in between: the model did not know the result when it wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index, wording
from ..edits import Step
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import BlockKind, Row
from ..steps import Context, rows_of, step

CODES = ("result-not-adjacent",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """An error for each result behind a prompt or another message, or on another branch than its call; one note for all results beside the chain."""
    looked = index.of(inspection)
    fresh: dict[str, dict[str, index.Spot]] = {}
    """Message -> its calls that nothing has come between yet."""
    parted: dict[str, tuple[index.Spot, Row]] = {}
    """Call -> what came before its result."""
    for row in looked.messages:
        if row.ref in looked.drops and not row.blocks:
            continue
        if row.role == "assistant":
            message = index.message_of(row)
            if row.ref not in looked.drops:
                for other in [each for each in fresh if each != message]:
                    parted.update((call_id, (spot, row)) for call_id, spot in fresh.pop(other).items())
            for block in row.blocks:
                if block.kind is BlockKind.CALL and block.id:
                    parted.pop(block.id, None)
                    fresh.setdefault(message, {})[block.id] = index.Spot(row, block)
        elif not index.results_only(row):
            for calls in fresh.values():
                parted.update((call_id, (spot, row)) for call_id, spot in calls.items())
            fresh.clear()
        for block in row.blocks:
            if block.kind is BlockKind.RESULT and block.id is not None:
                if any([calls.pop(block.id, None) for calls in fresh.values()]):
                    parted.pop(block.id, None)
                elif block.id in parted:
                    spot, barrier = parted.pop(block.id)
                    between = "a prompt" if barrier.role == "user" else "another answer"
                    yield Finding(
                        "result-not-adjacent", Severity.ERROR, index.refs([spot.row, barrier, row]),
                        f"The result of {wording.call(inspection.session, spot.row, spot.block)} does not follow its call: {between} stands between.",
                    )  # fmt: skip
    yield from _elsewhere(inspection, looked)
    beside = _beside(looked)
    if beside:
        yield Finding(
            "result-not-adjacent", Severity.INFO, index.refs(beside),
            f"{wording.count(len(beside), 'result of parallel calls hangs', 'results of parallel calls hang')} "
            "beside the chain; the client joins them by the message id.",
        )  # fmt: skip


def _elsewhere(inspection: Inspection, looked: index.Index) -> Iterator[Finding]:
    """Calls on the branch whose results are all on another one: told, not mended, for no rule can say that the result belongs here."""
    for row in looked.messages:
        for block in row.blocks:
            if block.kind is BlockKind.CALL and block.id is not None:
                spots = looked.results.get((row.part, block.id))
                if spots and not any(spot.row in looked.on_branch for spot in spots):
                    yield Finding(
                        "result-not-adjacent",
                        Severity.ERROR,
                        index.refs([row, *(spot.row for spot in spots)]),
                        f"The result of {wording.call(inspection.session, row, block)} is in the file, but not in the conversation that would be "
                        "continued.",
                    )


def _beside(looked: index.Index) -> list[Row]:
    leaf = looked.leaf()
    parents = {row.parent for row in looked.branch}
    return [row for row in looked.messages if row is not leaf and row.id not in parents and index.results_only(row) and row.parent in parents]


def fix(inspection: Inspection, finding: Finding, context: Context) -> Step | None:
    """Hang the result from its call, and what stood between from the result."""
    if finding.severity is Severity.INFO:
        return None
    rows = rows_of(context, finding)
    if len(rows) == 1 and rows[0].role == "user":
        return _results_first(finding, context, rows[0])
    if len(rows) != 3:
        return None
    call, _, result = rows
    message = index.message_of(call)
    path, row = [result], context.parent(result)
    while row is not None and index.message_of(row) != message and row not in path:
        path.append(row)
        row = context.parent(row)
    if row is None or row in path or len(path) < 2:
        return None
    edits = [context.relink(result, row.id), context.relink(path[-1], result.id)]
    edits += [context.relink(child, result.parent) for child in context.children(result) if child not in path]
    return step(finding.code, context.step_id(finding.code, result), [call, result], edits, BEHIND)


BEHIND = "The result stands behind its call again; the rows between follow it."


def _results_first(finding: Finding, context: Context, row: Row) -> Step | None:
    """Within one row, put results before other content."""
    blocks = context.blocks(row)
    sorted_blocks = sorted(blocks, key=lambda block: not (isinstance(block, dict) and block.get("type") == "tool_result"))
    if sorted_blocks == blocks:
        return None
    id = context.step_id(finding.code, row)
    edits = context.without_blocks({}, context.mark(id), {row: sorted_blocks})
    return step(finding.code, id, [row], edits, "Results come first in a message.")
