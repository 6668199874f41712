"""Diagnosis of whole sessions: files with one fault each, reported failures, recorded clean sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core.findings import Finding, Severity
from inspector.core.inspection import inspect
from inspector.core.rulebook import PAGES, diagnose
from inspector.core.source import Part, Source

CORPUS = Path(__file__).parents[1] / "corpus"
DEFECTS = json.loads((CORPUS / "defects" / "expected.json").read_text())
REPORTED = sorted(path.name for path in (CORPUS / "reported").iterdir())
CLEAN = ["h1_fork", "live332-e18_branch", "live332-e9c_reject_feedback", "live332-e13_autocompact", "live332-e4_queued", "live332-e7_compact_tui"]
"""Recorded sessions that ended well."""

NAMED = {
    "unresolved_tool_use": {"unresolved-call"},
    "api_error_row": {"api-error-row"},
    "orphan_tool_result": {"orphan-result"},
    "split_assistant_message": {"split-message"},
    "off_chain_tool_result": {"result-not-adjacent"},
    "lone_surrogate": {"lone-surrogate"},
    "spliced_line": {"spliced-lines"},
    "missing_newline": {"spliced-lines"},
    "truncated_tail": {"truncated-tail"},
    "multiple_leaves": {"several-leaves"},
    "concurrent_writers": {"interleaved-writers"},
    "foreign_session_rows": {"foreign-session-rows"},
    "cwd_change": {"cwd-drift"},
    "worktree_shared": {"shared-worktree"},
    "worktree_has_unmerged_commits": {"unmerged-worktree"},
    "unresolved_function_call": {"unresolved-call"},
    "later_text_claims_success": {"later-claim"},
    "reasoning_without_following_item": {"orphan-reasoning"},
    "item_without_required_reasoning": {"orphan-reasoning"},
    "duplicate_item_id": {"duplicate-item-id"},
}
"""Fault as the report names it -> our codes."""


def findings_of(path: Path) -> list[Finding]:
    return diagnose(inspect(source_of(session_files(path)[0])))


def above_info(findings: list[Finding]) -> set[str]:
    return {finding.code for finding in findings if finding.severity is not Severity.INFO}


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_one_fault_is_found_and_no_other(name: str) -> None:
    findings = findings_of(CORPUS / "defects" / name)
    allowed = set(DEFECTS[name].get("accepted", ()))
    for codes, lines in DEFECTS[name]["must"]:
        wanted, rows = set(codes.split("|")), {f"0:{line}" for line in lines}
        assert any(finding.code in wanted and rows & set(finding.rows) for finding in findings), (codes, findings)
        allowed |= wanted
    assert above_info(findings) <= allowed


@pytest.mark.parametrize("name", REPORTED)
def test_every_reported_fault_is_named_and_a_blocker_is_an_error(name: str) -> None:
    folder = CORPUS / "reported" / name
    case = json.loads((folder / "case.json").read_text())
    found: dict[str, set[Severity]] = {}
    for finding in findings_of(folder / case["input"]):
        found.setdefault(finding.code, set()).add(finding.severity)
    for fault in case["expected"]["diagnosis"]:
        severities = set().union(*(found.get(code, set()) for code in NAMED[fault["code"]]))
        assert severities, (fault["code"], found)
        if fault["severity"] == "blocker":
            assert severities & {Severity.FATAL, Severity.ERROR}, (fault["code"], found)


def test_a_result_in_a_spliced_line_answers_its_call() -> None:
    assert "unresolved-call" not in {finding.code for finding in findings_of(CORPUS / "reported" / "12-cc-spliced-lines" / "input.jsonl")}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_session_has_nothing_above_info(name: str) -> None:
    assert above_info(findings_of(CORPUS / "claude-code" / name / "source")) == set()


@pytest.mark.parametrize("path", sorted((CORPUS / "claude-code").iterdir()), ids=lambda path: path.name)
def test_findings_name_rows_and_pages_that_exist(path: Path) -> None:
    looked = inspect(source_of(session_files(path / "source")[0]))
    for finding in diagnose(looked):
        assert finding.code in PAGES
        assert "\n" not in finding.message and 20 < len(finding.message) < 400
        for ref in finding.rows:
            assert ref.startswith("+") or looked.row(ref).ref == ref


def test_a_lost_output_is_only_said_to_be_lost_when_the_folder_was_given() -> None:
    whole = source_of(session_files(CORPUS / "claude-code" / "h1_fork" / "source")[0])
    alone = Source(whole.name, whole.parts[:1])
    elsewhere = Source(whole.name, (whole.parts[0], Part("x/tool-results/other.txt", b"other")))
    severities = []
    for source in (whole, alone, elsewhere):
        severities.append([finding.severity for finding in diagnose(inspect(source)) if finding.code == "lost-tool-output"])
    assert severities == [[], [Severity.INFO], [Severity.WARNING]]
