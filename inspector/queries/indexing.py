"""A derivation -> the rows of its index. Pure: the same derivation gives the same rows, which is what `verify_store` compares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from inspector.core.session import Block, BlockKind
from inspector.models.text import clean

from .derivation import Derivation

COLUMNS = (
    "seq", "part", "idx", "start", "end", "kind", "type", "uuid", "parent_uuid", "at", "role", "sidechain", "damage", "faults", "blocks", "calls",
    "results", "tools", "on_branch", "pointers", "stage", "reason", "because",
)  # fmt: skip


CALLS = (BlockKind.CALL, BlockKind.SERVER_CALL)
RESULTS = (BlockKind.RESULT, BlockKind.SERVER_RESULT)
LONGEST = 110
"""Characters of both ids and the time that may be stored unseen: longer ones are cut, odd ones cleaned."""
NO_BLOCKS = ("", "", "", "")


def rows_of(derivation: Derivation) -> Iterator[tuple[Any, ...]]:
    """One tuple of COLUMNS for each row of every part, in order. Only plain `str` and `int`: SQLite's driver looks up every other type anew."""
    # `_value_` and not `value`: the property costs as much as all else here, for a million rows.
    looked = derivation.inspection
    request = looked.request
    branch = set(looked.state.branch)
    drops = {drop.row: (drop.stage._value_, drop.reason._value_, drop.because or "") for drop in (request.drops if request else looked.state.drops)}
    pointers: dict[str, str] = {}
    for place in request.places if request else ():
        pointers[place.row] = f"{pointers[place.row]}\n{place.pointer}" if place.row in pointers else place.pointer
    types: dict[str, str] = {}
    for seq, row in enumerate(looked.session.rows):
        ref, word, blocks = row.ref, row.type, row.blocks
        uuid, parent, at = row.id or "", row.parent or "", row.at or ""
        said = f"{uuid}{parent}{at}"
        if len(said) > LONGEST or len(at) > 40 or not said.isascii() or "\0" in said:
            uuid, parent, at = clean(uuid, 80), clean(parent, 80), clean(at, 40)
        if word not in types:
            types[word] = clean(word, 80)
        yield (
            seq, row.part, row.index, row.start, row.end, row.kind._value_, types[word], uuid, parent, at, row.role or "", int(row.sidechain),
            row.damage or "", " ".join(row.faults) if row.faults else "", *(_blocks(blocks) if blocks else NO_BLOCKS), int(ref in branch),
            pointers.get(ref, ""), *drops.get(ref, NO_DROP),
        )  # fmt: skip


NO_DROP = ("", "", "")


def _blocks(blocks: tuple[Block, ...]) -> tuple[str, str, str, str]:
    """Kinds, ids of calls, ids of answered calls, tool names."""
    if len(blocks) == 1:
        (block,) = blocks
        kind, said = block.kind, block.kind._value_
        if block.id is None:
            return said, "", "", ""
        if kind is CALLS[0]:
            return said, _line(block.id), "", _line(block.name)
        if kind is RESULTS[0]:
            return said, "", _line(block.id), ""
    calls = [block for block in blocks if block.kind in CALLS]
    answered = [block.id for block in blocks if block.kind in RESULTS]
    return (
        " ".join([block.kind._value_ for block in blocks])[:200],
        _lines([call.id for call in calls]) if calls else "",
        _lines(answered) if answered else "",
        _lines([call.name for call in calls]) if calls else "",
    )


def _lines(names: list[str | None]) -> str:
    return "\n".join([_line(name) for name in names if name])


def _line(name: str | None) -> str:
    return clean(name, 200).replace("\n", " ")


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
