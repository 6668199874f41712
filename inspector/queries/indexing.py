"""A derivation -> the rows of its index. Pure: the same derivation gives the same rows, which is what `verify_store` compares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from inspector.core.screen import ScreenItem
from inspector.core.session import BlockKind, Row, RowKind
from inspector.models.text import clean

from .derivation import Derivation

COLUMNS = (
    "seq", "part", "idx", "start", "end", "kind", "type", "uuid", "parent_uuid", "at", "role", "sidechain", "damage", "faults", "blocks", "calls",
    "results", "tools", "on_branch", "pointers", "stage", "reason", "because", "screen_role", "folded", "preview",
)  # fmt: skip
PREVIEW = 240


def rows_of(derivation: Derivation) -> Iterator[tuple[Any, ...]]:
    """One tuple of COLUMNS for each row of every part, in order."""
    looked = derivation.inspection
    session, request = looked.session, looked.request
    branch = set(looked.state.branch)
    drops = {drop.row: drop for drop in (request.drops if request else looked.state.drops)}
    shown: dict[str, ScreenItem] = {}
    for item in looked.screen:
        for ref in item.rows:
            shown.setdefault(ref, item)
    pointers: dict[str, list[str]] = {}
    for place in request.places if request else ():
        pointers.setdefault(place.row, []).append(place.pointer)
    for seq, row in enumerate(session.rows):
        ref = row.ref
        drop, item, at = drops.get(ref), shown.get(ref), pointers.get(ref)
        blocks = row.blocks
        yield (
            seq, row.part, row.index, row.start, row.end, str(row.kind), clean(row.type, 80), clean(row.id, 80), clean(row.parent, 80),
            clean(row.at, 40), clean(row.role, 20), row.sidechain, clean(row.damage, 40), " ".join(row.faults)[:200],
            " ".join([block.kind for block in blocks])[:200] if blocks else "",
            _lines([block.id for block in blocks if block.kind in CALLS]) if blocks else "",
            _lines([block.id for block in blocks if block.kind in RESULTS]) if blocks else "",
            _lines([block.name for block in blocks if block.kind in CALLS]) if blocks else "",
            ref in branch, "\n".join(at) if at else "",
            str(drop.stage) if drop else "", str(drop.reason) if drop else "", (drop.because or "") if drop else "",
            item.role if item else "", item.folded if item else False, _preview(derivation, row, item),
        )  # fmt: skip


CALLS = (BlockKind.CALL, BlockKind.SERVER_CALL)
RESULTS = (BlockKind.RESULT, BlockKind.SERVER_RESULT)


def _lines(names: list[str | None]) -> str:
    return "\n".join([clean(name, 200).replace("\n", " ") for name in names if name])


def _preview(derivation: Derivation, row: Row, item: ScreenItem | None) -> str:
    if item is not None:
        return clean(item.text, PREVIEW)
    if row.kind is RowKind.DAMAGED:
        data = derivation.inspection.session.source.parts[row.part].data[row.start : min(row.end, row.start + PREVIEW)]
        return clean(data.decode("utf-8", "replace").strip())
    return clean(getattr(row.extra, "text", None), PREVIEW)


def added_rows(derivation: Derivation) -> list[dict[str, Any]]:
    """Rows that a resume would add, as JSON objects for the revision."""
    looked = derivation.inspection
    pointers: dict[str, list[str]] = {}
    for place in looked.request.places if looked.request else ():
        pointers.setdefault(place.row, []).append(place.pointer)
    return [
        {"ref": row.ref, "why": row.why, "parent": row.parent, "value": json.loads(json.dumps(row.value)), "pointers": pointers.get(row.ref, [])}
        for row in looked.state.added
    ]
