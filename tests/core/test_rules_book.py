"""The rule book: every rule is listed, every code has its page, and the order is the order of repair."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from inspector.core import rules
from inspector.core.inspection import inspect
from inspector.core.request import DIALECTS
from inspector.core.rulebook import PAGES, RULES, diagnose
from inspector.core.rules import (
    dangling_parent,
    image_limits,
    lost_tool_output,
    request_problems,
    thinking_only,
    truncated_tail,
    unparseable_row,
    unresolved_call,
)
from inspector.core.source import Part, Source

from .transcripts import conversation, text

CONTRACT = set(
    """truncated-tail spliced-lines nul-block unparseable-row non-object-row lone-surrogate oversized-row bad-timestamp missing-final-newline
    duplicate-row duplicate-uuid dangling-parent parent-cycle several-leaves stale-last-prompt interleaved-writers child-before-parent
    foreign-session-rows sidechain-tail unresolved-call orphan-result duplicate-result duplicate-call-id result-not-adjacent split-message
    split-server-tool-pair hidden-late-result effect-without-row pending-approval thinking-only thinking-other-model empty-text empty-content
    string-content content-after-call api-error-row interrupted-turn open-turn user-tail half-compaction broken-preserved-segment replayed-rows
    emptied-history compacted-bloat progress-bloat legacy-attachment invalid-permission-mode risky-permission-mode restored-edit-mode
    injected-system-prompt request-hash-mismatch lost-tool-output lost-file-backup lost-replacement shared-worktree unmerged-worktree cwd-drift
    oversized-image many-large-images long-tool-name bad-tool-input stored-cache-control uncertain-operation later-claim same-intent-new-key
    double-dispatch stale-attempt""".split()
)
"""Codes that scripts, pages and links rely on: none may go or be renamed."""
HEADINGS = ("What it is.", "Why it matters.", "What the client does.", "What the repair does.", "What to check.")
FILES = sorted(path.stem for path in Path(rules.__file__).parent.glob("*.py") if path.stem != "__init__")


def test_no_code_of_the_contract_is_missing() -> None:
    assert CONTRACT <= set(PAGES)


def test_every_file_is_one_rule_of_the_book() -> None:
    assert sorted(rule.__name__.rsplit(".", 1)[-1] for rule in RULES) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_rule_has_codes_and_a_page(name: str) -> None:
    rule = import_module(f"inspector.core.rules.{name}")
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in rule.CODES) and rule.CODES
    title, *rest = (rule.__doc__ or "").splitlines()
    assert re.fullmatch(r"[A-Z][^:]+: .+\.", title)
    assert [found for found in re.findall(r"^\*\*(.+?)\*\*", "\n".join(rest), re.M)] == list(HEADINGS)


def test_a_code_belongs_to_one_rule_but_for_problems_of_the_request() -> None:
    codes = [code for rule in RULES for code in rule.CODES]
    assert len(codes) == len(set(codes))


def test_every_provider_rule_has_a_code_with_a_page() -> None:
    permits = {"A20", "A21", "R4", "R8", "R9", "R10", "R12", "R15"}
    assert set(request_problems.CODE_OF) == {id for dialect in DIALECTS.values() for id in dialect.RULES} - permits - {"F11"}
    assert set(request_problems.CODE_OF.values()) <= set(PAGES)


def test_bytes_come_before_the_chain_messages_calls_state_and_limits() -> None:
    order = [truncated_tail, unparseable_row, dangling_parent, thinking_only, unresolved_call, lost_tool_output, image_limits, request_problems]
    assert [rule for rule in RULES if rule in order] == order
    assert RULES[-1] is request_problems


def test_a_refusal_can_be_repaired_only_where_a_step_would_come_of_it() -> None:
    empty, program = (Source(name, (Part(name, data),)) for name, data in (("a.jsonl", b""), ("a.py", b"import os\n")))
    misled = conversation()
    aside = misled.assistant(text("An agent's answer."), isSidechain=True)
    misled.record("last-prompt", leafUuid=aside, explicit=True)
    for source, mends in ((empty, False), (program, False), (misled.source(), True)):
        looked = inspect(source)
        assert looked.state.refused
        assert [finding.repairable for finding in diagnose(looked) if finding.code == "resume-refused"] == [mends]
