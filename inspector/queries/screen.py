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
from .derivation import inspection_of
from .rows import pattern_of, slices
from .rows import search as search_bytes

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
        if by_line(client) and hasattr(client, "screen_items"):
            _show(client, revision, data, mine, limit)
        elif hasattr(client, "words"):
            _show_whole(client, revision, mine, limit)
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


def by_line(client: Any) -> bool:
    """Whether a client's rows are lines that are read one by one; others are read from the whole session."""
    return hasattr(client, "read_line") or not hasattr(client, "screen_items")


def _show_whole(client: Any, revision: Revision, mine: list[IndexedRow], limit: int) -> None:
    session = inspection_of(revision=revision).inspection.session
    for row in mine:
        light = session.row(row.ref)
        item = next(iter(client.screen_items(session, [light])), None)
        if item is not None:
            row.screen_role, row.folded, row.preview = item.role, item.folded, item.text[:limit]
        else:
            row.preview = client.words(session, light)[:limit]


def bodies(*, revision: Revision, rows: Iterable[IndexedRow]) -> list[bytes]:
    """What each row says in plain JSON: its exact bytes, for rows that are lines. Raises OSError, ReadError."""
    rows = list(rows)
    if by_line(reading.CLIENTS.get(revision.session.client)):
        return slices(revision=revision, rows=rows)
    session = inspection_of(revision=revision).inspection.session
    return [session.body_of(session.row(row.ref)) for row in rows]


def search(*, revision: Revision, text: str, part: int | None = None, limit: int = 200) -> list[str]:
    """Refs of rows that hold `text`, as `rows.search` finds them; of a document's rows in what they say, in whatever form they are stored."""
    if by_line(reading.CLIENTS.get(revision.session.client)):
        return search_bytes(revision=revision, text=text, part=part, limit=limit)
    pattern = pattern_of(text)
    session = inspection_of(revision=revision).inspection.session
    rows = (row for row in session.rows if part is None or row.part == part)
    return [row.ref for row in rows if pattern is not None and pattern.search(session.body_of(row))][:limit]


def _stopped(row: Row) -> bool:
    """Whether the row says that a person stopped the turn: what it shows depends on the results before it."""
    return (getattr(row.extra, "text", None) or "").startswith("[Request interrupted")
