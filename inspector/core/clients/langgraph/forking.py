"""A thread under another id, as it stood at one of its checkpoints: that one, those it came from, what was written under them, and their blobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote

from ... import tablerow
from ...session import Row, Session
from ...source import Part, Source
from .thread import ROOT, Cell, Checkpoint, thread_of

OTHER = "checkpoints that the fork does not go on from, and what was written under them"
BLOBS = "blobs that none of its checkpoints holds"
BROKEN = "damaged and blank lines"


@dataclass(slots=True)
class Copied:
    """What a fork holds, and what it left behind."""

    source: Source
    lineage: dict[str, str] = field(default_factory=dict)
    """New ref -> old ref."""
    left: Counter[str] = field(default_factory=Counter)


def copied(session: Session, row: Row | None, new_id: str) -> Copied | None:
    """The copy at the checkpoint in `row`, or in whose place `row` was written; None: the newest. None where the row is of no such checkpoint."""
    thread = thread_of(session)
    chosen = thread.newest()
    if row is not None:
        cell = row.extra
        chosen = thread.checkpoints.get(ROOT, {}).get(cell.checkpoint_id) if isinstance(cell, Cell) and cell.ns == ROOT else None
    if chosen is None:
        return None
    kept = {checkpoint.id for checkpoint in thread.lineage(chosen)}
    inner = {
        checkpoint.id for ns, checkpoints in thread.checkpoints.items() if ns != ROOT
        for checkpoint in checkpoints.values() if _root_of(checkpoint) in kept
    }  # fmt: skip
    versions = {
        (checkpoint.ns, channel, str(version))
        for checkpoints in thread.checkpoints.values() for checkpoint in checkpoints.values() if checkpoint.id in kept | inner
        for channel, version in checkpoint.versions.items()
    }  # fmt: skip
    made = Copied(session.source)
    parts = []
    for number, part in enumerate(session.source.parts):
        out: list[bytes] = []
        for each in session.rows:
            if each.part != number:
                continue
            why = _stays(each, kept | inner, versions)
            if why is not None:
                made.left[why] += 1
                continue
            made.lineage[f"{number}:{len(out)}"] = each.ref
            out.append(_renamed(session, each, new_id))
        parts.append(Part(part.name.rpartition("/")[0] + "/" + quote(new_id, safe=""), b"".join(out)))
    made.source = Source(session.source.name, tuple(parts), {**session.source.hints, "thread": new_id})
    return made


def _root_of(checkpoint: Checkpoint) -> str | None:
    parents = checkpoint.metadata.get("parents")
    found = parents.get(ROOT) if isinstance(parents, dict) else None
    return found if isinstance(found, str) else None


def _stays(row: Row, kept: set[str], versions: set[tuple[str, str, str]]) -> str | None:
    """Why a row is not taken over, or None."""
    cell = row.extra
    if not isinstance(cell, Cell):
        return BROKEN
    if cell.checkpoint_id:
        return None if cell.checkpoint_id in kept else OTHER
    return None if not cell.version or (cell.ns, cell.channel, cell.version) in versions else BLOBS


def _renamed(session: Session, row: Row, new_id: str) -> bytes:
    record = session.record(row)
    opened = {name: tablerow.decrypted(record, name) for name in record.get(tablerow.DECRYPTED) or {}}
    return tablerow.pack(str(record[tablerow.TABLE]), {**tablerow.unpack(record), "thread_id": new_id}, opened)
