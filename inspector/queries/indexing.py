"""A derivation -> the rows of its index. Pure: the same derivation gives the same rows, which is what `verify_store` compares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from inspector.core.session import Block, BlockKind
from inspector.models.text import REFUSED, clean

from .derivation import Derivation

COLUMNS = (
    "seq", "part", "idx", "start", "end", "kind", "type", "uuid", "parent_uuid", "at", "role", "sidechain", "damage", "faults", "blocks", "calls",
    "results", "tools", "on_branch", "pointers", "stage", "reason", "because",
)  # fmt: skip


CALLS = frozenset((BlockKind.CALL, BlockKind.SERVER_CALL))
RESULTS = frozenset((BlockKind.RESULT, BlockKind.SERVER_RESULT))
NO_BLOCKS = ("", "", "", "")


def rows_of(derivation: Derivation) -> Iterator[tuple[Any, ...]]:
    """One tuple of COLUMNS for each row of every part, in order."""
    looked = derivation.inspection
    session, request = looked.session, looked.request
    branch = set(looked.state.branch)
    drops = {drop.row: (drop.stage.value, drop.reason.value, drop.because or "") for drop in (request.drops if request else looked.state.drops)}
    pointers: dict[str, str] = {}
    for place in request.places if request else ():
        pointers[place.row] = f"{pointers[place.row]}\n{place.pointer}" if place.row in pointers else place.pointer
    for seq, row in enumerate(session.rows):
        ref = row.ref
        uuid, parent, at = row.id or "", row.parent or "", row.at or ""
        if REFUSED.search(f"{uuid}{parent}{at}"):
            uuid, parent, at = clean(uuid), clean(parent), clean(at)
        yield (
            seq, row.part, row.index, row.start, row.end, row.kind.value, clean(row.type, 80), uuid[:80], parent[:80], at[:40],
            row.role or "", row.sidechain, row.damage or "", " ".join(row.faults) if row.faults else "",
            *(_blocks(row.blocks) if row.blocks else NO_BLOCKS),
            ref in branch, pointers.get(ref, ""), *drops.get(ref, NO_DROP),
        )  # fmt: skip


NO_DROP = ("", "", "")


def _blocks(blocks: tuple[Block, ...]) -> tuple[str, str, str, str]:
    """Kinds, ids of calls, ids of answered calls, tool names."""
    calls = [block for block in blocks if block.kind in CALLS]
    answered = [block.id for block in blocks if block.kind in RESULTS]
    return (
        " ".join([block.kind.value for block in blocks])[:200],
        _lines([call.id for call in calls]) if calls else "",
        _lines(answered) if answered else "",
        _lines([call.name for call in calls]) if calls else "",
    )


def _lines(names: list[str | None]) -> str:
    return "\n".join([clean(name, 200).replace("\n", " ") for name in names if name])


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
