"""The laws of the house, on conversations and on damaged bytes: rows tile, every row has a place or one drop, edits are splices, repair is final."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.core import inspection, reading, repair, rulebook
from inspector.core.edits import CutBytes, DropRow, Edit, InsertRow, ReplaceRow, SplitRow
from inspector.core.session import Session
from inspector.core.splice import splice
from inspector.core.state import ResumeAs

from .transcripts import damaged, source

AT = "2026-12-01T00:00:00.000Z"
LAW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
VERSIONS = st.sampled_from([None, "2.1.197", "2.1.89"])


def read(data: bytes) -> Session:
    return reading.read(source(data), "claude-code")


@LAW
@given(st.one_of(damaged(), st.binary(max_size=200)))
def test_rows_tile_their_part(data: bytes) -> None:
    rows = read(data).rows
    assert [row.start for row in rows] == [0, *(row.end for row in rows)][:-1] if rows else not data
    assert not rows or rows[-1].end == len(data)


@LAW
@given(damaged(), VERSIONS)
def test_every_row_has_a_place_or_exactly_one_drop(data: bytes, version: str | None) -> None:
    looked = inspection.inspect(source(data), ResumeAs(prompt="continue", version=version), "claude-code")
    drops = Counter(drop.row for drop in looked.state.drops)
    placed = {place.row for place in looked.request.places} if looked.request else set()
    for row in looked.session.rows:
        assert (row.ref in placed) + drops[row.ref] == 1, (row.ref, row.type, drops[row.ref])


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    """Bytes, and edits of some of their rows."""
    data = draw(st.lists(st.sampled_from([b"one", b"two two", b"", b'{"a":1}']), max_size=8).map(b"\n".join)) + draw(st.sampled_from([b"", b"\n"]))
    edits: list[Edit] = []
    for row in read(data).rows:
        size = row.end - row.start
        kind = draw(st.sampled_from(["none", "none", "insert", "replace", "drop", "cut", "split"]))
        if kind == "insert":
            edits.append(InsertRow(row.ref, b"new\n", "+1"))
        elif kind == "replace":
            edits.append(ReplaceRow(row.ref, b"other\n"))
        elif kind == "drop":
            edits.append(DropRow(row.ref))
        elif kind == "cut":
            start = draw(st.integers(0, size))
            edits.append(CutBytes(row.ref, start, draw(st.integers(start, size))))
        elif kind == "split":
            edits.append(SplitRow(row.ref, (draw(st.integers(0, size)),)))
    return data, edits


@LAW
@given(edited())
def test_rows_that_no_edit_names_keep_their_bytes_and_order(case: tuple[bytes, list[Edit]]) -> None:
    data, edits = case
    session = read(data)
    made = splice(session, edits)
    new = reading.read(made.source, "claude-code")
    changed = {edit.row for edit in edits if not isinstance(edit, InsertRow)}
    kept = [row.ref for row in session.rows if row.ref not in changed]
    assert [old for old in made.lineage.values() if old not in changed] == kept
    for new_ref, old_ref in made.lineage.items():
        if old_ref not in changed:
            old = session.bytes_of(session.row(old_ref))
            assert new.bytes_of(new.row(new_ref)).rstrip(b"\n") == old.rstrip(b"\n")
    assert len(new.rows) == len(made.lineage) + len(made.added)
    if not edits:
        assert made.source.parts[0].data == data and made.changed_bytes == 0


@LAW
@given(damaged(), VERSIONS)
def test_a_repaired_session_is_sound_and_stays_as_it_is(data: bytes, version: str | None) -> None:
    first = source(data)
    looked = inspection.inspect(first, ResumeAs(version=version), "claude-code")
    plan = repair.plan(looked, rulebook.diagnose(looked), seed="seed", at=AT)
    made = repair.apply(first, plan)
    if plan.refused is not None:
        return
    again = inspection.inspect(made, ResumeAs(version=version), "claude-code")
    second = repair.plan(again, rulebook.diagnose(again), seed="another seed", at="2027-01-01T00:00:00.000Z")
    assert repair.apply(made, second).parts[0].data == made.parts[0].data, [step.id for step in second.steps()]
    sent = inspection.inspect(made, ResumeAs(version=version, prompt="continue"), "claude-code").request
    assert sent is not None and not [problem for problem in sent.problems if problem.blocking]
    named = {edit.row for step in plan.steps() for edit in step.edits if not isinstance(edit, InsertRow)}
    old, new = looked.session, again.session
    for row in old.rows:
        if row.ref not in named:
            kept = next(ref for ref, was in plan.outcome.lineage.items() if was == row.ref)
            assert new.bytes_of(new.row(kept)).rstrip(b"\n") == old.bytes_of(row).rstrip(b"\n")
    ids = Counter(row.id for row in new.rows if row.id and "sessionInspector" in (new.value(row) or {}))
    assert all(number == 1 for number in ids.values())
