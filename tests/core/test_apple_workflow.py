"""Apple workflows: recorded cases, every encoding of the same checkpoint, what a new session is given, and repairs that its decoder takes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inspector.core import fork, reading, repair, report
from inspector.core.clients.apple_workflow.checkpoint import ASSUMED, checkpoint_of, moment_of
from inspector.core.clients.apple_workflow.envelope import strict
from inspector.core.clients.apple_workflow.read import envelope_of
from inspector.core.clients.apple_workflow.resume import FRESH, next_step
from inspector.core.errors import PlanError, ReadError
from inspector.core.findings import Severity
from inspector.core.inspection import Inspection, inspect
from inspector.core.rulebook import diagnose
from inspector.core.source import Source
from inspector.core.state import ResumeAs
from inspector.core.steps import Resolution
from tests.core.checkpoints import (
    CORPUS,
    DECISION,
    FACT,
    PLAN,
    PROMPT,
    STEPS,
    Entries,
    as_data,
    as_step,
    checkpoint,
    decided,
    encoded,
    looked_at,
    planned,
    recorded,
    segment,
    source,
)  # fmt: skip

AT = "2026-12-01T00:00:00.000Z"


def verdict(looked: Inspection) -> str:
    return report.verdict(looked, diagnose(looked))


def codes(looked: Inspection, above_info: bool = True) -> set[str]:
    return {finding.code for finding in diagnose(looked) if not above_info or finding.severity is not Severity.INFO}


def repaired(looked: Inspection, resolutions: dict[str, Resolution] | None = None, **choices: str) -> tuple[repair.Plan, Inspection]:
    """The plan with choices by finding's code (`_` for `-`), and what it makes; applied for real."""
    first = repair.plan(looked, diagnose(looked), seed="s", at=AT, resolutions=resolutions)
    ids = {step.finding.replace("-", "_"): step.id for step in first.steps()}
    chosen = {ids[code]: choice for code, choice in choices.items()}
    plan = repair.plan(looked, diagnose(looked), seed="s", at=AT, resolutions=resolutions, choices=chosen)
    return plan, inspect(repair.apply(looked.session.source, plan), looked.resume_as)


def value_of(looked: Inspection | Source) -> dict[str, Any]:
    parts = (looked.session.source if isinstance(looked, Inspection) else looked).parts
    value = json.loads(bytes(parts[0].data[0 : len(parts[0].data)]))
    assert isinstance(value, dict)
    return value


def entries_of(looked: Inspection) -> list[dict[str, Any]]:
    assert looked.request is not None
    found = looked.request.body["transcript"]["entries"]
    assert isinstance(found, list)
    return found


def instructions(looked: Inspection) -> str:
    entries = entries_of(looked)
    assert [entry["role"] for entry in entries][:1] == ["instructions"]
    return "\n".join(each["text"] for each in entries[0]["contents"])


# --- recorded cases ---

OURS = {
    "STEP_NOT_ADVANCED": "step-not-advanced", "INCONSISTENT_STEP_MISSING_INPUT": "inconsistent-step",
    "TRANSCRIPT_UNDECODABLE": "transcript-undecodable", "PARTIAL_LAST_RESPONSE_SUSPECTED": "partial-response",
    "UNRESOLVED_TOOL_CALL": "unresolved-call", "UNCERTAIN_OPERATION": "uncertain-operation", "DONE": "already-done",
}  # fmt: skip
SAID = {"RESUMABLE", "FALLBACK_AVAILABLE", "STEP_INPUTS_COMPLETE", "TRANSCRIPT_V1", "NO_TRANSCRIPT"}
"""Codes of the cases that are states here, not faults: each is asked for below."""
VERDICTS = {
    "01": ("needs-repair", "gather"), "02": ("ready", "gather"), "03": ("blocked", None), "04": ("ready", "decide"), "05": ("needs-repair", "decide"),
    "06": ("needs-reconciliation", "act"), "07": ("finished", None), "09": ("ready", "gather"),
}  # fmt: skip
"""What the case says of the resume: our verdict, and the step that runs."""


