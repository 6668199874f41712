"""Repairs: what a plan does about each fault, what a person may choose, and what stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core import repair, report, rulebook
from inspector.core.errors import ApplyError, PlanError
from inspector.core.inspection import Inspection, inspect
from inspector.core.repair import Plan
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs
from inspector.core.steps import Resolution

from .transcripts import Transcript, call, conversation, result, text, thinking, uuid

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
AT = "2026-12-01T10:00:00.000Z"


def planned(source: Source, **given: Any) -> Plan:
    looked = inspect(source, client="claude-code")
    return repair.plan(looked, rulebook.diagnose(looked), seed=given.pop("seed", "seed"), at=AT, **given)


def repaired(source: Source, **given: Any) -> Inspection:
    """What a resume of the repaired session does."""
    return inspect(repair.apply(source, planned(source, **given)), ResumeAs(prompt="continue"), "claude-code")


def lines(source: Source) -> list[bytes]:
    return bytes(source.parts[0].data[:]).splitlines(keepends=True)


def sent(looked: Inspection) -> list[tuple[str, Any]]:
    assert looked.request is not None
    return [(message["role"], message["content"]) for message in looked.request.body["messages"]]


def killed(tool: str = "Bash") -> Transcript:
    """A session that was killed while its only call ran."""
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call("T1", tool))
    return made


def test_a_sound_session_keeps_every_byte() -> None:
    source = conversation().source()
    plan = planned(source)
    assert plan.steps() == [] and repair.apply(source, plan) == source


def test_a_call_without_result_is_kept_and_answered_by_a_marked_result() -> None:
    source = killed().source()
    plan = planned(source)
    made = repair.apply(source, plan)
    old, new = lines(source), lines(made)
    assert new[: len(old)] == old
    added = json.loads(new[len(old)])
    (block,) = added["message"]["content"]
    assert block["is_error"] is True and block["tool_use_id"] == "T1"
    assert "Nobody knows" in block["content"] and "look at the files" in block["content"] and "cancel" not in block["content"]
    assert added["parentUuid"] == added["sourceToolAssistantUUID"] == json.loads(old[-1])["uuid"]
    assert added["sessionInspector"]["resolution"] == "unknown"
    assert plan.steps()[0].waits_for == plan.operations_open()[0]


def test_calls_in_the_middle_are_kept_without_touching_another_row() -> None:
    made = killed()
    made.turn("And the docs?", "Written.")
    source = made.source()
    new = repair.apply(source, planned(source))
    assert [line for line in lines(new) if line in lines(source)] == lines(source)
    said = sent(inspect(new, ResumeAs(prompt="continue"), "claude-code"))
    assert [block["type"] for block in said[1][1]] == ["tool_use"]
    assert said[2][1][0]["type"] == "tool_result" and said[2][1][0]["is_error"] is True


@pytest.mark.parametrize(("outcome", "error", "words"), [("happened", False, "it took effect"), ("did-not-happen", True, "did not take effect")])
def test_a_person_says_what_happened_before_or_after_the_first_repair(outcome: Any, error: bool, words: str) -> None:
    resolutions = {"T1": Resolution(outcome, "seen in the log")}
    first = killed().source()
    again = repair.apply(first, planned(first))
    for source in (first, again):
        plan = planned(source, resolutions=resolutions)
        (block,) = [block for _, content in sent(repaired(source, resolutions=resolutions)) for block in content if "tool_use_id" in block]
        assert words in block["content"] and "seen in the log" in block["content"] and bool(block["is_error"]) is error
        assert plan.operations_open() == []
        made = repair.apply(source, plan)
        assert repair.apply(made, planned(made, resolutions=resolutions)) == made


def test_a_resolution_of_a_recorded_result_or_an_unknown_call_is_refused() -> None:
    source = conversation().source()
    for name in ("T1", "T2"):
        with pytest.raises(PlanError):
            planned(source, resolutions={name: Resolution("happened")})


def test_leaving_a_call_out_is_a_choice_that_names_it() -> None:
    source = killed().source()
    plan = planned(source, choices={"unresolved-call:0:1": "leave-out"})
    assert plan.steps()[0].chosen == "leave-out" and plan.steps()[0].details == {"call": "T1"}
    assert len(lines(repair.apply(source, plan))) == 3
    for choice in ({"unresolved-call:0:9": "leave-out"}, {"unresolved-call:0:1": "run-again"}):
        with pytest.raises(PlanError):
            planned(source, choices=choice)


LEFT_OUT = {"unresolved-call:0:1": "leave-out"}


def test_a_call_that_may_have_run_is_not_forgotten_when_it_is_left_out() -> None:
    source = killed().source()
    before = inspect(source, client="claude-code")
    plan = planned(source, choices=LEFT_OUT)
    assert plan.operations_open() == [before.operations[0].key] and [finding.code for finding in plan.remains()][:1] == ["uncertain-operation"]
    made = repair.apply(source, plan)
    note = json.loads(lines(made)[-1])
    assert (note["type"], note["kind"], note["operation"]) == ("session-inspector", "left-out", before.operations[0].key)
    looked = inspect(made, client="claude-code")
    assert sent(inspect(made, ResumeAs(prompt="continue"), "claude-code"))[-1][0] == "user" and b"T1" not in lines(made)[0]
    assert report.verdict(looked, rulebook.diagnose(looked)) == "needs-reconciliation" and "Bash" in report.summary(looked, [])
    (operation,) = looked.operations
    assert operation.call is None and operation.arguments == before.operations[0].arguments and operation.evidence[0].row == "0:2"
    again = planned(made)
    assert again.steps() == [] or all(step.finding != "uncertain-operation" for step in again.steps())
    assert again.operations_open() == plan.operations_open()


def test_a_resolution_of_a_call_that_is_left_out_is_kept_in_the_note() -> None:
    source = killed().source()
    at_once = repair.apply(source, planned(source, choices=LEFT_OUT, resolutions={"T1": Resolution("happened", "looked")}))
    left = repair.apply(source, planned(source, choices=LEFT_OUT))
    key = inspect(source, client="claude-code").operations[0].key
    afterwards = repair.apply(left, planned(left, resolutions={key: Resolution("happened", "looked")}))
    for made in (at_once, afterwards):
        note = json.loads(lines(made)[-1])
        assert (note["resolution"], note["says"]) == ("happened", "looked")
        assert [operation.state for operation in inspect(made, client="claude-code").operations] == ["resolved"]
        assert planned(made).operations_open() == []
    assert repair.apply(afterwards, planned(afterwards, resolutions={key: Resolution("happened", "looked")})) == afterwards


def test_a_call_in_a_cut_line_is_not_forgotten_with_the_line() -> None:
    made = killed()
    made.lines[-1] = made.lines[-1][: made.lines[-1].index(b"make ship")]
    before = inspect(made.source(), client="claude-code")
    plan = planned(made.source())
    assert [operation.state for operation in before.operations] == ["uncertain"]
    assert plan.operations_open() == [before.operations[0].key]
    again = repair.apply(made.source(), plan)
    assert json.loads(lines(again)[-1])["tool"] == "Bash" and planned(again).operations_open() == plan.operations_open()
    assert repair.apply(again, planned(again)) == again


def test_a_call_that_only_reads_is_left_out_without_a_note() -> None:
    source = killed("Read").source()
    made = repair.apply(source, planned(source, choices=LEFT_OUT))
    assert b"session-inspector" not in b"".join(lines(made))


def test_a_choice_for_a_step_that_another_choice_removed_is_passed_over() -> None:
    source = killed().source()
    follow = next(step.id for step in planned(source).steps() if step.finding == "open-turn")
    plan = planned(source, choices={**LEFT_OUT, follow: "leave-open"})
    assert plan.digest() == planned(source, choices=LEFT_OUT).digest() and follow not in [step.id for step in plan.steps()]
    with pytest.raises(PlanError):
        planned(source, choices={**LEFT_OUT, "open-turn:0:77": "leave-open"})


def test_a_result_in_a_spliced_line_is_recovered_instead_of_answered() -> None:
    made = conversation()
    made.lines[1:3] = [made.lines[1].rstrip(b"\n") + made.lines[2]]
    plan = planned(made.source())
    assert [step.finding for step in plan.steps()] == ["spliced-lines"]
    assert lines(repair.apply(made.source(), plan)) == lines(conversation().source())


def test_the_fragment_of_a_cut_record_goes_and_the_record_behind_it_stays() -> None:
    made = conversation()
    made.lines[2] = made.lines[1][:40] + b"\0\0" + made.lines[2]
    assert lines(repair.apply(made.source(), planned(made.source()))) == lines(conversation().source())


def test_orphan_results_become_text_and_no_call_is_made_up() -> None:
    made = Transcript()
    made.user("Ship it.")
    made.user([result("T9", "42 files")])
    made.assistant(text("Shipped."))
    looked = repaired(made.source())
    said = json.dumps(sent(looked))
    assert "42 files" in said and "tool_use" not in said and "tool_result" not in said
    looked = repaired(made.source(), choices={"orphan-result:0:1": "leave-out"})
    assert "42 files" not in json.dumps(sent(looked))


def test_a_result_whose_call_stands_before_a_compaction_goes_back_to_it() -> None:
    source = source_of(session_files(CORPUS / "reported" / "03-cc-orphan-result-after-compaction" / "input.jsonl")[0])
    plan = planned(source)
    assert plan.steps()[0].chosen == "to-its-call" and plan.remains() == []


def test_thinking_goes_as_a_whole_or_not_at_all() -> None:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(thinking(), message="m1")
    made.assistant(thinking(), message="m1")
    made.turn("Well?", "Shipped.")
    source = made.source()
    plan = planned(source)
    new = lines(repair.apply(source, plan))
    assert b"thinking" not in b"".join(new) and len(new) == 3
    kept = Transcript()
    kept.user("Ship it.")
    kept.assistant(thinking(), text("\ud83d half"), message="m1")
    (row,) = [json.loads(line) for line in lines(repair.apply(kept.source(), planned(kept.source()))) if b"thinking" in line]
    assert row["message"]["content"] == [thinking(), text("\ufffd half")]


def test_a_lone_half_in_signed_thinking_takes_the_thinking_of_the_message_out() -> None:
    made = Transcript()
    made.user("Ship it.")
    made.assistant({**thinking(), "thinking": "\ud83d"}, message="m1")
    made.assistant(thinking(), text("Shipped."), message="m1")
    new = lines(repair.apply(made.source(), planned(made.source())))
    assert b'"thinking"' not in b"".join(new) and b"Shipped." in new[-1]


def test_a_gap_is_joined_and_no_row_is_lost() -> None:
    made = conversation()
    del made.lines[3]
    made.lines[3] = made.lines[3].replace(b"09:00:04", b"10:00:04")
    before = inspect(made.source(), ResumeAs(prompt="continue"), "claude-code")
    after = repaired(made.source())
    assert len(sent(before)) < len(sent(after)) and "Ship it." in json.dumps(sent(after))


def test_a_real_late_result_takes_the_place_of_a_stand_in() -> None:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call("T1"))
    asked = made.leaf
    made.user([result("T1", "its outcome is unknown", is_error=True)], toolDenialKind="interrupted")
    made.assistant(text("Going on."))
    end = made.leaf
    made.user([result("T1", "pushed")], parentUuid=asked)
    made.record("last-prompt", leafUuid=end)
    said = json.dumps(sent(repaired(made.source())))
    assert "pushed" in said and "unknown" not in said


def test_the_later_of_two_calls_with_one_id_gets_an_id_of_its_own_with_its_result() -> None:
    made = conversation()
    made.tool()
    made.assistant(text("Again."))
    said = sent(repaired(made.source()))
    calls = [block["id"] for _, content in said if isinstance(content, list) for block in content if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for _, content in said if isinstance(content, list) for block in content if block["type"] == "tool_result"]
    assert calls == results and len(set(calls)) == 2


def test_a_repair_does_not_change_which_branch_goes_on() -> None:
    made = conversation()
    copy, branch = made.lines[4], made.leaf
    made.user("Another way.", parentUuid=json.loads(made.lines[3])["uuid"])
    made.assistant(text("Other answer."))
    made.lines.append(copy)
    before = inspect(made.source(), ResumeAs(prompt="continue"), "claude-code")
    assert before.row(before.state.leaf or "").id == branch
    plan = planned(made.source())
    assert "keep-branch" in [step.id for step in plan.steps()]
    assert sent(repaired(made.source())) == sent(before)


def test_a_person_chooses_the_branch_to_go_on_at() -> None:
    made = conversation()
    asked, end = json.loads(made.lines[3])["uuid"], made.leaf
    made.user("Another way.", parentUuid=asked)
    made.assistant(text("Other answer."))
    made.record("last-prompt", leafUuid=end)
    source = made.source()
    (decision,) = [step for step in planned(source).steps() if step.finding == "several-leaves"]
    assert decision.edits == () and decision.chosen == "as-the-client"
    after = repaired(source, choices={decision.id: "continue-at-0:7"})
    assert after.row(after.state.leaf or "").ref == "0:7"


def test_nothing_hangs_from_a_row_that_a_compaction_kept() -> None:
    made = Transcript()
    made.user("Ship it.")
    kept = made.assistant(call("T1"))
    boundary = made.row(
        "system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=kept,
        compactMetadata={"preservedSegment": {"headUuid": kept, "anchorUuid": "00000000-0000-4000-8000-000000000003", "tailUuid": kept}},
    )  # fmt: skip
    assert made.user("Summary: we ship.", isCompactSummary=True, parentUuid=boundary) == "00000000-0000-4000-8000-000000000003"
    made.turn("And now?", "Next.")
    source = made.source()
    new = repair.apply(source, planned(source))
    assert [row for row in inspect(new).session.rows if row.parent == kept] == []


def test_a_plan_is_the_same_for_the_same_seed_and_fits_its_bytes_only() -> None:
    source = killed().source()
    plan = planned(source)
    assert plan.digest() == planned(source).digest() != planned(source, seed="another").digest()
    longer = Source(source.name, (Part(source.parts[0].name, bytes(source.parts[0].data[:]) + b"\n"),))
    with pytest.raises(ApplyError):
        repair.apply(longer, plan)


def test_nothing_to_resume_is_refused() -> None:
    assert planned(Source("empty.jsonl", (Part("empty.jsonl", b""),))).refused


def test_every_rule_that_mends_has_its_phase() -> None:
    in_phases = {code for phase in rulebook.PHASES for code in phase}
    assert in_phases == {code for rule in rulebook.RULES if hasattr(rule, "fix") for code in rule.CODES}


KNOWN = sorted([*(CORPUS / "defects").glob("*/*.jsonl"), *(CORPUS / "reported").glob("*-cc-*/*.jsonl")])


@pytest.mark.parametrize("transcript", KNOWN, ids=lambda path: str(path.parent.name))
def test_known_faults_are_repaired_for_good(transcript: Path) -> None:
    source = source_of(transcript)
    plan = planned(source)
    mended = {step.finding for step in plan.steps() if step.edits}
    assert not mended & {finding.code for finding in plan.remains()}
    made = repair.apply(source, plan)
    assert repair.apply(made, planned(made, seed="other")) == made
    after = inspect(made, ResumeAs(prompt="continue"), "claude-code")
    assert after.request is not None and not [problem for problem in after.request.problems if problem.blocking]


def test_the_answer_says_who_found_what_and_when_and_that_no_second_person_did() -> None:
    given = Resolution("happened", "the order is there", "anna", "2026-11-30T12:34:00.000Z")
    made = repair.apply(killed().source(), planned(killed().source(), resolutions={"T1": given}))
    row = next(json.loads(line) for line in lines(made) if b"tool_result" in line)
    text = row["message"]["content"][0]["content"]
    assert "anna checked on 2026-11-30 12:34 UTC: it took effect. Their words: “the order is there”." in text
    assert row["sessionInspector"]["by"] == "anna" and row["sessionInspector"]["stamp"] == "resolved without second person"
    assert "stamp" not in repaired_mark(Resolution("unknown", "no log left", "anna", "2026-11-30T12:34:00.000Z"))


def repaired_mark(given: Resolution) -> dict[str, Any]:
    """The mark of the row that answers the call."""
    made = repair.apply(killed().source(), planned(killed().source(), resolutions={"T1": given}))
    return next(json.loads(line) for line in lines(made) if b"tool_result" in line)["sessionInspector"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("version", [None, "2.1.197", "2.1.89", "2.0.76"])
def test_a_result_behind_an_old_call_never_moves_the_branch(version: str | None) -> None:
    """Some releases continue at the newest row: a call that is last in the file but not in time must not become it."""
    made = conversation()
    made.leaf = uuid(0)
    made.assistant(call("T9"), timestamp="2026-05-04T09:00:00.500Z")
    before = inspect(made.source(), ResumeAs(version=version), "claude-code")
    plan = repair.plan(before, rulebook.diagnose(before), seed="seed", at=AT)
    after = inspect(repair.apply(made.source(), plan), ResumeAs(version=version), "claude-code")
    assert before.request is not None and after.request is not None
    said = [message["content"] for message in before.request.body["messages"] if message["role"] == "assistant"]
    assert [content for content in said if content not in [message["content"] for message in after.request.body["messages"]]] == []
