"""The laws of the house on sessions that are JSON documents: checkpoints in every encoding, sound and damaged."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.core import inspection, reading, repair, report, rulebook
from inspector.core.clients.apple_workflow.envelope import strict
from inspector.core.clients.apple_workflow.read import envelope_of
from inspector.core.edits import DropRow, Edit, InsertRow, ReplaceRow
from inspector.core.errors import ApplyError
from inspector.core.session import RowKind
from inspector.core.splice import splice
from inspector.core.state import ResumeAs
from inspector.core.steps import AS_THE_CLIENT
from tests.core.checkpoints import DECISION, FACT, PLAN, STEPS, Entries, as_data, as_step, checkpoint, encoded, source

AT = "2026-12-01T00:00:00.000Z"
LAW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
TEXTS = st.sampled_from([PLAN, FACT, DECISION, "Refund A-7781 in fu", "", "é/\u2028\n\"x\"", "\U0001f600", "word " * 9000])
ODD = st.sampled_from([None, 7, True, "x", [], {}, [None], {"a": 1}, 10**30, "\ud800", {"state": "open"}])


@st.composite
def transcripts(draw: st.DrawFn) -> dict[str, Any]:
    """An envelope of up to four turns, and what may be wrong with its entries."""
    made = Entries(draw(st.sampled_from([1, "1.1"])))
    if draw(st.booleans()):
        made.instructions("You handle refunds.", *draw(st.sampled_from([(), ("lookup_order",)])))
    for turn in range(draw(st.integers(0, 4))):
        made.prompt(draw(TEXTS))
        for number in range(draw(st.integers(0, 2))):
            id = f"CALL-{turn if draw(st.integers(0, 5)) else 0}-{number}"
            made.calls((id, draw(st.sampled_from(["lookup_order", "create_refund"])), {"order": "A-7781"}))
            if draw(st.integers(0, 4)):
                made.output(id, "lookup_order", draw(TEXTS))
        if draw(st.integers(0, 4)):
            made.response(draw(TEXTS))
    for entry in made.made:
        if not draw(st.integers(0, 15)):
            entry[draw(st.sampled_from(sorted(entry)))] = draw(ODD)
        elif not draw(st.integers(0, 15)):
            entry.pop(draw(st.sampled_from(sorted(entry))))
    return made.envelope()


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """The bytes of a checkpoint or a transcript after a little damage."""
    envelope = draw(transcripts())
    form = draw(st.sampled_from(["base64", "bytes", "text", "object"]))
    outputs = {"plan": PLAN, "gathered": [FACT], "decision": DECISION, "actionResult": "re_1"}
    fields: dict[str, Any] = {name: draw(st.sampled_from([None, value])) for name, value in outputs.items()}
    step = as_step(draw(st.sampled_from(STEPS)), draw(st.sampled_from(["string", "object", "number"])))
    value = checkpoint(step, envelope, form, **fields)
    kind = draw(st.sampled_from(["checkpoint"] * 4 + ["bare", "wrapped", "null", "odd"]))
    if kind == "bare":
        value = envelope
    elif kind == "wrapped":
        value = {"modelName": "system", "transcript": as_data(envelope, draw(st.sampled_from(["object", "base64"])))}
    elif kind == "null":
        value["transcriptData"] = None
    elif kind == "odd":
        value[draw(st.sampled_from([*value, "voteGate", "isResponding"]))] = draw(ODD)
    data = json.dumps(value, indent=draw(st.sampled_from([None, 2])), ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        data = data.replace(b"/", b"\\/")
    damage = draw(st.sampled_from(["none"] * 6 + ["cut", "flip", "more", "bom"]))
    if damage == "cut":
        data = data[: draw(st.integers(0, len(data)))]
    elif damage == "flip":
        place = draw(st.integers(0, len(data) - 1))
        data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
    elif damage == "more":
        data += draw(st.sampled_from([b"\n", b"}", b"\n{}", b"\0\0"]))
    elif damage == "bom":
        data = b"\xef\xbb\xbf" + data
    return data


@LAW
@given(st.one_of(documents(), st.binary(max_size=100)))
def test_rows_tile_their_part(data: bytes) -> None:
    rows = reading.read(source(data), "apple-workflow").rows
    assert [row.start for row in rows] == [0, *(row.end for row in rows)][:-1] if rows else not data
    assert not rows or rows[-1].end == len(data)


@LAW
@given(documents(), st.sampled_from([None, "26.0"]))
def test_every_row_has_a_place_or_exactly_one_drop_and_every_form_is_derived(data: bytes, version: str | None) -> None:
    looked = inspection.inspect(source(data), ResumeAs(prompt="continue", version=version), "apple-workflow")
    drops = Counter(drop.row for drop in looked.state.drops)
    placed = {place.row for place in looked.request.places} if looked.request else set()
    for row in looked.session.rows:
        assert (row.ref in placed) + drops[row.ref] == 1, (row.ref, row.type, drops[row.ref])
    answer = report.answer("x", looked, rulebook.diagnose(looked))
    assert json.dumps(answer)
    refs = {row.ref for row in looked.session.rows}
    assert all(ref in refs for fact in looked.state.facts for ref in fact.rows)
    assert all(ref in refs for finding in answer["findings"] for ref in finding["rows"])


@LAW
@given(documents(), st.data())
def test_rows_that_no_edit_names_say_what_they_said(data: bytes, more: st.DataObject) -> None:
    session = reading.read(source(data), "apple-workflow")
    document = session.documents[0]
    edits: list[Edit] = []
    for row, piece in zip(session.rows, document.pieces, strict=True):
        kind = more.draw(st.sampled_from(["none", "none", "insert", "replace", "drop"]))
        listed = piece.kind in ("head", "element")
        if kind == "insert" and row is not session.rows[-1]:
            edits.append(InsertRow(row.ref, b'{"id":"new"}' if listed else b'{"new": "\xc3\xa9"}', "+1"))
        elif kind == "replace" and piece.kind in ("member", "element"):
            edits.append(ReplaceRow(row.ref, b'{"id":"other"}' if listed else b'{"other": [1]}'))
        elif kind == "drop" and piece.kind in ("member", "element"):
            edits.append(DropRow(row.ref))
    try:
        made = splice(session, edits)
    except ApplyError:
        assert not document.whole
        return
    if not edits:
        assert bytes(made.source.parts[0].data[:]) == data
        return
    changed = {edit.row for edit in edits if not isinstance(edit, InsertRow)}
    kept = [row.ref for row in session.rows if row.ref not in changed]
    assert [old for old in made.lineage.values() if old not in changed] == kept
    new = type(document)(bytes(made.source.parts[0].data[:]), document.opened)
    assert len(new.pieces) == len(made.lineage) + len(made.added)
    for new_ref, old_ref in made.lineage.items():
        old, now = document.pieces[int(old_ref[2:])], new.pieces[int(new_ref[2:])]
        assert old_ref in changed or old.kind == "frame" or now.body == old.body


@LAW
@given(documents(), st.sampled_from([None, "26.0"]), st.booleans())
def test_a_repaired_session_is_sound_and_stays_as_it_is(data: bytes, version: str | None, choose: bool) -> None:
    first = source(data)
    looked = inspection.inspect(first, ResumeAs(version=version), "apple-workflow")
    findings = rulebook.diagnose(looked)
    plan = repair.plan(looked, findings, seed="seed", at=AT)
    if choose:
        choices = {step.id: step.choices[-1] for step in plan.steps() if step.chosen == AS_THE_CLIENT}
        plan = repair.plan(looked, findings, seed="seed", at=AT, choices=choices)
    made = repair.apply(first, plan)
    again = inspection.inspect(made, ResumeAs(version=version), "apple-workflow")
    second = repair.plan(again, rulebook.diagnose(again), seed="another seed", at="2027-01-01T00:00:00.000Z")
    assert bytes(repair.apply(made, second).parts[0].data[:]) == bytes(made.parts[0].data[:]), [step.id for step in second.steps()]
    if again.request is not None:
        assert not [problem for problem in again.request.problems if problem.rule in ("F1", "F2", "F3", "F4", "F5", "F6")]
        if again.state.branch and not [drop for drop in again.state.drops if drop.reason == "not-restored"]:
            assert strict(envelope_of(again.session) or b"") == []
    named = {edit.row for step in plan.steps() for edit in step.edits if not isinstance(edit, InsertRow)}
    for row in looked.session.rows:
        if row.ref not in named and row.kind is not RowKind.FRAME:
            kept = next(ref for ref, was in plan.outcome.lineage.items() if was == row.ref)
            assert again.session.body_of(again.row(kept)) == looked.session.body_of(row)


def test_the_strategy_makes_checkpoints_that_are_taken() -> None:
    assert reading.sniff(source(encoded(checkpoint("plan", plan=PLAN)))) == "apple-workflow"