@pytest.mark.parametrize("case", sorted(path.parent for path in CORPUS.glob("*/expected.json")), ids=lambda path: path.name)
def test_each_recorded_case_has_its_codes_and_its_resume(case: Path) -> None:
    expected = json.loads((case / "expected.json").read_text())
    looked = inspect(source(next((case / "source").iterdir()).read_bytes()))
    said = set(expected["codes"])
    assert said <= OURS.keys() | SAID
    mine = {OURS[code] for code in said - SAID}
    assert mine <= codes(looked, above_info=False)
    assert codes(looked) <= mine
    held = checkpoint_of(looked.session)
    assert held is not None and (verdict(looked), next_step(held)) == VERDICTS[case.name[:2]]
    facts = {fact.name: fact for fact in looked.state.facts}
    if "FALLBACK_AVAILABLE" in said:
        assert PLAN[:10] in instructions(looked) and FACT[:14] in instructions(looked)
    if "NO_TRANSCRIPT" in said:
        assert not facts["transcript"].known and "1. Look up order" in instructions(looked)
    if "TRANSCRIPT_V1" in said:
        assert facts["transcript-version"].value == 1 and facts["transcript-version"].known
    if "RESUMABLE" in said or "STEP_INPUTS_COMPLETE" in said:
        assert looked.state.refused is None and looked.request is not None


@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.parents[1].name if path.parent.name == "source" else path.parent.name)
def test_an_untouched_session_is_written_as_it_was(path: Path) -> None:
    looked = inspect(source(path.read_bytes()))
    plan = repair.plan(looked, [], seed="s", at=AT)
    made = repair.apply(looked.session.source, plan)
    assert made.parts[0].data == path.read_bytes() and not plan.steps()


def test_a_stopped_act_of_a_26_release_is_closed_and_its_missing_keys_are_put_in() -> None:
    looked = inspect(source((CORPUS / "76-apple-fm-checkpoint-stopped-in-act" / "input.json").read_bytes()))
    assert {"unresolved-call", "uncertain-operation", "partial-response", "transcript-undecodable"} == codes(looked)
    assert "not to be run again: plan, gather, decide" in " ".join(finding.message for finding in diagnose(looked))
    _, after = repaired(looked)
    assert strict(envelope_of(after.session) or b"") == [] and codes(after) == {"uncertain-operation", "partial-response"}
    _, settled = repaired(after, {"tc1": Resolution("happened", "Seen in the calendar.", "anna", AT)}, partial_response="not-responding")
    assert codes(settled) == set() and value_of(settled)["isResponding"] is False


# --- encodings ---


@pytest.mark.parametrize("step", ["plan", "gather", "decide", "act", "done"])
@pytest.mark.parametrize("form", ["string", "object", "number"])
def test_a_step_is_recognised_in_each_encoding_and_kept_in_it(step: str, form: str) -> None:
    more = dict(list({"plan": PLAN, "gathered": [FACT], "decision": DECISION, "actionResult": "re_1"}.items())[: STEPS.index(step)])
    looked = looked_at(checkpoint(as_step(step, form), **more))
    held = checkpoint_of(looked.session)
    assert held is not None and (held.step, held.step_form) == (step, form)
    assert verdict(looked) == ("finished" if step == "done" else "ready") and codes(looked) == set()
    if step in ("plan", "decide", "act"):
        output = {"plan": ("plan", PLAN), "decide": ("decision", DECISION), "act": ("actionResult", "re_1")}[step]
        before = looked_at(checkpoint(as_step(step, form), **more, **{output[0]: output[1]}))
        plan, after = repaired(before)
        following = STEPS[STEPS.index(step) + 1]
        assert [each.finding for each in plan.steps()] == ["step-not-advanced"]
        assert value_of(after) == {**value_of(before), "step": as_step(following, form)}


def test_an_enum_object_keeps_the_form_it_is_written_in() -> None:
    data = b'{"step": {\n    "plan" : {}\n  }, "plan":"p","userPrompt":"u"}'
    _, after = repaired(looked_at(data))
    assert after.session.source.parts[0].data == data.replace(b'"plan" :', b'"gather" :')


