"""Facts about the branch: what each rule would take as its leaf, how many rows are reached, and the client's own consistency check."""

from __future__ import annotations

from ...session import Row, moment
from ...state import Fact
from .gathered import BUT_PATH, EVERY, Gathered, fact, not_recorded, refs
from .read import Light


def branch_facts(held: Gathered, leaf: str | None) -> list[Fact]:
    """Leaves, reach, check."""
    rows = {row.id: row for row in held.chain if row.id is not None}
    return [candidate_leaves(held, rows, leaf), reachable_rows(held), consistency_check(held, rows)]


def candidate_leaves(held: Gathered, rows: dict[str, Row], leaf: str | None) -> Fact:
    """What four rules would continue, beside what the simulated release does continue. Later rows win a tie of length."""
    if not rows:
        return not_recorded("candidate-leaves", "There is no row to continue.")
    parents = {row.parent for row in rows.values() if row.parent is not None}
    tips = [row for row in rows.values() if row.id not in parents]
    picks: dict[str, Row | None] = {"physical-last": max(rows.values(), key=lambda row: row.index)}
    named = next((row.extra.leaf for row in reversed(held.rows("last-prompt")) if isinstance(row.extra, Light) and row.extra.leaf), None)
    picks["last-prompt"] = rows.get(named) if named else None
    dated = [(at, -row.index, row) for row in rows.values() if (at := moment(row.at)) is not None]
    picks["latest-timestamp"] = max(dated, key=lambda item: item[:2])[2] if dated else None
    lengths = chain_lengths(rows)
    picks["longest"] = max(tips, key=lambda row: (lengths[row.id or ""], row.index)) if tips else None
    value = {
        "continued": leaf,
        "rules": {rule: row.ref if row else None for rule, row in picks.items()},
        "tips": [{"row": row.ref, "length": lengths[row.id or ""], "at": row.at} for row in tips[-100:]],
    }
    chosen = {row.ref for row in picks.values() if row}
    note = (
        "All rules pick the same row." if len(chosen) == 1 else f"The rules pick {len(chosen)} different rows: releases differ in what they continue."
    )
    if named and picks["last-prompt"] is None:
        note += " The last-prompt row names a row that is not here."
    return fact("candidate-leaves", value, tuple(sorted(chosen, key=lambda ref: held.session.row(ref).index)), EVERY, note)


def chain_lengths(rows: dict[str, Row]) -> dict[str, int]:
    """Id -> rows from the root down to it; a missing parent or a cycle ends the count."""
    lengths: dict[str, int] = {}
    for start in rows:
        path: list[str] = []
        on_path: set[str] = set()
        at: str | None = start
        while at is not None and at in rows and at not in lengths and at not in on_path:
            path.append(at)
            on_path.add(at)
            at = rows[at].parent
        length = lengths.get(at, 0) if at is not None else 0
        for id_ in reversed(path):
            length += 1
            lengths[id_] = length
    return lengths


def reachable_rows(held: Gathered) -> Fact:
    """How much of the conversation the resume reaches."""
    reached, total = len(held.branch), len(held.chain)
    note = (
        "Every row of the conversation is on the continued branch."
        if reached >= total
        else f"{total - reached} rows are on other branches, before a gap, or before a compaction."
    )
    return fact("reachable-rows", {"reached": reached, "of": total}, (), EVERY, note)


def consistency_check(held: Gathered, rows: dict[str, Row]) -> Fact:
    """The check that a client can make when it loads: a finished turn's row says how many rows stood before it.

    In all recorded files that number is the count of ancestors of the row, followed across compactions. A smaller count means that
    history is lost between the row and the root.
    """
    restored = BUT_PATH
    on_branch = {row.ref for row in held.branch}
    for row in reversed(held.rows("system/turn_duration")):
        wrote = held.value(row).get("messageCount")
        if row.ref not in on_branch or not isinstance(wrote, int) or isinstance(wrote, bool):
            continue
        path, seen = [], {row.id}
        at = row
        while (parent := at.parent or (at.extra.logical_parent if isinstance(at.extra, Light) else None)) in rows and parent not in seen:
            assert parent is not None
            seen.add(parent)
            at = rows[parent]
            path.append(at)
        value = {"row": row.ref, "recorded": wrote, "found": len(path), "result": "equal" if len(path) == wrote else "different"}
        says = (
            "Both numbers agree." if len(path) == wrote else f"{wrote} rows stood before this one when it was written, {len(path)} are reached now."
        )
        return fact(
            "consistency-check",
            value,
            refs([row]),
            restored,
            f"{says} Made for a session that is loaded by id; a transcript named by its path is not checked.",
        )
    return not_recorded(
        "consistency-check", "No finished turn on the branch records how many rows stood before it, so nothing can be compared.", restored
    )
