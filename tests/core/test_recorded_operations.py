"""Recorded sessions whose real course is known: every call is an operation, with the state and the evidence that the bytes allow.

What really happened is in the cases' notes and screens, taken from outside. The ledger can't know it: two cases that ended differently in the
world may look the same in the file, and then have the same state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspector.capture import folder
from inspector.core.inspection import Inspection, inspect
from inspector.core.operations import Operation
from inspector.core.source import Part, Source

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "claude-code"


class Op(NamedTuple):
    tool: str
    effect: str
    state: str
    evidence: str
    """`kind` of each piece: alone where it is weak, with `!` where it settles, with `?` where it proves nothing."""
    on_branch: bool = True


class Case(NamedTuple):
    name: str
    really: str
    operations: tuple[Op, ...]


NO_RESULT = "call no-result"
USED = "tools-used?"
LOST = Op("lost answer", "unknown", "uncertain", "lost-answer")
"""The process ended before an answer was saved: to a prompt, or to a result."""
RECORDED = (
    Case(
        "e2_esc_tool", "The command had run when the person pressed Esc; the result says that it was rejected.",
        (Op("Bash", "mutating", "uncertain", "call rejected screen interrupted"),),
    ),
    Case(
        "live332-e2_esc_tool", "The same: it had run. The terminal said that no result was recorded.",
        (Op("Bash", "mutating", "uncertain", "call rejected denial screen interrupted"),),
    ),
    Case(
        "live332-e2b_esc_parallel", "Of three calls the first ran, Esc stopped the second in the middle, the third never began.",
        (
            Op("Bash", "read-only", "confirmed", "call result! permission"),
            Op("Bash", "mutating", "uncertain", "call rejected denial screen interrupted"),
            Op("Bash", "mutating", "not-started", "call denied-before-run! screen"),
        ),
    ),
    Case(
        "b3_sigint_bash", "The command had run when SIGINT came; the client wrote a rejection. Nobody sat at a terminal.",
        (Op("Bash", "mutating", "uncertain", "call rejected interrupted"),),
    ),
    Case(
        "c5_text_hang_slowkill", "The command ran, and was killed with the client before any row of the answer was saved.",
        (LOST,),
    ),
    Case(
        "live332-c5_text_hang_slowkill", "The same; this release had noted the name of the tool.",
        (Op("Bash", "unknown", "uncertain", "tools-used unfinished-turn"),),
    ),
    Case(
        "d1_parallel_bash", "Killed in the second of three parallel commands: it had run, the third never began.",
        (
            Op("Bash", "read-only", "confirmed", "call result!"),
            Op("Bash", "mutating", "uncertain", NO_RESULT),
            Op("Bash", "read-only", "resolved", f"{NO_RESULT} only-reads!"),
        ),
    ),
    Case(
        "live332-d1_parallel_bash", "The same.",
        (
            Op("Bash", "read-only", "confirmed", "call result! permission"),
            Op("Bash", "mutating", "uncertain", f"{NO_RESULT} {USED}"),
            Op("Bash", "read-only", "resolved", f"{NO_RESULT} {USED} only-reads!"),
        ),
    ),
    Case(
        "e9_perm_pending_kill", "Killed while the question for permission stood on the screen: it never ran.",
        (Op("Write", "mutating", "uncertain", f"{NO_RESULT} screen asks-first"),),
    ),
    Case(
        "live332-e9_perm_pending_kill", "The same; the tool is noted as used although it never ran.",
        (Op("Write", "mutating", "uncertain", f"{NO_RESULT} screen asks-first {USED}"),),
    ),
    Case(
        "e9b_perm_reject", "Refused at the question: it never ran. This release writes the same as after a stop in the middle.",
        (Op("Write", "mutating", "uncertain", "call rejected screen screen interrupted"),),
    ),
    Case(
        "live332-e9b_perm_reject", "Refused at the question; this release records that it was before the run.",
        (Op("Write", "mutating", "not-started", "call denied-before-run! screen screen"),),
    ),
    Case(
        "e9c_reject_feedback", "Refused with words for the model: it never ran.",
        (Op("Write", "mutating", "uncertain", "call rejected screen screen"),),
    ),
    Case(
        "live332-e9c_reject_feedback", "Refused with words for the model; this release records the decision.",
        (Op("Write", "mutating", "not-started", "call denied-before-run! permission! screen screen"),),
    ),
    Case(
        "i2_subagent_killed", "Killed while a command of the sub-agent ran: it had run.",
        (
            Op("Agent", "unknown", "uncertain", f"{NO_RESULT} agent-transcript process"),
            Op("Bash", "mutating", "uncertain", f"{NO_RESULT} parent-call", on_branch=False),
        ),
    ),
    Case(
        "live332-i2_subagent_killed", "The same, but the agent worked in the background and the model had gone on: its call has a result.",
        (
            Op("Agent", "unknown", "confirmed", "call launched agent-transcript process permission"),
            Op("Agent", "unknown", "uncertain", "call launched agent-transcript process permission assistant-claim?"),
            Op("Bash", "mutating", "uncertain", f"{NO_RESULT} parent-call {USED}", on_branch=False),
        ),
    ),
    Case(
        "live332-i2b_subagent_foreground_killed", "Killed while a command of an agent in the foreground ran: it had run.",
        (
            Op("Agent", "unknown", "uncertain", f"{NO_RESULT} agent-transcript process {USED}"),
            Op("Bash", "unknown", "uncertain", f"{NO_RESULT} parent-call {USED}", on_branch=False),
        ),
    ),
    Case(
        "i4_bg_agent_killed", "Killed while an agent worked in the background: its command had run.",
        (
            Op("Agent", "unknown", "confirmed", "call launched agent-transcript process"),
            Op("Agent", "unknown", "uncertain", "call launched agent-transcript process"),
            Op("Bash", "mutating", "uncertain", f"{NO_RESULT} parent-call", on_branch=False),
            LOST,
        ),
    ),
    Case(
        "live332-i4_bg_agent_killed", "The same.",
        (
            Op("Agent", "unknown", "confirmed", "call launched agent-transcript process permission"),
            Op("Agent", "unknown", "uncertain", "call launched agent-transcript process permission"),
            Op("Bash", "mutating", "uncertain", f"{NO_RESULT} parent-call {USED}", on_branch=False),
            LOST,
        ),
    ),
    Case(
        "live332-i3b_bg_finished_unread", "A command in the background came to its end; the notice of it was never read.",
        (Op("Bash", "mutating", "confirmed", "call launched notice! permission"), LOST),
    ),
    Case(
        "p1_two_clients", "A second client opened the session while the command ran in the first, where it came to its end later.",
        (Op("Bash", "mutating", "uncertain", NO_RESULT),),
    ),
    Case("live332-p1_two_clients", "The same.", (Op("Bash", "unknown", "uncertain", f"{NO_RESULT} {USED}"),)),
    Case(
        "tail-x14_late_real_result_after_synthetic", "What two clients leave: the stand-in of the second, then the real result of the first.",
        (
            Op("Bash", "read-only", "confirmed", "call result!"),
            Op("Write", "mutating", "confirmed", "call result! stand-in real-result"),
            LOST,
        ),
    ),
    Case(
        "k3_askuser_pending", "The model asked the person something; nobody answered.",
        (Op("Bash", "read-only", "confirmed", "call result!"), Op("AskUserQuestion", "read-only", "waiting-approval", f"{NO_RESULT} screen")),
    ),
)  # fmt: skip
MARKS = {"weak": "", "strong": "!", "none": "?"}


def look(name: str) -> Inspection:
    (main,) = folder.session_files(CORPUS / name / "source")
    return inspect(folder.source_of(main))


def told(operation: Operation) -> Op:
    evidence = " ".join(each.kind + MARKS[each.grade] for each in operation.evidence)
    return Op(operation.tool, operation.effect, operation.state, evidence, operation.on_branch)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_operations_states_and_evidence(case: Case) -> None:
    assert case.really and tuple(map(told, look(case.name).operations)) == case.operations


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_evidence_names_rows_of_the_session(case: Case) -> None:
    looked = look(case.name)
    for operation in looked.operations:
        for each in operation.evidence:
            assert each.says.endswith(".") and "\n" not in each.says
            assert each.row is None or looked.row(each.row).ref == each.row


def test_a_settled_claim_of_the_model_is_never_more_than_shown() -> None:
    """Whatever state an operation has, a sentence of the model did not give it."""
    for case in RECORDED:
        assert all(each.grade == "none" for op in look(case.name).operations for each in op.evidence if each.kind == "assistant-claim")


def test_what_agents_left_open_counts_for_the_call_that_started_them() -> None:
    for name in ("i2_subagent_killed", "live332-i2_subagent_killed", "live332-i2b_subagent_foreground_killed", "i4_bg_agent_killed"):
        looked = look(name)
        *outer, inner = [operation for operation in looked.operations if operation.call]
        (link,) = [each.row for each in inner.evidence if each.kind == "parent-call"]
        assert link == outer[-1].call and inner.key in looked.operations_open() and outer[-1].key in looked.operations_open()


def with_parts(name: str, *parts: Part) -> Inspection:
    (main,) = folder.session_files(CORPUS / name / "source")
    source = folder.source_of(main)
    return inspect(Source(source.name, (*source.parts, *parts)))


@pytest.mark.parametrize(("session", "kinds"), [("own", ["process"]), ("another", [])])
def test_the_record_of_a_client_that_had_the_session_open_is_evidence(session: str, kinds: list[str]) -> None:
    name = "e9_perm_pending_kill"
    id = look(name).session.id if session == "own" else "99999999-2222-4333-8444-555555555555"
    record: Any = f'{{"pid": 4121, "sessionId": "{id}", "cwd": "/home/dev/shop", "status": "busy"}}\n'.encode()
    looked = with_parts(name, Part("sessions/4121.json", record))
    (operation,) = looked.operations
    found = [each for each in operation.evidence if each.kind == "process"]
    assert [each.kind for each in found] == kinds and operation.state == "uncertain"
    assert all(each.grade == "weak" and each.row == "1:0" and "(busy)" in each.says for each in found)