@pytest.mark.parametrize("slashes", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", ["base64", "bytes", "text", "object"])
def test_a_transcript_is_read_and_kept_in_each_form(form: str, indent: int | None, slashes: bool) -> None:
    value = checkpoint("plan", planned().response("It/is \u2028 lost."), form, plan=PLAN, gathered=[FACT])
    looked = looked_at(value, indent=indent, slashes=slashes)
    assert [entry["role"] for entry in entries_of(looked)] == ["instructions", "user", "response", "user", "response", "tool", "response"]
    plan, after = repaired(looked)
    assert after.session.source.parts[0].data == bytes(looked.session.source.parts[0].data[:]).replace(b'"plan"', b'"gather"', 1)
    assert plan.outcome.changed_bytes < 16


@pytest.mark.parametrize("absent", [True, False])
def test_absent_and_null_are_the_same(absent: bool) -> None:
    value = checkpoint("gather", plan=PLAN)
    if not absent:
        value |= dict.fromkeys(("gathered", "decision", "actionResult", "transcriptData"))
    looked = looked_at(value)
    assert verdict(looked) == "ready" and codes(looked) == set() and PLAN in instructions(looked)


@pytest.mark.parametrize(
    ("value", "at", "form"),
    [
        ("2026-11-29T10:15:02Z", "2026-11-29T10:15:02Z", "iso8601"), ("2026-11-29T11:15:02.250+01:00", "2026-11-29T10:15:02.250Z", "iso8601"),
        (817640102.25, "2026-11-29T10:15:02.250Z", "apple"), (1795947302, "2026-11-29T10:15:02Z", "s1970"),
        (1795947302250, "2026-11-29T10:15:02.250Z", "ms1970"), ("soon", None, None), (True, None, None), (None, None, None), (1e300, None, None),
        (10**30, None, None),
        (-5e17, None, None),
    ],
)  # fmt: skip
def test_dates_are_recognised_and_it_is_shown_which_was_assumed(value: Any, at: str | None, form: str | None) -> None:
    assert moment_of(value) == (at, form)
    looked = looked_at(checkpoint("gather", plan=PLAN) | {"updatedAt": value})
    fact = next(fact for fact in looked.state.facts if fact.name == "updated-at")
    assert fact.value == at and fact.known is (at is not None)
    assert form is None or ASSUMED[form] in fact.note
    assert codes(looked) == set()


def envelopes() -> dict[str, Any]:
    envelope, old = decided().envelope(), planned(1).envelope()
    return {
        "bare": envelope, "bare version 1": old, "fm": {"modelName": "system", "transcript": envelope},
        "annotated": {"transcript": envelope, "annotations": [{"x": 1}]}, "feedback": {"sentiment": "negative", "input": {"transcript": envelope}},
        "feedback with data": {"issues": [], "logFeedbackAttachment": as_data({"modelName": "m", "transcript": envelope}, "base64")},
    }  # fmt: skip


@pytest.mark.parametrize("name", list(envelopes()))
def test_a_transcript_without_a_workflow_is_found_in_any_wrapper(name: str) -> None:
    looked = looked_at(envelopes()[name], prompt="go on")
    assert looked.session.client == "apple-workflow" and verdict(looked) == "ready" and codes(looked) == set()
    entries = entries_of(looked)
    assert [entry["role"] for entry in entries[:3]] == ["instructions", "user", "response"] and entries[-1]["contents"][0]["text"] == "go on"
    assert ("contextOptions" in entries[-1]) is (name != "bare version 1")
    assert looked.request is not None and looked.request.problems == []
    assert looked.state.model == {"fm": "system"}.get(name, "SystemLanguageModel.default")
    assert not next(fact for fact in looked.state.facts if fact.name == "workflow").known


@pytest.mark.parametrize(
    "value",
    [{"step": "plan"}, {"a": 1}, {"type": "module", "version": 1}, {"step": 1, "name": "x"}, {"transcript": "hello"}, {"entries": []}],
)  # fmt: skip
def test_other_documents_are_not_taken(value: Any) -> None:
    assert reading.sniff(source(value)) == "raw"


def test_json_lines_are_not_taken_for_a_damaged_document() -> None:
    line = encoded({"type": "x", "text": "transcriptData"}, None) + b'\n{"transcriptData": 1}\n{"step"'
    assert reading.sniff(source(line, "x.jsonl")) == "raw"


def test_a_transcript_in_a_damaged_text_is_still_told_by_its_content() -> None:
    data = encoded(checkpoint("gather", planned(), plan=PLAN))
    for cut in (len(data) - 2, len(data) - 60, 200):
        looked = looked_at(data[:cut])
        assert looked.session.client == "apple-workflow" and verdict(looked) == "blocked"
        assert codes(looked) == {"truncated-tail"} and not any(finding.repairable for finding in diagnose(looked))
        assert b"".join(looked.session.bytes_of(row) for row in looked.session.rows) == data[:cut]
    looked = looked_at(data.replace(b'"userPrompt"', b'\0userPrompt"'))
    assert "unparseable-row" in codes(looked) and verdict(looked) == "blocked"
    assert codes(looked_at(data.replace(b'"plan": ', b'"plan": NaN, "x": '))) == {"unparseable-row"}
    assert codes(looked_at(data.replace(b"\n}", b",\n}"))) == {"unparseable-row"}


@pytest.mark.parametrize("more", [b"\0" * 40, b'\n  "updatedAt": 817640102.25\n}', b"}", b" null"])
def test_what_follows_a_document_is_left_out(more: bytes) -> None:
    data = encoded(checkpoint("gather", planned(), plan=PLAN, gathered=[FACT]))
    looked = inspect(source(data + more))
    assert looked.session.client == "apple-workflow" and codes(looked) == {"unparseable-row"} and verdict(looked) == "blocked"
    assert checkpoint_of(looked.session).step == "gather"  # type: ignore[union-attr]
    _, after = repaired(looked)
    assert bytes(after.session.source.parts[0].data[:]) == data and verdict(after) == "ready" and codes(after) == set()


def test_a_release_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(ReadError, match="no release '12'"):
        inspect(source(checkpoint("plan")), ResumeAs(version="12"))
    assert inspect(source(checkpoint("plan")), ResumeAs(version="26.1")).state.version == "26.0"


# --- what the new session is given ---


def test_a_new_session_gets_the_transcript_and_what_it_replaces_is_said() -> None:
    looked = looked_at(checkpoint("gather", planned(), plan=PLAN), prompt="Go on.")
    assert entries_of(looked)[:-1] == planned().made and FRESH not in json.dumps(entries_of(looked))
    added = " ".join(looked.state.added_at_send)
    assert "the prompt of the step gather" in added and FRESH in added and "unless the app passes its tools" in added
    facts = {fact.name: fact for fact in looked.state.facts}
    assert facts["tools"].value == ["lookup_order", "create_refund"] and not facts["tools"].restored.normal
    assert "replaces the instructions" in facts["instructions"].note


def test_the_clean_session_can_be_shown_although_the_transcript_can_be_restored() -> None:
    value = checkpoint("decide", planned(), plan=PLAN, gathered=[FACT])
    looked = inspect(source(value), ResumeAs(gates=(("clean-session", True),)))
    assert PLAN in instructions(looked) and FACT in instructions(looked) and len(entries_of(looked)) == 1
    assert {drop.reason for drop in looked.state.drops if looked.row(drop.row).kind == "message"} == {"not-restored"}
    assert len(entries_of(inspect(source(planned().envelope()), ResumeAs(gates=(("clean-session", True),))))) == 6


def test_the_first_step_sends_the_saved_prompt() -> None:
    looked = looked_at(checkpoint("plan"))
    assert [entry["contents"][-1]["text"] for entry in entries_of(looked)] == [FRESH, PROMPT]
    row = next(row for row in looked.session.rows if row.type == "userPrompt")
    assert (row.ref, "/transcript/entries/1") in [(place.row, place.pointer) for place in looked.request.places]  # type: ignore[union-attr]


@pytest.mark.parametrize("spoiled", ["cut", "base64", "role", "segment", "arguments", "options", "version", "schema"])
def test_a_transcript_that_can_not_be_decoded_gives_a_clean_session(spoiled: str) -> None:
    made = planned()
    data: Any = made
    if spoiled == "cut":
        data = encoded(made.envelope())[:-40]
    elif spoiled == "role":
        made.made[1]["role"] = "narrator"
    elif spoiled == "segment":
        made.made[1]["contents"].append({"id": "x", "type": "hologram", "hologram": {}})
    elif spoiled == "arguments":
        made.made[4]["toolCalls"][0]["arguments"] = '{"order": "A-77'
    elif spoiled == "options":
        del made.made[1]["options"]
    elif spoiled == "schema":
        del made.made[0]["tools"][0]["function"]["parameters"]["x-order"]
    value = checkpoint("decide", data, plan=PLAN, gathered=[FACT])
    if spoiled == "base64":
        value["transcriptData"] = "no base64!"
    if spoiled == "version":
        value["transcriptData"] = as_data({**made.envelope(), "version": None}, "base64")
    looked = looked_at(value)
    assert codes(looked) == {"transcript-undecodable"} and verdict(looked) == "ready"
    assert PLAN in instructions(looked) and FACT in instructions(looked) and len(entries_of(looked)) == 1
    drops = {drop.reason for drop in looked.state.drops}
    assert "not-restored" in drops
    plan, after = repaired(looked)
    if spoiled in ("options", "schema"):
        assert codes(after) == set() and len(entries_of(after)) == 6
    else:
        assert bytes(after.session.source.parts[0].data[:]) == bytes(looked.session.source.parts[0].data[:])
    if spoiled in ("role", "segment"):
        _, after = repaired(looked, transcript_undecodable="leave-out-unknown")
        assert codes(after) == set() and len(entries_of(after)) == (5 if spoiled == "role" else 6)
    if spoiled in ("cut", "base64"):
        _, after = repaired(looked, transcript_undecodable="take-out-transcript")
        assert value_of(after)["transcriptData"] is None and codes(after) == set()


def test_a_bare_transcript_that_can_not_be_decoded_can_not_be_resumed() -> None:
    made = planned()
    made.made[1]["role"] = "narrator"
    looked = looked_at(made.envelope())
    assert verdict(looked) == "blocked" and [f.severity for f in diagnose(looked)] == [Severity.FATAL]


# Made up: no recorded checkpoint has a vote gate or a redacted prompt. Their names and shapes are ours.
VOTES: list[tuple[Any, bool]] = [
    ({"question": "Refund?", "required": 2, "votes": [{"agent": "a", "yes": True}], "status": "open"}, True),
    ({"required": 2, "votes": [{"agent": "a"}]}, True), ({"required": 1, "votes": [{"agent": "a"}]}, False),
    ({"status": "passed", "votes": []}, False), ({"outcome": None, "votes": []}, True), ({"outcome": "yes"}, False),
    ({"decided": False}, True), ("pending", True), ("approved", False), (None, False), ([{"state": {"pending": {}}}], True),
]  # fmt: skip


@pytest.mark.parametrize(("vote", "blocks"), VOTES)
def test_made_up_an_open_vote_stops_the_resume_and_is_kept(vote: Any, blocks: bool) -> None:
    looked = looked_at(checkpoint("gather", planned(), plan=PLAN, gathered=[FACT]) | {"voteGate": vote, "later": {"x": [1]}})
    assert codes(looked) == ({"open-vote"} if blocks else set())
    assert verdict(looked) == ("blocked" if blocks else "ready") and (looked.request is None) is blocks
    before = looked_at(checkpoint("plan", plan=PLAN) | {"voteGate": vote, "later": {"x": [1]}})
    _, after = repaired(before)
    assert value_of(after)["voteGate"] == vote and value_of(after)["later"] == {"x": [1]}
    assert ("open-vote" in codes(after)) is blocks


def test_made_up_a_redacted_prompt_is_never_replaced_by_the_original() -> None:
    secret = "Refund the order of Jane Roe."
    value = checkpoint("plan") | {"userPrompt": secret, "redactedPrompt": "Refund the order of [redacted]."}
    looked = looked_at(value)
    assert "[redacted]" in json.dumps(entries_of(looked)) and "Jane Roe" not in json.dumps(entries_of(looked))
    assert "never put in its place" in next(fact.note for fact in looked.state.facts if fact.name == "prompt")
    made = Entries().instructions().prompt("Refund the order of [redacted].").response(PLAN)
    looked = looked_at(checkpoint("gather", made, plan=PLAN) | {"userPrompt": secret})
    assert "Jane Roe" not in json.dumps(entries_of(looked))


# --- faults ---


def shown() -> dict[str, Any]:
    """Code -> the smallest checkpoint that has this finding and, above info, no other."""
    unanswered = decided().prompt("Act.").calls(("CALL-2", "create_refund", {"order": "A-7781"}))
    cut = planned().response("Lost.").prompt("Decide.").response("Refund A-7781 in fu")
    long = planned().response("lost " * 9000).prompt("ok?").response("ok.")
    return {
        "step-not-advanced": checkpoint("plan", plan=PLAN),
        "inconsistent-step": checkpoint("act", planned(), plan=PLAN, gathered=[FACT]),
        "transcript-undecodable": checkpoint("decide", b"{", plan=PLAN, gathered=[FACT]),
        "partial-response": checkpoint("decide", cut, plan=PLAN, gathered=[FACT]),
        "work-after-saved-step": checkpoint("decide", decided(), plan=PLAN, gathered=[FACT]),
        "open-vote": checkpoint("gather", plan=PLAN) | {"vote": "open"},
        "already-done": checkpoint("done", plan=PLAN, gathered=[FACT], decision=DECISION, actionResult="re_1"),
        "context-overflow": checkpoint("decide", long, plan=PLAN, gathered=[FACT, "ok."]),
        "unresolved-call": checkpoint("act", unanswered, plan=PLAN, gathered=[FACT], decision=DECISION),
    }  # fmt: skip


@pytest.mark.parametrize("code", list(shown()))
def test_the_fault_is_found_alone(code: str) -> None:
    looked = looked_at(shown()[code])
    assert code in codes(looked, above_info=False)
    assert codes(looked) <= {code} | ({"uncertain-operation"} if code == "unresolved-call" else set())
    rows = next(finding.rows for finding in diagnose(looked) if finding.code == code)
    assert rows and all(looked.row(ref) for ref in rows)


@pytest.mark.parametrize("step", [None, "ponder", {"a": {}}, {"plan": {}, "act": {}}, 7, True, 1.5])
def test_a_step_that_is_not_known_is_refused(step: Any) -> None:
    value = checkpoint("plan", planned(), plan=PLAN) | {"step": step}
    looked = looked_at(value)
    assert verdict(looked) == "blocked" and codes(looked) == {"inconsistent-step"}
    assert value_of(repaired(looked)[1]) == value and not any(finding.repairable for finding in diagnose(looked))


@pytest.mark.parametrize(
    ("step", "fields", "to"),
    [
        ("gather", {}, "plan"), ("decide", {"plan": PLAN}, "gather"), ("decide", {"plan": PLAN, "gathered": []}, "gather"),
        ("decide", {"gathered": [FACT]}, "plan"), ("act", {"plan": PLAN, "gathered": [FACT]}, "decide"), ("act", {"plan": PLAN}, "gather"),
        ("act", {}, "plan"),
    ],
)  # fmt: skip
def test_a_step_goes_back_only_on_a_persons_word(step: str, fields: dict[str, Any], to: str) -> None:
    looked = looked_at(checkpoint(step, **fields))
    assert verdict(looked) == "blocked" and looked.request is None and codes(looked) == {"inconsistent-step"}
    plan, after = repaired(looked)
    assert plan.refused is not None and value_of(after) == value_of(looked)
    _, after = repaired(looked, inconsistent_step=f"back-to-{to}")
    assert value_of(after) == value_of(looked) | {"step": to} and verdict(after) == "ready"


def test_without_a_prompt_the_first_step_has_nothing_to_send() -> None:
    looked = looked_at({"step": "plan", "transcriptData": None, "updatedAt": 1})
    assert verdict(looked) == "blocked" and "the prompt" in looked.state.refused  # type: ignore[operator]
    assert repaired(looked)[0].steps() == []


@pytest.mark.parametrize("field", ["userPrompt", "plan", "gathered"])
def test_a_field_of_another_type_is_refused(field: str) -> None:
    looked = looked_at(checkpoint("gather", plan=PLAN, gathered=[FACT]) | {field: 7})
    assert verdict(looked) == "blocked" and f"`{field}`" in diagnose(looked)[0].message


def test_steps_advance_as_far_as_their_fields_go() -> None:
    more = {"plan": PLAN, "gathered": [FACT], "decision": DECISION}
    assert value_of(repaired(looked_at(checkpoint("plan", **more)))[1])["step"] == "act"
    assert value_of(repaired(looked_at(checkpoint("gather", **more)))[1])["step"] == "act"
    assert value_of(repaired(looked_at(checkpoint("act", **more, actionResult="re_1")))[1])["step"] == "done"
    assert codes(looked_at(checkpoint("gather", plan=PLAN, gathered=[FACT]))) == set()


def test_a_finished_workflow_is_not_saved_again() -> None:
    looked = looked_at(shown()["already-done"])
    plan = repair.plan(looked, diagnose(looked), seed="s", at=AT)
    assert plan.refused and plan.steps() == [] and looked.request is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Refund A-7781 in fu", "partial-response"), ("Refund A-7781, because", "partial-response"), ('{"decision": "re', "partial-response"),
        ("", "partial-response"), ("Refund A-7781 in full.", "work-after-saved-step"), ('{"decision": "refund"}', "work-after-saved-step"),
        ("Refund it (lost)", "work-after-saved-step"), ("全额退款。", "work-after-saved-step"),
    ],
)  # fmt: skip
def test_how_a_response_ends_tells_whether_it_seems_whole(text: str, code: str) -> None:
    made = planned().response("Lost.").prompt("Decide.").response(text)
    assert codes(looked_at(checkpoint("decide", made, plan=PLAN, gathered=[FACT]))) == {code}


