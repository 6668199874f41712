"""Interleaved writers: two clients wrote into the same session.

**What it is.** Two branches grew at the same time: rows of the first one follow rows of the second in the file. There is no lock; any number
of clients can have a session open.

**Why it matters.** Each client saw only its own branch. One turn is lost for the conversation, and both may have changed the same files. A late
result of the first client can bring a call back that the second one had left out.

**What the client does.** Nothing: neither client warns, and the next resume picks one branch.

**What the repair does.** Branches are never merged. Choose one; the other can become a fork with an id of its own.

**What to check.** Whether a client is still open on this session: close it first. Then compare what both branches did to the same files.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import index
from ..findings import Finding, Severity
from ..inspection import Inspection
from ..session import Row, RowKind

CODES = ("interleaved-writers",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for each row where two branches begin whose messages alternate in the file; a note where a branch begins at a row that the
    client's bookmark had already left behind (a second client, or a rewind)."""
    looked = index.of(inspection)
    forks = [key for key, children in looked.children.repeated() if key[0] == 0 and sum(_own_way(looked, row) for row in children) > 1]
    extent = _extents(looked) if forks else {}
    bookmarks = [row for row in inspection.session.of_type("last-prompt", part=0) if row.extra.leaf and not row.extra.explicit]
    for key in forks:
        starts = sorted((row for row in looked.children[key] if row in extent and _own_way(looked, row)), key=lambda row: extent[row])
        for older, newer in zip(starts, starts[1:], strict=False):
            rows = index.refs([*looked.by_id.get(key)[-1:], older, newer])
            ends, begins = extent[older][1], extent[newer][0]
            if ends > begins:
                said = "Two branches that begin at the same row grew at the same time: two clients were open on this session."
                yield Finding("interleaved-writers", Severity.WARNING, rows, said)
            elif any(ends < mark.index < begins for mark in bookmarks):
                said = "A second branch begins at an older row after the client had moved on: a rewind, or a second client with an old state."
                yield Finding("interleaved-writers", Severity.INFO, rows, said)


def _own_way(looked: index.Index, row: Row) -> bool:
    """Whether a child can begin a branch. A result does not: it hangs beside the next piece of its message. Nor does a record, such as
    progress, that nothing hangs from."""
    if row.sidechain or index.results_only(row):
        return False
    return row.kind in index.CHAIN_KINDS or row.id in looked.parents[row.part]


def _extents(looked: index.Index) -> dict[Row, tuple[int, int]]:
    """Row -> first and last place in the file of the messages among its descendants and itself. Rows without any, or in a circle, have none."""
    order: list[Row] = []
    ids = looked.by_id.of(0)
    stack = [row for row in looked.main if row.parent is None or row.parent not in ids]
    seen: set[Row] = set()
    while stack:
        row = stack.pop()
        if row not in seen:
            seen.add(row)
            order.append(row)
            stack += looked.children.get((row.part, row.id or ""))
    extent: dict[Row, tuple[int, int]] = {}
    for row in reversed(order):
        ends = [extent[child] for child in looked.children.get((row.part, row.id or "")) if child in extent]
        if row.kind is RowKind.MESSAGE:
            ends.append((row.index, row.index))
        if ends:
            extent[row] = (min(first for first, _ in ends), max(last for _, last in ends))
    return extent
