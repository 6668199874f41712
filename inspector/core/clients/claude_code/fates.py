"""Why a row is not on the chain that a resume continues: one Drop for each."""

from __future__ import annotations

from ...session import Row, RowKind
from ...verdicts import Drop, Reason, Stage
from .chain import Walker, light

Fate = tuple[Stage, Reason]
NEVER_SENT: dict[RowKind, Fate] = {
    RowKind.BLANK: (Stage.READ, Reason.BLANK),
    RowKind.DAMAGED: (Stage.READ, Reason.DAMAGED),
    RowKind.RECORD: (Stage.READ, Reason.RECORD),
    RowKind.UNKNOWN: (Stage.READ, Reason.UNKNOWN_TYPE),
}
"""Kinds of rows that no resume reads into the conversation -> why."""
PROGRESS: Fate = (Stage.READ, Reason.PROGRESS)
BEFORE_COMPACTION: Fate = (Stage.CHAIN, Reason.BEFORE_COMPACTION)
OTHER_BRANCH: Fate = (Stage.CHAIN, Reason.OTHER_BRANCH)


def explain(walker: Walker) -> None:
    """One Drop for every row of the session that is not on the chain."""
    chain = walker.chain
    on_chain = {row.ref for row in chain.rows}
    compacted = _compacted(walker)
    root = chain.rows[0] if chain.rows else None
    cut = root if root is not None and root.parent is not None and walker.parent_of(root) is not None else None
    leaf = chain.leaf.ref if chain.leaf is not None else None
    for row in walker.session.rows:
        ref, because = row.ref, None
        if ref in on_chain or ref in chain.drops:
            continue
        fate: Fate
        if row.part:
            fate = (Stage.READ, Reason.NOT_A_TRANSCRIPT if row.kind is RowKind.BLOB else Reason.SUB_AGENT)
        elif row.kind in NEVER_SENT:
            fate = PROGRESS if row.type == "progress" else NEVER_SENT[row.kind]
        elif row.id is None:
            fate = (Stage.READ, Reason.MALFORMED)
        elif chain.refused is not None:
            fate = (Stage.CHAIN, Reason.REFUSED)
        elif (same := walker.by_id.get(row.id)) is not row:
            fate, because = (Stage.CHAIN, Reason.DUPLICATE), same.ref if same is not None else None
        elif row.sidechain:
            fate = (Stage.CHAIN, Reason.SIDECHAIN)
        elif row.id in compacted:
            fate, because = BEFORE_COMPACTION, compacted[row.id].ref
        elif cut is not None and row.index < cut.index:
            fate, because = (Stage.CHAIN, Reason.BEFORE_GAP), cut.ref
        else:
            fate, because = OTHER_BRANCH, leaf
        chain.drops[ref] = Drop(ref, *fate, because)


def _compacted(walker: Walker) -> dict[str, Row]:
    """Ids of rows that lie before a boundary of the chain -> that boundary."""
    found: dict[str, Row] = {}
    reached = 0
    waiting = [row for row in walker.chain.rows if light(row).subtype == "compact_boundary"]
    while waiting:
        boundary = waiting.pop()
        at = light(boundary).logical_parent
        while at is not None and at in walker.by_id and at not in found:
            row = walker.by_id[at]
            found[at] = boundary
            if light(row).subtype == "compact_boundary":
                waiting.append(row)
            at = walker.parent_of(row)
        if boundary.index > reached:
            for id, row in walker.by_id.items():
                if reached <= row.index < boundary.index:
                    found.setdefault(id, boundary)
            reached = boundary.index
    return found