def test_an_answer_that_was_saved_in_other_words_is_no_unsaved_work() -> None:
    made = planned().response("Lost.").prompt("Decide.").response("I would refund it")
    assert codes(looked_at(checkpoint("act", made, plan=PLAN, gathered=[FACT], decision="refund"))) == set()
    assert codes(looked_at(checkpoint("decide", planned().response("Lost."), plan="P", gathered=["g"]))) == set()


def test_a_partial_response_goes_with_its_prompt_on_a_persons_word() -> None:
    looked = looked_at(shown()["partial-response"])
    assert value_of(repaired(looked)[1]) == value_of(looked)
    plan, after = repaired(looked, partial_response="drop-response")
    assert [entry["role"] for entry in entries_of(after)] == ["instructions", "user", "response", "user", "response", "tool", "response"]
    assert verdict(after) == "ready" and plan.remains() == []
    assert {**value_of(after), "transcriptData": 0} == {**value_of(looked), "transcriptData": 0}


def test_a_partial_response_behind_tools_goes_alone() -> None:
    made = planned().response("Lost.").prompt("Decide.").calls(("C2", "lookup_order", {"order": "x"}))
    made.output("C2", "lookup_order", "yes").response("Refu")
    looked = looked_at(checkpoint("decide", made, plan=PLAN, gathered=[FACT]))
    _, after = repaired(looked, partial_response="drop-response")
    assert [entry["role"] for entry in entries_of(after)][-3:] == ["user", "response", "tool"]


