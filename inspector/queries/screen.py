"""What the rows of a window showed on the screen, read from their own bytes: nothing else of the session is parsed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django.db.models import Q

from inspector.core import reading
from inspector.core.session import Row, RowKind, Session
from inspector.core.source import Buffer, Part, Source
from inspector.models import IndexedRow, Revision
from inspector.models import Session as StoredSession

from .artifacts import part_bytes

PREVIEW = 240
BEFORE = 410
"""Rows before one with a failed result in which its call is looked for."""
SPEAKS = ("message", "context", "system")
NOTHING = Row(0, 0, 0, 0, RowKind.BLANK, "blank")


def with_screen(*, revision: Revision, rows: Iterable[IndexedRow], limit: int = PREVIEW) -> list[IndexedRow]:
    """The rows, in the order given, each with `screen_role`, `folded` and `preview` (at most `limit` characters) set.

    A row that showed nothing has the role ""; its preview is the beginning of its text, or for damaged rows of its bytes.
    Raises OSError, ReadError.
    """
    rows = list(rows)
    client = reading.CLIENTS.get(revision.session.client)
    for number, found in groupby(sorted(rows, key=lambda row: row.seq), key=lambda row: row.part):
        mine = list(found)
        data = part_bytes(revision=revision, number=number)
        if hasattr(client, "screen_items"):
            _show(client, revision, data, mine, limit)
        for row in mine:
            if row.kind == "damaged":
                row.preview = data[row.start : min(row.end, row.start + limit)].decode("utf-8", "replace").strip()
    return rows


def _show(client: Any, revision: Revision, data: Buffer, mine: list[IndexedRow], limit: int) -> None:
    """Read these rows, and what is needed before them, as a session in which all other rows are blank."""
    # A sub-agent's rows stand aside in the main transcript, but are what its own screen would show.
    alone = mine[0].part == 0 and revision.session.relation == StoredSession.Relation.SUB_AGENT
    number = 1 if alone or mine[0].part else 0

    def read(idx: int, start: int, end: int) -> Row:
        row: Row = client.read_line(number, idx, start, end, data[start:end], end == len(data))
        return row

    spoken = {row.idx: read(row.idx, row.start, row.end) for row in mine if row.kind in SPEAKS}
    if not spoken:
        return
    failed = [idx for idx, row in spoken.items() if any(block.error for block in row.blocks) or _stopped(row)]
    if failed:
        first = mine[0].seq - mine[0].idx
        stored = IndexedRow.objects.filter(Q(calls__gt="") | Q(results__gt=""), revision=revision, part=mine[0].part)
        stored = stored.filter(seq__gte=first + failed[0] - BEFORE, seq__lt=first + failed[-1])
        for idx, start, end in stored.order_by("-seq").values_list("idx", "start", "end")[: 3 * BEFORE]:
            spoken.setdefault(idx, read(idx, start, end))
    lines = [NOTHING] * (max(spoken) + 1)
    for idx, row in spoken.items():
        lines[idx] = row
    part = Part("rows", data)
    session = Session(client.NAME, Source("window", (part, part)[: number + 1]), lines)
    for row in mine:
        light = spoken.get(row.idx)
        if light is None:
            continue
        item = next(iter(client.screen_items(session, [light])), None)
        if item is not None:
            row.screen_role, row.folded, row.preview = item.role, item.folded, item.text[:limit]
        else:
            row.preview = (getattr(light.extra, "text", None) or "")[:limit]


def _stopped(row: Row) -> bool:
    """Whether the row says that a person stopped the turn: what it shows depends on the results before it."""
    return (getattr(row.extra, "text", None) or "").startswith("[Request interrupted")
