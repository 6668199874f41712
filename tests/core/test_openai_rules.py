"""Findings of sessions and RunStates of the OpenAI Agents SDK: each code where it belongs, and none where nothing is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.core import tablerow
from inspector.core.dialects.error_texts import explain
from inspector.core.dialects.openai_responses import check
from inspector.core.findings import Finding, Severity
from inspector.core.inspection import inspect
from inspector.core.rulebook import PAGES, diagnose
from inspector.core.source import Part, Source

USER = {"role": "user", "content": "Pay Ann."}
DONE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paid."}]}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}


def call(id: str = "c1", arguments: str = '{"to":"Ann"}', **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "pay", "arguments": arguments, **more}


def output(id: str = "c1", text: Any = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def table(name: str, rows: list[dict[str, Any]]) -> Part:
    return Part(f"s.sqlite/{name}/s", b"".join(tablerow.pack(name, row) for row in rows))


def session(*items: Any, branches: dict[str, list[int]] | None = None) -> Source:
    """A stored session; `branches` are numbers of items, counted from 1."""
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    messages = [{"id": n, "session_id": "s", "message_data": text, "created_at": "2026-11-30 09:00:00"} for n, text in enumerate(texts, 1)]
    parts = [table("agent_messages", messages)]
    if branches:
        listed = [(name, number) for name, numbers in branches.items() for number in numbers]
        parts.append(table("message_structure", [
            {"id": n, "session_id": "s", "message_id": number, "branch_id": name, "message_type": "", "sequence_number": n, "user_turn_number": 1}
            for n, (name, number) in enumerate(listed, 1)
        ]))  # fmt: skip
    return Source("s.sqlite", tuple(parts))


def given(*items: Any) -> Source:
    return Source("items.json", (Part("items.json", json.dumps(items).encode()),))


def state(decision: str | None, **more: Any) -> Source:
    """A RunState that stopped at one call."""
    stopped = {"type": "tool_approval_item", "raw_item": call(), "agent": {"name": "a"}, "tool_name": "pay"}
    approvals = [{"agent": {"name": "a"}, "tool_key": "pay", "decision": {"approved": [], "rejected": [], decision: ["c1"]}}] if decision else []
    value = {
        "$schemaVersion": "1.21", "original_input": "Pay Ann.", "generated_items": [{"type": "tool_call_item", "raw_item": call()}, stopped],
        "current_step": {"type": "next_step_interruption", "data": {"interruptions": [stopped]}},
        "context": {"function_tool_approvals": approvals, "tool_invocations": {"c1": {"executed": False, "completed": False}}}, **more,
    }  # fmt: skip
    return Source("state.json", (Part("state.json", json.dumps(value).encode()),))


SHOWN: dict[str, list[tuple[Source, Severity, tuple[str, ...]]]] = {
    "unresolved-call": [(session(USER, call(), DONE), Severity.ERROR, ("0:1",)), (given(USER, call()), Severity.ERROR, ("0:2",))],
    "uncertain-operation": [(session(USER, call(), DONE), Severity.ERROR, ("0:1",))],
    "later-claim": [(session(USER, call(), DONE), Severity.INFO, ("0:1", "0:2"))],
    "pending-approval": [(state(None), Severity.WARNING, ("0:4",)), (session(USER, call()), Severity.INFO, ("0:1",))],
    "reexecution-risk": [(state("approved"), Severity.WARNING, ("0:7",))],
    "resume-refused": [(state("approved", **{"$schemaVersion": "1.99"}), Severity.FATAL, ())],
    "orphan-result": [(session(USER, output(), DONE), Severity.ERROR, ("0:1",))],
    "duplicate-result": [(session(USER, call(), output(), output(text="ok"), DONE), Severity.ERROR, ("0:2", "0:3"))],
    "double-dispatch": [(session(USER, call(), output(), output(text="no"), DONE), Severity.WARNING, ("0:2", "0:3"))],
    "orphan-reasoning": [
        (session(USER, THOUGHT, USER, DONE), Severity.ERROR, ("0:1",)), (given(USER, call(), output(), THOUGHT), Severity.ERROR, ("0:4",)),
    ],
    "duplicate-item-id": [(session(USER, DONE | {"id": "msg_1"}, USER, DONE | {"id": "msg_1"}), Severity.ERROR, ("0:1", "0:3"))],
    "truncated-arguments": [(session(USER, call(arguments='{"to":"A'), output(), DONE), Severity.WARNING, ("0:1",))],
    "branch-not-restored": [(session(USER, DONE, DONE, branches={"main": [1, 2], "b": [1, 3]}), Severity.WARNING, ("0:2",))],
    "user-tail": [(session(USER), Severity.WARNING, ("0:0",))],
    "open-turn": [(session(USER, call(), output()), Severity.WARNING, ("0:2",))],
    "malformed-request": [(session(USER, {"type": "reasoning", "id": "rs_2"}, DONE), Severity.ERROR, ("0:1",))],
    "unparseable-row": [(session(USER, '{"role": "us', DONE), Severity.WARNING, ("0:1",))],
}  # fmt: skip
"""Code -> sessions that show it, with its severity and rows."""


def of(source: Source) -> list[Finding]:
    looked = inspect(source)
    assert looked.session.client == "openai-agents"
    return diagnose(looked)


@pytest.mark.parametrize("code", SHOWN)
def test_the_fault_is_found_at_its_rows(code: str) -> None:
    for source, severity, rows in SHOWN[code]:
        found = [(finding.severity, finding.rows) for finding in of(source) if finding.code == code]
        assert found == [(severity, rows)]


@pytest.mark.parametrize("items", [(USER, DONE), (USER, call(), output(), DONE), (USER, THOUGHT, call() | {"id": "fc_1"}, output(), DONE)])
def test_a_sound_session_has_no_finding(items: tuple[Any, ...]) -> None:
    assert of(session(*items)) == [] and all(finding.code != "malformed-request" for finding in of(session(*items)))


def rules(*items: Any, **more: Any) -> list[str]:
    return [problem.rule for problem in check({"input": list(items), **more}, {})]


def test_rules_of_the_provider() -> None:
    assert rules() == ["R0"] and rules("text", USER) == ["R0"]
    assert rules(USER, call(), DONE) == ["R1"] and rules(USER, output()) == ["R3"]
    assert rules(USER, call(), previous_response_id="resp_1") == rules(output(), conversation_id="conv_1") == []
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "ls"}
    assert rules(custom) == ["R2"] and rules(custom, output()) == ["R2", "R3"]
    assert rules(custom, {"type": "custom_tool_call_output", "call_id": "c1", "output": ""}) == []
    assert rules(THOUGHT, THOUGHT | {"id": "rs_2"}, DONE) == [] and rules(THOUGHT, USER) == rules(THOUGHT) == ["R5"]
    assert rules(THOUGHT, USER, DONE | {"id": "msg_1"}) == ["R5", "R6"] and rules(THOUGHT, USER, DONE) == ["R5"]
    assert rules(DONE | {"id": "msg_1"}, DONE | {"id": "msg_1"}) == ["R7"] and rules(DONE | {"id": "own"}, DONE | {"id": "own"}) == []
    assert rules(DONE | {"id": "m" * 65}) == ["R13"] and rules(DONE | {"id": "m" * 64}) == []
    assert rules(call(arguments=None), output()) == ["R14"] and rules(call(arguments="{"), output()) == ["R16"]  # type: ignore[arg-type]
    assert rules(call(), call(), output()) == ["R17"] and rules(call(), output(), output()) == ["R18"]
    assert rules(call(arguments=""), output()) == rules(call(arguments='"text"'), output()) == []


def test_problems_that_no_report_confirms_do_not_block() -> None:
    found = check({"input": [call(arguments="{"), output(), output()]}, {"/input/0": "0:0"})
    assert [(problem.rule, problem.blocking) for problem in found] == [("R18", False), ("R16", False)]
    assert found[1].rows == ("0:0",)


LONE = [USER, {"type": "reasoning", "id": "rs_68f2", "summary": []}, USER, call("call_9") | {"id": "fc_68f2"}]


@pytest.mark.parametrize(("text", "rule", "rows", "how"), [
    ("No tool output found for function call call_9.", "R1", ("0:3",), "id"),
    ("Item 'rs_68f2' of type 'reasoning' was provided without its required following item.", "R5", ("0:1",), "id"),
    ("A reasoning item of type 'reasoning' was provided without its required following item.", "R5", ("0:1",), "problem"),
    ("Invalid 'input[2].id': string too long. Expected a string with maximum length 64.", "R13", ("0:2",), "index"),
    ("Input[9] missing required field summary", "R11", (), ""),
])  # fmt: skip
def test_a_pasted_error_leads_to_its_rows(text: str, rule: str, rows: tuple[str, ...], how: str) -> None:
    looked = inspect(given(*LONE), client="openai-agents")
    assert looked.request is not None
    places = {place.pointer: f"0:{int(place.row.partition(':')[2]) - 1}" for place in looked.request.places}  # row 0 is the bracket
    found = explain(json.dumps({"error": {"message": text}}), looked.request.body, places, looked.request.problems)
    assert [(match.rule, match.rows, match.how) for match in found] == [(rule, rows, how)] and found[0].code in PAGES