def test_a_prompt_without_an_answer_may_be_dropped() -> None:
    looked = looked_at(planned().response("Lost.").prompt("And now?").envelope())
    assert codes(looked) == {"partial-response"} and verdict(looked) == "ready"
    _, after = repaired(looked, partial_response="drop-response")
    assert entries_of(after)[-1]["contents"][0]["text"] == "Lost." and codes(after) == set()


@pytest.mark.parametrize("null", [True, False])
def test_unsaved_work_is_taken_over_on_a_persons_word(null: bool) -> None:
    value = shown()["work-after-saved-step"] | ({"decision": None} if null else {})
    looked = looked_at(value)
    assert value_of(repaired(looked)[1]) == value
    _, after = repaired(looked, work_after_saved_step="take-over")
    assert value_of(after) == value | {"step": "act", "decision": DECISION} and codes(after) == set()
    _, after = repaired(looked, work_after_saved_step="drop-turn")
    assert verdict(after) == "ready" and next_step(checkpoint_of(after.session)) == "decide"  # type: ignore[arg-type]


def test_gathered_outputs_are_taken_over_behind_those_that_are_saved() -> None:
    more = planned().response("Lost.").prompt("Gather more.").calls(("C2", "read_policy", {"order": "x"}))
    more.output("C2", "read_policy", "full refund if lost")
    looked = looked_at(checkpoint("gather", more, plan=PLAN, gathered=[FACT]))
    assert codes(looked) == {"work-after-saved-step"} and verdict(looked) == "ready"
    _, after = repaired(looked, work_after_saved_step="take-over")
    assert value_of(after) == value_of(looked) | {"gathered": [FACT, "full refund if lost"]} and codes(after) == set()


