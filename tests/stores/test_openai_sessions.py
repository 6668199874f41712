"""Recorded sessions and RunStates: their items, the request of the next run, and what is known of their calls."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from inspector.capture.store import open_store
from inspector.core.clients.openai_agents.branches import branches_of
from inspector.core.clients.openai_agents.held import items_of
from inspector.core.findings import Severity
from inspector.core.inspection import Inspection, inspect
from inspector.core.rulebook import diagnose
from inspector.core.state import ResumeAs
from inspector.core.verdicts import Reason
from tests.stores.openai_cases import REPORTED, Case, document, every, fates, sent, source_of, stored

CASES = every()
SESSIONS = [case for case in CASES if case.name != "encrypted_finished"]
STATES = ["approve", "reject", "undecided"]


def items(looked: Inspection) -> list[Any]:
    return [item for ref in looked.state.branch for item in items_of(looked.session, looked.row(ref))]


def codes(looked: Inspection) -> dict[str, Severity]:
    return {finding.code: finding.severity for finding in diagnose(looked)}


def state(name: str, which: str = "runstate") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Case("runstate", f"interrupted_approval_{name}").folder / f"{which}.json").read_text())
    return found


@pytest.mark.parametrize("case", SESSIONS, ids=lambda case: f"{case.system}-{case.name}")
def test_items_are_those_that_the_sdk_returns(case: Case) -> None:
    looked = inspect(case.source())
    assert items(looked) == case.items
    assert fates(looked) == sorted(row.ref for row in looked.session.rows)


@pytest.mark.parametrize("case", [case for case in SESSIONS if case.requests and case.system != "runstate"], ids=lambda case: case.name)
def test_the_request_is_the_one_that_the_model_received(case: Case) -> None:
    received = case.requests[0]
    prompt = received[-1].get("content") if received[-1].get("role") == "user" else None
    assert sent(case.source(), prompt) == received


def test_a_store_lists_its_sessions() -> None:
    store = open_store(Case("sqlite", "finished").folder / "sessions.sqlite")
    assert store is not None
    with closing(store):
        assert [(each.id, each.title, each.rows) for each in store.threads()] == [("sess-1", "Ship A-1 please", 10)]
        assert store.threads(search="sess-2") == [] and store.threads(after="sess-1") == []


def test_branches_are_kept_apart_and_a_reopened_session_is_on_main() -> None:
    case = Case("advanced-sqlite", "branches_and_turns")
    looked = inspect(case.source())
    branches = branches_of(looked.session)
    result = case.expected["run"]["result"]
    assert branches is not None and set(branches) == {each["branch_id"] for each in result["branches"]}
    other = branches[result["branch"]]
    assert [item for row in other.rows for item in items_of(looked.session, row)] == result["items_branch"]
    assert codes(looked) == {"branch-not-restored": Severity.WARNING}
    assert {drop.row for drop in looked.state.drops if drop.reason is Reason.OTHER_BRANCH} == {"0:10", "0:11"}


@pytest.mark.parametrize("case", [case for case in SESSIONS if case.name.startswith("killed")], ids=lambda case: f"{case.system}-{case.name}")
def test_a_whole_turn_may_be_missing_behind_an_output(case: Case) -> None:
    looked = inspect(case.source())
    lost = [operation for operation in looked.operations if operation.call is None]
    assert [(operation.state, operation.evidence[0].kind) for operation in lost] == [("uncertain", "lost-answer")]
    assert "open-turn" in codes(looked)


@pytest.mark.parametrize("name", ["finished", "handoff", "tool_error_default_message"])
def test_a_turn_that_ended_leaves_nothing_open(name: str) -> None:
    looked = inspect(Case("sqlite", name).source())
    assert {operation.state for operation in looked.operations} == {"confirmed"}
    assert codes(looked) == {}


def test_a_prompt_alone_may_have_lost_its_turn() -> None:
    looked = inspect(stored([{"role": "user", "content": "Refund order 7."}]))
    assert [operation.state for operation in looked.operations] == ["uncertain"]
    assert codes(looked) == {"user-tail": Severity.WARNING}


def test_a_failed_tool_is_marked_as_an_error() -> None:
    looked = inspect(Case("sqlite", "tool_error_default_message").source())
    assert [each.kind for each in looked.operations[0].evidence][:2] == ["call", "result-error"]


def test_a_call_without_an_output_is_dropped_without_a_word_and_known_to_us() -> None:
    looked = inspect(Case("runstate", "interrupted_approval_undecided").source(), ResumeAs(prompt="go on"))
    drops = {drop.row: drop.reason for drop in looked.state.drops if drop.row.startswith("0:")}
    assert drops == {"0:2": Reason.UNRESOLVED_CALL}
    assert {operation.tool: operation.state for operation in looked.operations} == {"update_order": "confirmed", "refund": "uncertain"}
    assert {"unresolved-call", "pending-approval", "uncertain-operation"} <= codes(looked).keys()


def test_encrypted_items_stay_closed_without_their_key() -> None:
    looked = inspect(Case("sqlite", "encrypted_finished").source())
    assert looked.request is None and looked.state.refused is not None and "encrypted" in looked.state.refused
    assert {row.type for row in looked.session.main()} == {"encrypted"}
    assert {fact.name: fact.value for fact in looked.state.facts}["encrypted"] == 8


@pytest.mark.parametrize("form", ["input.sqlite", "input.json"])
def test_a_reported_output_that_was_never_written(form: str) -> None:
    path = REPORTED / "50-agents-sdk-output-write-failed" / form
    source = source_of(path) if form.endswith("sqlite") else document(json.loads(path.read_text()))
    looked = inspect(source)
    found = codes(looked)
    assert found["unresolved-call"] is Severity.ERROR and found["later-claim"] is Severity.WARNING and found["uncertain-operation"] is Severity.ERROR
    assert [(operation.call_id, operation.state) for operation in looked.operations] == [("call_refund50", "uncertain")]
    assert sent(source) == [item for item in items(looked) if item.get("type") not in ("reasoning", "function_call")]


@pytest.mark.parametrize("form", ["input.sqlite", "input.json"])
def test_a_reported_history_with_lone_reasoning_and_repeated_ids(form: str) -> None:
    path = REPORTED / "52-responses-reasoning-orphan-and-dup-ids" / form
    source = source_of(path) if form.endswith("sqlite") else document(json.loads(path.read_text()))
    looked = inspect(source)
    found = [(finding.code, finding.severity, len(finding.rows)) for finding in diagnose(looked)]
    assert found == [
        ("orphan-reasoning", Severity.ERROR, 1), ("orphan-reasoning", Severity.WARNING, 1), ("duplicate-item-id", Severity.ERROR, 2),
    ]  # fmt: skip
    assert [operation.state for operation in looked.operations] == ["confirmed"]


@pytest.mark.parametrize(("name", "saved"), [("approve", "runstate_approved"), ("reject", "runstate_rejectd")])
def test_a_decided_run_asks_what_the_model_received(name: str, saved: str) -> None:
    case = Case("runstate", f"interrupted_approval_{name}")
    looked = inspect(document(state(name, saved), 1))
    assert looked.request is not None and looked.request.runs_first is not None
    runs = {call["id"] for task in looked.request.runs_first for call in task["calls"]}
    assert runs == ({"call_a1"} if name == "approve" else set())
    received = [item for item in case.requests[0] if not (item.get("type") == "function_call_output" and item["call_id"] in runs)]
    assert looked.request.body["input"] == received
    assert fates(looked) == sorted(row.ref for row in looked.session.rows)
    states = {operation.call_id: operation.state for operation in looked.operations}
    assert states == {"call_a0": "confirmed", "call_a1": "uncertain" if name == "approve" else "not-started"}
    assert ("reexecution-risk" in codes(looked)) == (name == "approve")


@pytest.mark.parametrize("name", STATES)
def test_an_undecided_run_sends_nothing_and_is_not_broken(name: str) -> None:
    looked = inspect(document(state(name)))
    assert looked.request is None and looked.state.paused
    assert {operation.call_id: operation.state for operation in looked.operations} == {"call_a0": "confirmed", "call_a1": "waiting-approval"}
    assert codes(looked) == {"pending-approval": Severity.WARNING}
    assert Case("runstate", f"interrupted_approval_{name}").expected["run"]["result"]["interruptions"][0]["name"] == "refund"


def test_a_call_that_had_begun_is_refused_by_the_sdk_and_uncertain() -> None:
    value = state("approve", "runstate_approved")
    value["context"]["tool_invocations"]["call_a1"]["executed"] = True
    looked = inspect(document(value))
    assert looked.state.refused is not None and "call_a1" in looked.state.refused
    evidence = next(operation for operation in looked.operations if operation.call_id == "call_a1").evidence
    assert {"process", "approved"} <= {each.kind for each in evidence}


@pytest.mark.parametrize(("version", "read"), [("1.0", True), ("1.21", True), ("1.22", False), ("2.0", False), ("new", False), ("1.21.0", False)])
def test_only_known_versions_of_a_run_state_are_resumed(version: str, read: bool) -> None:
    value = state("approve", "runstate_approved")
    value["$schemaVersion"] = version
    assert (inspect(document(value)).state.refused is None) == read


def test_a_decision_for_good_counts_for_the_same_tool_only() -> None:
    value = state("approve", "runstate_approved")
    scope = value["context"]["tool_invocations"]["call_a1"]["approval_scope"]
    decision = value["context"]["function_tool_approvals"][0]["decision"]
    decision.update(approved=True, rejected=[], sticky_scope=scope)
    assert inspect(document(value)).state.refused is None
    decision["sticky_scope"] = "another"
    assert inspect(document(value)).state.paused


def test_a_bare_list_is_sent_as_it_stands() -> None:
    given = [
        {"role": "user", "content": "hi"}, {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "pay", "arguments": '{"to":'},
    ]  # fmt: skip
    looked = inspect(document(given))
    assert looked.request is not None and looked.request.body["input"] == given
    assert {problem.rule for problem in looked.request.problems} == {"R1", "R16"}
    assert {"unresolved-call", "truncated-arguments"} <= codes(looked).keys()


@pytest.mark.parametrize(
    "text", ['[{"role": "user", "content": "hi"}]', '[{"role": "assistant", "content": [{"type": "tool_use"}]}]', "[]", "[1, 2]"]
)
def test_lists_of_other_programs_are_left_alone(text: str) -> None:
    assert inspect(document(json.loads(text))).session.client != "openai-agents"


def test_a_list_that_breaks_off_keeps_what_stands_before() -> None:
    whole = json.dumps([{"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}"}, {"role": "user", "content": "and?"}])
    for cut in range(len(whole) - 30, len(whole) - 1):
        source = document(None)
        source = type(source)(source.name, (type(source.parts[0])(source.name, whole[:cut].encode()),))
        looked = inspect(source)
        assert looked.session.client == "openai-agents" and [operation.tool for operation in looked.operations] == ["pay"]
        assert looked.session.rows[-1].damage == "truncated" and looked.session.rows[-1].end == cut
