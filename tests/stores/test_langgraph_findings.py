"""What is found in recorded threads: each code at its rows, the tasks that would run, the operations, and what a person reads."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from inspector.capture import store
from inspector.core import report, rulebook
from inspector.core.inspection import Inspection, inspect
from inspector.core.state import ResumeAs
from tests.stores.recorded import Case, brief

SQLITE = "langgraph-sqlite"
SHOWN: dict[str, tuple[Case, str, list[str]]] = {
    "pending-interrupt": (Case(SQLITE, "agent_interrupt_in_tool"), "warning", ["0:7"]),
    "task-outcome-unknown": (Case(SQLITE, "agent_tool_error_raised"), "error", ["0:6", "0:7"]),
    "lost-checkpoint": (Case("langgraph-asyncsqlite", "agent_killed_in_tool"), "error", ["0:0", "0:1", "0:2"]),
    "effect-ahead-of-checkpoint": (Case("langgraph-asyncsqlite", "agent_killed_in_tool"), "error", ["0:3"]),
    "sibling-branches": (Case(SQLITE, "agent_forked"), "info", ["0:17", "0:25"]),
    "reexecution-risk": (Case(SQLITE, "agent_effect_before_interrupt"), "warning", ["0:6"]),
    "unmerged-writes": (Case(SQLITE, "agent_parallel_partial_sync"), "warning", ["0:8", "0:9"]),
}
"""Code -> a recorded thread that has it, its severity there, and the rows."""


def looked_at(case: Case, **options: Any) -> Inspection:
    found = store.open_store(case.sqlite)
    assert found is not None
    with closing(found):
        return inspect(found.source(found.threads()[0].id), ResumeAs(**options))


@pytest.mark.parametrize("code", SHOWN)
def test_the_code_is_found_at_its_rows(code: str) -> None:
    case, severity, rows = SHOWN[code]
    found = [finding for finding in rulebook.diagnose(looked_at(case)) if finding.code == code]
    assert (str(found[0].severity), list(found[0].rows)) == (severity, rows)
    assert found[0].message.endswith(".")


FINISHED = ["agent_finished", "react_finished", "multi_thread", "workflow_finished", "type_zoo", "delta_channel", "remove_messages"]


@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_thread_has_no_finding(name: str) -> None:
    looked = looked_at(Case(SQLITE, name))
    assert rulebook.diagnose(looked) == []
    assert report.verdict(looked, []) == "finished"
    assert looked.state.runs_first == []


def test_not_finished_although_next_is_empty() -> None:
    looked = looked_at(Case("langgraph-asyncsqlite", "agent_killed_in_tool"))
    facts = {fact.name: fact.value for fact in looked.state.facts}
    assert facts["next"] == [] and facts["finished"] is False
    assert report.verdict(looked, rulebook.diagnose(looked)) == "needs-reconciliation"


@pytest.mark.parametrize(
    ("name", "call", "status"),
    [
        ("agent_killed_in_tool_sync", "call_2", "unknown"),
        ("agent_killed_before_put_writes", "call_2", "unknown"),
        ("agent_parallel_partial_sync", "call_p2", "unknown"),
        ("agent_parallel_one_error", "call_g2", "failed"),
        ("agent_interrupt_in_tool", "call_h1", "waiting"),
        ("agent_hitl_middleware", "call_2", "waiting"),
        ("react_killed_in_tool", "call_2", "unknown"),
    ],
)
def test_what_runs_before_the_model_is_asked(name: str, call: str, status: str) -> None:
    looked = looked_at(Case(SQLITE, name))
    assert looked.request is not None and looked.request.runs_first is not None
    assert [(each["status"], [one["id"] for one in each["calls"]]) for each in looked.request.runs_first] == [(status, [call])]
    assert not looked.request.problems
    operation = next(each for each in looked.operations if each.call_id == call)
    assert operation.state == ("waiting-approval" if status == "waiting" else "uncertain")


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("workflow_killed_in_act_sync", "act"), ("fanout_partial_killed", "worker"), ("fanout_partial_error_exit", "worker"),
        ("join_edge_killed_sync", "c"),
    ],
)
def test_a_task_without_a_call_is_an_operation_of_its_own(name: str, node: str) -> None:
    looked = looked_at(Case(SQLITE, name))
    assert [(each.tool, each.call_id, each.state, each.on_branch) for each in looked.operations] == [(node, None, "uncertain", True)]
    assert {each.kind for each in looked.operations[0].evidence} & {"task-failed", "task-without-writes"}
    found = {finding.code: finding for finding in rulebook.diagnose(looked)}
    assert found["task-outcome-unknown"].operation == looked.operations[0].key
    assert not found["task-outcome-unknown"].repairable  # what it would have written is not known


@pytest.mark.parametrize("name", ["agent_killed_newinput_sync", "agent_parallel_newinput_sync", "react_killed_newinput_sync"])
def test_new_input_throws_tasks_and_their_results_away(name: str) -> None:
    """With a prompt the model receives what the newest checkpoint holds: calls without results, and not what siblings recorded."""
    case = Case(SQLITE, name)
    requests = case.expected["resume"].get("model_requests") or []
    looked = looked_at(case, prompt="And now?")
    assert looked.request is not None
    assert looked.request.runs_first == []
    got = brief(looked.request.body["messages"])
    if requests:  # the prebuilt agent of old refuses such a conversation before the model is asked
        want = [each for each in brief(requests[0]["messages"]) if each["type"] != "system"]
        assert [{**each, "content": None} for each in got[-1:]] == [{**each, "content": None} for each in want[-1:]]
        assert got[:-1] == want[:-1]
    assert {problem.rule for problem in looked.request.problems} == {"L1"}


def test_what_the_framework_wrote_in_place_of_a_result_is_no_result() -> None:
    looked = looked_at(Case("deepagents", "patch_tool_calls_on_killed_thread"))
    assert {each.call_id: each.state for each in looked.operations}["call_2"] == "uncertain"
    bad, unknown = looked_at(Case(SQLITE, "agent_bad_args")), looked_at(Case(SQLITE, "agent_unknown_tool"))
    assert [each.state for each in (*bad.operations, *unknown.operations)] == ["failed", "failed"]


def test_the_screen_shows_the_conversation_and_what_is_asked() -> None:
    looked = looked_at(Case(SQLITE, "agent_interrupt_in_tool"))
    assert [(item.role, item.rows) for item in looked.screen] == [
        ("user", ("0:1",)), ("assistant", ("0:4",)), ("tool", ("0:4",)), ("notice", ("0:7",)),
    ]  # fmt: skip
    assert "refund_hitl" in looked.screen[2].text and looked.screen[3].text.startswith("tools asks: ")