def test_an_effect_that_is_recorded_is_not_to_happen_again() -> None:
    made = decided().prompt("Act.").calls(("CALL-2", "create_refund", {"order": "A-7781"}))
    made.output("CALL-2", "create_refund", "refund re_9001 created")
    looked = looked_at(checkpoint("act", made, plan=PLAN, gathered=[FACT], decision=DECISION))
    assert {"work-after-saved-step", "already-done"} <= codes(looked, above_info=False) and verdict(looked) == "needs-repair"
    assert any("create_refund" in finding.message for finding in diagnose(looked) if finding.code == "already-done")
    plan, after = repaired(looked, work_after_saved_step="take-over")
    assert value_of(after)["actionResult"] == "refund re_9001 created" and verdict(after) == "finished"
    assert "drop-turn" not in next(step.choices for step in repaired(looked)[0].steps())


# --- calls ---


@pytest.mark.parametrize("form", ["base64", "bytes", "text", "object"])
def test_a_call_without_output_is_closed_by_a_marked_one_that_the_decoder_takes(form: str) -> None:
    value = shown()["unresolved-call"]
    made = decided().prompt("Act.").calls(("CALL-2", "create_refund", {"order": "A-7781"}))
    value["transcriptData"] = as_data(made.envelope(), form)
    looked = looked_at(value)
    assert verdict(looked) == "needs-reconciliation"
    operation = next(each for each in looked.operations if each.call_id == "CALL-2")
    assert (operation.tool, operation.arguments, operation.state) == ("create_refund", {"order": "A-7781"}, "uncertain")
    plan, after = repaired(looked)
    assert [(step.finding, step.choices) for step in plan.steps()] == [("unresolved-call", ("keep",))]
    assert strict(envelope_of(after.session) or b"") == [] and after.request is not None and after.request.problems == []
    closing = entries_of(after)[-1]
    assert (closing["id"], closing["toolCallID"], closing["toolName"]) == ("CALL-2", "CALL-2", "create_refund")
    assert "Nobody knows" in closing["contents"][0]["text"] and set(closing) == {"role", "id", "toolCallID", "toolName", "contents"}
    assert verdict(after) == "needs-reconciliation" and codes(after) == {"uncertain-operation"}
    for name in ("CALL-2", operation.key):
        _, settled = repaired(after, {name: Resolution("happened", "Refund re_9 is in the ledger.", "anna", AT)})
        assert verdict(settled) == "ready" and "re_9" in json.dumps(entries_of(settled)[-1])
        assert next(each for each in settled.operations if each.call_id == "CALL-2").state == "resolved"
        assert next(each.key for each in settled.operations if each.call_id == "CALL-2") == operation.key


