"""The ledger of operations: recorded sessions, small made ones, and keys that survive repair and fork."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.capture import folder
from inspector.core import fork, repair, rulebook
from inspector.core.effect_class import EffectClass
from inspector.core.effects import policy_version
from inspector.core.inspection import Inspection, inspect
from inspector.core.operations import LOST_ANSWER, Operation, key_of, target_of
from inspector.core.policy import BUILT_IN, Policy, Rule
from inspector.core.source import Part, Source
from inspector.core.steps import Resolution
from tests.core.transcripts import SESSION, Transcript, call, result, text, thinking

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, …)."
STAND_IN = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.]"


def look(path: Path) -> Inspection:
    main = next(iter(sorted((path / "source").glob("*.jsonl"))), None) or next(iter(sorted(path.glob("*.jsonl"))))
    return inspect(folder.source_of(folder.session_files(main)[0]))


@pytest.mark.parametrize(
    ("case", "open_calls"),
    [
        ("d00_clean", []),
        ("d01_tail_mutating_tool_use", [("mcp__shop__update_order", "0:123", True)]),
        ("d02_mid_tool_use_no_result", [("Bash", "0:123", True)]),
        ("d12_parallel_one_missing", [("Bash", "0:124", True)]),
        ("d17_duplicate_tool_id", []),
        ("d18_subagent_killed", [("Task", "0:123", True), ("Write", "0:125", False)]),
    ],
)
def test_files_with_one_fault(case: str, open_calls: list[Any]) -> None:
    found = look(CORPUS / "defects" / case).operations
    assert [(op.tool, op.call, op.on_branch) for op in found if op.state == "uncertain"] == open_calls


def of_calls(found: Inspection) -> list[Operation]:
    """The operations but for a lost answer: most transcripts here end with a prompt or a result that nobody answered."""
    return [operation for operation in found.operations if operation.tool != LOST_ANSWER]


def reported() -> list[Path]:
    return sorted(path for path in (CORPUS / "reported").iterdir() if (path / "input.jsonl").exists())


@pytest.mark.parametrize("case", reported(), ids=lambda path: path.name)
def test_reported_sessions(case: Path) -> None:
    """Every operation that the report names has its state; rows of another session are no operations of this one."""
    found = {op.call_id: op for op in of_calls(look(case))}
    listed = json.loads((case / "case.json").read_text(encoding="utf-8"))["expected"]["operations"]
    for said in listed:
        if "other session" in said["why"]:
            assert said["tool_call_id"] not in found
        else:
            op = found[said["tool_call_id"]]
            assert (op.tool, op.state) == (said["tool"], said["status"])
            assert not (said["mutating"] and op.effect == "read-only")
    assert {op.call_id for op in found.values() if op.state == "uncertain"} == {s["tool_call_id"] for s in listed if s["status"] == "uncertain"}


def only(made: Transcript, **how: Any) -> Operation:
    (operation,) = of_calls(made.inspect(**how))
    return operation


def asked(*results: dict[str, Any], command: str = "make ship", **fields: Any) -> Operation:
    """A conversation with one call, and one row for each result."""
    made = Transcript()
    made.user("ship it")
    parent = made.assistant(call(command=command))
    for block in results:
        made.user([block], parentUuid=parent, sourceToolAssistantUUID=parent, **fields)
    return only(made)


OUTCOMES: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("a result", result(), {}, "confirmed", "result"),
    ("an error of the command", result(content="Exit code 1", is_error=True), {}, "confirmed", "result-error"),
    ("the tool refused", result(content="<tool_use_error>File has not been read yet.</tool_use_error>", is_error=True), {}, "failed", "refused"),
    ("a sibling failed", result(content="<tool_use_error>Sibling tool call errored</tool_use_error>", is_error=True), {}, "uncertain", "rejected"),
    ("rejected", result(content=REJECTED, is_error=True), {}, "uncertain", "rejected"),
    ("rejected, as recorded", result(content="no", is_error=True), {"toolDenialKind": "user-rejected"}, "uncertain", "rejected"),
    ("denied before it ran", result(content=REJECTED, is_error=True), {"toolDenialBeforeRun": True}, "not-started", "denied-before-run"),
    (
        "approval refused", result(content=REJECTED, is_error=True), {"permissionDecision": {"decision": "reject"}},
        "not-started", "denied-before-run",
    ),
    ("allowed, then stopped", result(content=REJECTED, is_error=True), {"permissionDecision": {"decision": "accept"}}, "uncertain", "rejected"),
    ("stopped by a person", result(content="part of it", is_error=True), {"toolUseResult": {"interrupted": True}}, "uncertain", "rejected"),
    ("timed out", result(content="Command timed out after 2m 0s", is_error=True), {}, "uncertain", "rejected"),
    ("the client's stand-in", result(content=STAND_IN, is_error=True), {"toolDenialKind": "interrupted"}, "uncertain", "stand-in"),
    ("a stand-in by its text", result(content=STAND_IN, is_error=True), {}, "uncertain", "stand-in"),
    ("marked", result(content="?", is_error=True), {"sessionInspector": {"step": "s", "resolution": "unknown"}}, "uncertain", "marked"),
    ("it happened", result(content="!"), {"sessionInspector": {"resolution": "happened"}}, "resolved", "resolved-happened"),
    (
        "it did not", result(content="!", is_error=True), {"sessionInspector": {"resolution": "did-not-happen"}},
        "resolved", "resolved-did-not-happen",
    ),
    ("another mark", result(), {"sessionInspector": {"step": "s"}}, "confirmed", "result"),
]  # fmt: skip


@pytest.mark.parametrize(("block", "fields", "state", "kind"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES])
def test_what_a_result_is_worth(block: dict[str, Any], fields: dict[str, Any], state: str, kind: str) -> None:
    operation = asked(block, **fields)
    assert (operation.state, operation.result) == (state, "0:2")
    assert kind in [evidence.kind for evidence in operation.evidence]


@pytest.mark.parametrize("started", [{"backgroundTaskId": "b1"}, {"isAsync": True, "agentId": "a1"}])
def test_work_in_the_background_is_an_operation_of_its_own(started: dict[str, Any]) -> None:
    def made(status: str | None) -> list[Operation]:
        script = Transcript()
        script.user()
        script.assistant(call())
        script.user([result(content="started")], toolUseResult=started)
        if status:
            words = f"<task-notification>\n<tool-use-id>T1</tool-use-id>\n<status>{status}</status>\n</task-notification>"
            script.user(words, origin={"kind": "task-notification"})
        return of_calls(script.inspect())

    for status in (None, "stopped"):
        launch, work = made(status)
        assert (launch.call_id, launch.state, work.call_id, work.state) == ("T1", "confirmed", None, "uncertain")
        assert launch.key != work.key and (work.call, work.result) == ("0:1", "0:2")
    (ended,) = made("completed")
    assert ended.state == "confirmed" and ("notice", "strong") in [(evidence.kind, evidence.grade) for evidence in ended.evidence]


def test_a_call_without_result_is_uncertain_unless_it_only_reads() -> None:
    assert asked().state == "uncertain" and asked().result is None
    reads = asked(command="git status")
    assert (reads.state, reads.effect) == ("resolved", "read-only")
    assert "only-reads" in [evidence.kind for evidence in reads.evidence]
    assert asked(result(content=STAND_IN, is_error=True), command="ls").state == "resolved"


def test_the_real_result_beats_the_stand_in_in_either_order() -> None:
    stand_in, real = result(content=STAND_IN, is_error=True), result()
    for results, row in (((stand_in, real), "0:3"), ((real, stand_in), "0:2")):
        operation = asked(*results)
        assert (operation.state, operation.result) == ("confirmed", row)
        assert {"result", "stand-in", "real-result"} <= {evidence.kind for evidence in operation.evidence}


def test_what_the_model_says_is_no_proof() -> None:
    made = Transcript()
    made.user("ship it")
    made.assistant(call("T2", command="echo x > out.txt"))
    made.user("and?")
    made.assistant(text("Shipped, all is well."))
    made.assistant(call("T3", "Read", file_path="out.txt"))
    made.user([result("T3")])
    operation = made.inspect().operations[0]
    graded = {evidence.kind: (evidence.row, evidence.grade) for evidence in operation.evidence}
    assert operation.state == "uncertain" and operation.target == "out.txt"
    assert graded["assistant-claim"] == ("0:3", "none") and graded["later-read"] == ("0:5", "weak")


def test_a_repeated_row_is_one_operation_and_a_reused_id_is_two() -> None:
    made = Transcript()
    made.user()
    made.assistant(call())
    made.raw(made.lines[-1])
    made.user([result()])
    assert [(op.state, op.result) for op in of_calls(made.inspect())] == [("confirmed", "0:3")]
    made = Transcript()
    made.tool()
    made.assistant(call(command="make more"))
    first, second = made.inspect().operations
    assert (first.state, second.state) == ("confirmed", "uncertain") and first.key != second.key


def test_a_call_that_a_cut_line_began_is_uncertain() -> None:
    made = Transcript()
    made.user()
    made.assistant(call("T9", "Write", file_path="a", content="x" * 200))
    made.lines[-1] = made.lines[-1][: made.lines[-1].index(b"xxx")]
    operation = only(made)
    assert (operation.call_id, operation.tool, operation.arguments, operation.state) == ("T9", "Write", None, "uncertain")
    assert operation.evidence[0].kind == "call-cut-off"


def test_progress_shows_that_a_call_had_started() -> None:
    made = Transcript()
    made.user()
    made.assistant(call())
    made.record("progress", parentToolUseID="T1", toolUseID="bash-progress-0", data={"type": "bash_progress"})
    kinds = {evidence.kind: evidence.row for evidence in only(made).evidence}
    assert kinds["progress"] == "0:2" and kinds["no-result"] is None


def test_a_tool_that_was_used_without_a_row() -> None:
    def made(*tail: Any) -> list[Operation]:
        script = Transcript()
        script.tool("T1")
        script.record("tools-used", tools=["Bash", "Write"])
        script.user("more")
        for blocks in tail:
            script.assistant(*blocks)
        return script.inspect().operations

    (_, suspected) = made()
    assert (suspected.tool, suspected.call, suspected.state, suspected.on_branch) == ("Write", None, "uncertain", True)
    assert len(made([text("Done.")])) == 1
    assert [op.tool for op in made([call("T2", "Write", file_path="a")])] == ["Bash", "Write"]


def test_a_tool_that_was_used_without_a_row_is_judged_by_its_name_and_rule() -> None:
    made = Transcript()
    made.record("tools-used", tools=["Bash", "Read", "mcp__shop__pay", "mcp__shop__list"])
    made.user("more")
    rule = Rule("mcp__shop__pay", EffectClass.DESTRUCTIVE, "pays", target="shop")
    pointed = Rule("mcp__shop__list", EffectClass.READ_ONLY, "lists", pointer="/page", glob="*")
    found = {op.tool: op for op in made.inspect(policy=Policy(1, (rule, pointed))).operations}
    assert [(op.tool, op.effect, op.state, op.declared_target) for op in found.values()] == [
        ("Bash", "unknown", "uncertain", ""),
        ("Read", "read-only", "resolved", ""),
        ("mcp__shop__pay", "destructive", "uncertain", "shop"),
        ("mcp__shop__list", "unknown", "uncertain", ""),
    ]
    assert all(op.why_effect.endswith("(judged by the tool alone: the call was never saved)") for op in found.values())
    assert [op.tool for op in found.values() if "only-reads" in [evidence.kind for evidence in op.evidence]] == ["Read"]


def lost(*rows: Callable[[Transcript], Any], **how: Any) -> list[tuple[str, list[str | None]]]:
    """State and rows of the lost answers of a conversation that ends like this."""
    made = Transcript()
    made.turn()
    for row in rows:
        row(made)
    return [(op.state, [each.row for each in op.evidence]) for op in made.inspect(**how).operations if op.tool == LOST_ANSWER]


def prompt(made: Transcript) -> str:
    return made.user("now write it")


def called(made: Transcript) -> str:
    return made.assistant(call())


def came_back(made: Transcript) -> str:
    return made.user([result()])


def test_an_answer_of_which_nothing_was_saved_is_an_operation() -> None:
    assert lost(prompt) == [("uncertain", ["0:2"])]
    assert lost(prompt, called, came_back) == [("uncertain", ["0:4"])]
    assert lost(prompt, lambda made: made.assistant(thinking())) == [("uncertain", ["0:3"])]
    assert lost(prompt, lambda made: made.assistant(text("No response requested."), model="<synthetic>")) == [("uncertain", ["0:2"])]
    noted = b'{"type":"api-request","sessionId":"s"}', b'{"type":"tools-used","tools":[],"sessionId":"s"}'
    assert lost(prompt, *(lambda made, row=row: made.raw(row) for row in noted)) == [("uncertain", ["0:2"])]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [prompt, called],
        [prompt, lambda made: made.user([{"type": "text", "text": "[Request interrupted by user]"}])],
        [prompt, lambda made: made.assistant(text("API Error: 529"), isApiErrorMessage=True)],
        [prompt, lambda made: made.raw(b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"T8","name":"Write","inp')],
        [lambda made: made.user("<command-name>/exit</command-name>")],
        [lambda made: made.user("A summary.", isCompactSummary=True)],
        [prompt, lambda made: made.assistant(call("T1"), call("T2")), came_back],
        [prompt, lambda made: made.raw(b'{"type":"api-request","sessionId":"s"}')],
    ],
)
def test_what_is_no_lost_answer(rows: list[Callable[[Transcript], Any]]) -> None:
    assert lost(*rows) == []


def test_a_lost_answer_stays_open_over_a_repair() -> None:
    found = look(CORPUS / "claude-code" / "c5_text_hang_slowkill")
    (before,) = found.operations
    planned = repair.plan(found, rulebook.diagnose(found), seed="s", at="2026-12-01T00:00:00.000Z")
    assert planned.steps and [op.key for op in planned.outcome.inspection.operations] == [before.key]
    assert "effect-without-row" not in {finding.code for finding in planned.outcome.findings}


def test_an_agent_is_as_bad_as_its_transcript() -> None:
    made, inner = Transcript(), Transcript()
    made.user()
    made.assistant(call("T1", "Agent", prompt="clean"))
    inner.user("clean")
    inner.assistant(call("S1", command="rm -rf build"))
    meta = json.dumps({"toolUseId": "T1"}).encode()
    folder_ = f"{SESSION}/subagents"
    made.parts = [Part(f"{folder_}/agent-a1.jsonl", b"".join(inner.lines)), Part(f"{folder_}/agent-a1.meta.json", meta)]
    outer, child = made.inspect().operations
    assert (outer.effect, outer.on_branch, child.effect, child.on_branch) == ("destructive", True, "destructive", False)
    assert "agent-transcript" in [evidence.kind for evidence in outer.evidence]


def test_the_answer_holds_every_key_of_the_contract() -> None:
    keys = {"key", "call_id", "tool", "arguments", "effect", "why_effect", "state", "on_branch", "call", "result", "evidence"}
    for operation in look(CORPUS / "claude-code" / "live332-i2_subagent_killed").operations:
        value = asdict(operation)
        assert keys <= set(value) and value["policy"] == policy_version(BUILT_IN) and json.dumps(value)
        assert all({"kind", "says", "row"} <= set(evidence) for evidence in value["evidence"])


@pytest.mark.parametrize("case", ["d1_parallel_bash", "live332-e9_perm_pending_kill", "live332-c5_text_hang_slowkill", "live332-i4_bg_agent_killed"])
def test_keys_survive_repair_and_fork(case: str) -> None:
    found = look(CORPUS / "claude-code" / case)
    before = {op.key: op.state for op in found.operations}
    planned = repair.plan(found, rulebook.diagnose(found), seed="s", at="2026-12-01T00:00:00.000Z")
    assert {op.key: op.state for op in planned.outcome.inspection.operations} == before
    forked = fork.fork(found, new_id="99999999-2222-4333-8444-555555555555", at="2026-12-01T00:00:00.000Z")
    assert {op.key for op in of_calls(forked.inspection)} <= set(before)


@pytest.mark.parametrize("outcome", ["happened", "did-not-happen"])
@pytest.mark.parametrize("case", ["live332-e9_perm_pending_kill", "live332-i2_subagent_killed"])
def test_a_resolution_settles_the_operation(case: str, outcome: Any) -> None:
    found = look(CORPUS / "claude-code" / case)
    operation = next(op for op in found.operations if op.state == "uncertain" and op.on_branch)
    made = repair.plan(
        found, rulebook.diagnose(found), seed="s", at="2026-12-01T00:00:00.000Z", resolutions={operation.key: Resolution(outcome, "I looked.")}
    )
    after = made.outcome.inspection.operations
    assert [op.state for op in after if op.key == operation.key] == ["resolved"]
    assert {op.key for op in after} == {op.key for op in found.operations}


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, min_size=2), st.text())
def test_a_key_does_not_depend_on_the_order_of_arguments(arguments: dict[str, Any], call_id: str) -> None:
    turned = dict(reversed(list(arguments.items())))
    assert key_of(call_id, "Bash", arguments) == key_of(call_id, "Bash", turned)
    assert key_of(call_id, "Bash", arguments) != key_of(call_id, "Write", arguments)
    assert key_of("a", "Bash", {"x": "\ud800"}) == key_of("a", "Bash", {"x": "\ufffd"})


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({"file_path": "/a/b"}, "/a/b"),
        ({"command": "echo x >> out.txt; ls > /dev/null"}, "out.txt"),
        ({"command": "curl https://h.example/x"}, "h.example"),
        ({"command": "ls 2>&1"}, None),
        ({"order_id": "O-1"}, "O-1"),
        ({"order_id": 5}, None),
        ("text", None),
        (None, None),
    ],
)
def test_targets(arguments: Any, target: str | None) -> None:
    assert target_of(arguments) == target


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_bytes_never_break_the_ledger_nor_settle_an_open_call(data: st.DataObject) -> None:
    made = Transcript()
    made.tool("T1")
    made.assistant(call("T2", command="make ship"))
    raw = bytearray(b"".join(made.lines))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        if data.draw(st.booleans()):
            del raw[at : at + data.draw(st.integers(1, 40))]
        else:
            raw[at : at + 1] = bytes([data.draw(st.sampled_from(b'\0\n"{}x'))])
    found = inspect(Source(f"{SESSION}.jsonl", (Part(f"{SESSION}.jsonl", bytes(raw)),)), client="claude-code")
    assert all(op.state != "confirmed" for op in found.operations if op.call_id == "T2" and op.arguments == {"command": "make ship"})
    assert json.dumps([asdict(op) for op in found.operations])
