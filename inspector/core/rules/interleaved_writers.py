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
from ..session import Row

CODES = ("interleaved-writers",)


def find(inspection: Inspection) -> Iterator[Finding]:
    """A warning for each row where two branches begin whose rows alternate in the file; a note where a branch begins at a row that the
    client's bookmark had already left behind (a second client, or a rewind)."""
    looked = index.of(inspection)
    first, last = _extent(looked)
    bookmarks = [row for row in inspection.session.rows if row.part == 0 and row.type == "last-prompt" and row.extra.leaf]
    for key, children in looked.children.items():
        if key[0] != 0 or len(children) < 2:
            continue
        starts = sorted((row for row in children if not row.sidechain and _turn(looked, row)), key=lambda row: first.get(row, row.index))
        for older, newer in zip(starts, starts[1:], strict=False):
            rows = index.refs([*looked.by_id.get(key, [])[-1:], older, newer])
            if last.get(older, older.index) > first.get(newer, newer.index):
                yield Finding(
                    "interleaved-writers", Severity.WARNING, rows,
                    "Two branches that begin at the same row grew at the same time: two clients were open on this session.",
                )  # fmt: skip
            elif any(last.get(older, older.index) < mark.index < newer.index and not mark.extra.explicit for mark in bookmarks):
                yield Finding(
                    "interleaved-writers", Severity.INFO, rows,
                    "A second branch begins at an older row after the client had moved on: a rewind, or a second client with an old state.",
                )  # fmt: skip


def _turn(looked: index.Index, row: Row) -> bool:
    """Whether a child begins a way of its own, and is not a piece or a result of its parent's message."""
    if index.results_only(row):
        return False
    parents = looked.by_id.get((row.part, row.parent or ""), [])
    message = getattr(row.extra, "message_id", None)
    return not (message and any(getattr(parent.extra, "message_id", None) == message for parent in parents))


def _extent(looked: index.Index) -> tuple[dict[Row, int], dict[Row, int]]:
    """First and last place in the file of each row's descendants, itself included; rows in a circle have none."""
    order: list[Row] = []
    stack = [row for row in looked.main if row.parent is None or (row.part, row.parent) not in looked.by_id]
    seen: set[Row] = set()
    while stack:
        row = stack.pop()
        if row not in seen:
            seen.add(row)
            order.append(row)
            stack += looked.children.get((row.part, row.id or ""), ())
    first = {row: row.index for row in order}
    last = dict(first)
    for row in reversed(order):
        for child in looked.children.get((row.part, row.id or ""), ()):
            first[row] = min(first[row], first.get(child, child.index))
            last[row] = max(last[row], last.get(child, child.index))
    return first, last