def test_of_parallel_calls_only_the_open_one_is_closed() -> None:
    made = decided().prompt("Act.").calls(("A", "create_refund", {"order": "1"}), ("B", "create_refund", {"order": "2"}))
    made.output("B", "create_refund", "ok")
    looked = looked_at(checkpoint("act", made, plan=PLAN, gathered=[FACT], decision=DECISION))
    _, after = repaired(looked, {"A": Resolution("did-not-happen", "Not there.", "anna", AT)})
    assert [entry.get("toolCallID") for entry in entries_of(after)[-2:]] == ["A", "B"] and after.request and not after.request.problems
    assert Counter(each.state for each in after.operations) == {"confirmed": 2, "resolved": 1}


def test_only_whole_turns_without_open_calls_are_trimmed() -> None:
    long = "word " * 5000
    made = Entries().instructions("Do it.").prompt(PROMPT).response(PLAN + long)
    made.prompt("b").calls(("X", "create_refund", {"order": "1"}))
    made.prompt("c").calls(("Y", "create_refund", {"order": "2"})).output("Y", "create_refund", long)
    made.prompt("last").response("end.")
    looked = looked_at(checkpoint("decide", made, plan=PLAN, gathered=["end."]))
    plan, after = repaired(looked)
    assert "context-overflow" in codes(after)
    _, after = repaired(looked, context_overflow="trim-oldest-turns")
    entries = entries_of(after)
    kept = ["instructions", "user", "response", "tool", "user", "response", "tool", "user", "response"]
    assert [entry["role"] for entry in entries] == kept and entries[1]["contents"][0]["text"] == "b"
    assert entries[2]["toolCalls"][0]["id"] == "X" and strict(envelope_of(after.session) or b"") == []
    assert "context-overflow" not in codes(after)


def test_results_without_calls_and_repeated_ids_are_named() -> None:
    made = planned().output("NONE", "x", "?").response("Lost.")
    made.prompt("again").calls(("CALL-1", "lookup_order", {"order": "9"}))
    made.output("CALL-1", "lookup_order", "a").output("CALL-1", "lookup_order", "b").response("b.")
    looked = looked_at(checkpoint("gather", made, plan=PLAN, gathered=[FACT, "b."]))
    assert {"orphan-result", "duplicate-call-id", "duplicate-result"} <= codes(looked)


def test_a_checkpoint_is_not_forked() -> None:
    with pytest.raises(PlanError, match="every resume makes a new session"):
        fork.fork(looked_at(checkpoint("plan")), new_id="x", at=AT)


def test_the_strict_decoder_wants_every_key_of_the_27_form() -> None:
    made = planned().envelope()
    assert strict(encoded(made)) == [] and strict(encoded(planned(1).envelope())) == []
    reasoning = {"role": "reasoning", "id": "r", "reasoning": {"contents": [segment("hm")], "signature": "AAEC"}}
    structure = {"id": "s", "type": "structure", "structure": {"source": "Plan", "content": {"a": 1}}}
    image = {"id": "i", "type": "image", "image": "data:image/jpeg;base64,AA=="}
    attachment = {"id": "a", "type": "attachment", "attachment": {"type": "image", "label": "x", "data": "AA=="}}
    entries = [reasoning, {"role": "response", "id": "R", "contents": [structure, image, attachment]}]
    assert strict(encoded({**made, "transcript": {"entries": entries}})) == []
    for number, entry in enumerate(made["transcript"]["entries"]):
        for key in entry.keys() - {"role", "assets", "tools"}:
            fewer = {name: value for name, value in entry.items() if name != key}
            entries = [*made["transcript"]["entries"][:number], fewer, *made["transcript"]["entries"][number + 1 :]]
            assert strict(encoded({**made, "transcript": {"entries": entries}})), (number, key)
    for key in made:
        assert strict(encoded({name: value for name, value in made.items() if name != key}))
