"""Kinds of target: which one a call has, the sentence about its window, and the help pages."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.effects import effect_of
from inspector.core.operations import STATES
from inspector.core.target_kinds import KINDS, TargetKind
from inspector.core.targets import kind_of, window_line
from tests.core.test_effects import KNOWN, SCRIPTS

NAMES = ["file", "git-remote", "git-local", "shell", "http-service", "key", "lookup", "same-database", "agent", "none"]
PROBES = {"file-hash", "git-remote", "git-log", "http-get", "sql-select", "key-lookup"}
AVOIDED = re.compile(r"exactly.once|idempot|\bfenc|orphan|tombstone", re.IGNORECASE)
LIVE = ["proposed", "approved", "cancelled", "expired", "dispatched", "confirmed", "failed", "uncertain", "resolved"]


def test_the_kinds_are_the_ones_that_are_documented() -> None:
    assert list(KINDS) == NAMES
    assert all(name == kind.name for name, kind in KINDS.items())


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_kind_has_a_help_page_in_plain_words(kind: TargetKind) -> None:
    said = inspect.cleandoc(kind.help)
    assert 120 <= len(said.split()) <= 250
    headings = ["When the window opens", "What closes it", "What the target promises", "How to find out", "Traps"]
    assert re.findall(r"^\*\*(.+?)\.\*\*", said, re.MULTILINE) == headings
    assert re.search(r"^\*Sources: .+\.\*\Z", said, re.MULTILINE | re.DOTALL)
    for text in (said, kind.title, kind.opens, kind.closes, kind.contract, kind.check):
        assert text
        assert not AVOIDED.search(text)
    assert kind.contract.endswith(".") and not any(clause.endswith(".") for clause in (kind.title, kind.opens, kind.closes, kind.check))


def test_only_a_key_or_a_mere_look_lets_an_uncertain_operation_be_sent_again() -> None:
    assert [kind.name for kind in KINDS.values() if kind.repeatable] == ["key", "none"]


def test_probes_are_named_where_one_can_tell() -> None:
    assert all(set(kind.probes) <= PROBES for kind in KINDS.values())
    assert [kind.name for kind in KINDS.values() if not kind.probes] == ["agent", "none"]
    assert {probe for kind in KINDS.values() for probe in kind.probes} == PROBES


CALLS: list[tuple[str, str, Any, str]] = [
    ("claude-code", "Write", {"file_path": "a"}, "file"),
    ("claude-code", "Edit", {}, "file"),
    ("claude-code", "NotebookEdit", None, "file"),
    ("codex", "apply_patch", "*** Begin Patch", "file"),
    ("gemini-cli", "replace", {}, "file"),
    ("gemini-cli", "save_memory", {}, "file"),
    ("claude-code", "Agent", {}, "agent"),
    ("claude-code", "Skill", {}, "agent"),
    ("codex", "spawn_agent", {}, "agent"),
    ("codex", "interrupt_agent", {}, "agent"),
    ("gemini-cli", "codebase_investigator", {}, "agent"),
    ("claude-code", "ExitWorktree", {"action": "remove"}, "git-local"),
    ("claude-code", "TaskCreate", {}, "shell"),
    ("claude-code", "TaskStop", {}, "shell"),
    ("claude-code", "Monitor", {}, "shell"),
    ("codex", "exec", "tools.exec_command()", "shell"),
    ("codex", "wait", {"terminate": True}, "shell"),
    ("claude-code", "PushNotification", {}, "http-service"),
    ("claude-code", "RemoteTrigger", {}, "http-service"),
    ("claude-code", "ReadMcpResourceTool", {}, "http-service"),
    ("claude-code", "mcp__stripe__create_refund", {}, "http-service"),
    ("claude-code", "write_file", {}, "http-service"),
    ("unheard-of", "Write", {}, "http-service"),
    ("claude-code", "Read", {}, "none"),
    ("gemini-cli", "web_fetch", {}, "none"),
    ("codex", "wait", {}, "none"),
]
SCRIPT_KINDS = {
    "git-remote": [
        "git push", "git push -f origin main", "git add -A && git commit -m 'a; b && c' && git push", "cd app && git push 2>&1 | tail -3",
        "git -C app push origin main", "git commit -m \"$(cat <<'EOF'\nThe text: one; two.\nEOF\n)\" && git push",
        "for b in x y; do git push origin $b; done", "GIT_SSH_COMMAND=ssh git push", "git --git-dir x push",
    ],
    "git-local": [
        "git commit -m x", "git add . && git commit -m 'push it'", "git reset --hard", "git status; git checkout dev", "git fetch", "git clean -fd",
        "git log | head; git stash", "git worktree add ../w", "git commit -am push",
    ],
    "http-service": [
        "curl -X POST https://h/pay", "curl -s https://h | head -5", "gh pr create --title 'rm it'", "kubectl delete pod x", "terraform destroy",
        "curl https://a && wget https://b",
    ],
    "shell": [
        "make", "rm -rf build", "echo x > a.txt", "git push && make", "git push > log.txt", "gh pr create && git push", "git push && curl https://h",
        "git unknown", "git lfs push", "sudo git push", "echo 'open", "", "bash -c 'git push'", "python -c 'print(1)' && git commit -m x",
        "git push\n" + "#" * 10_000, "$cmd push",
    ],
    "none": ["ls", "git", "git status", "git log | head -3", "grep -rn 'git push' ."],
}  # fmt: skip


@pytest.mark.parametrize(("client", "tool", "arguments", "expected"), CALLS)
def test_the_kind_of_a_call(client: str, tool: str, arguments: Any, expected: str) -> None:
    assert kind_of(tool, effect_of(client, tool, arguments).name, arguments, client) == expected


@pytest.mark.parametrize(("expected", "script"), [(kind, script) for kind, scripts in SCRIPT_KINDS.items() for script in scripts])
def test_the_kind_of_a_script(expected: str, script: str) -> None:
    for client, tool, arguments in (
        ("claude-code", "Bash", {"command": script}),
        ("codex", "shell", {"command": ["bash", "-lc", script]}),
        ("codex", "exec_command", {"cmd": script}),
        ("gemini-cli", "run_shell_command", {"command": script}),
    ):
        assert kind_of(tool, effect_of(client, tool, arguments).name, arguments, client) == expected


def test_a_command_as_a_list_of_words() -> None:
    assert kind_of("shell", "idempotent", {"command": ["git", "push", "origin", "main"]}, "codex") == "git-remote"
    assert kind_of("Bash", "unknown", None, "claude-code") == "shell"


@pytest.mark.parametrize("declared", NAMES)
def test_a_declared_target_decides(declared: str) -> None:
    assert kind_of("mcp__shop__pay", "unknown", {}, "claude-code", declared) == declared
    assert kind_of("Bash", "idempotent", {"command": "git push"}, "claude-code", declared) == declared
    assert kind_of("mcp__shop__list", "read-only", {}, "claude-code", declared) == "none", "what only reads has no window anywhere"


def test_a_declared_kind_that_there_is_not_is_an_error() -> None:
    with pytest.raises(KeyError):
        kind_of("Read", "read-only", {}, "claude-code", "queue")


@pytest.mark.parametrize(("client", "tool"), [(client, tool) for client, tool, _ in KNOWN])
def test_a_known_tool_that_changes_something_has_a_kind_and_one_that_reads_has_none(client: str, tool: str) -> None:
    effect = effect_of(client, tool, None).name
    assert (kind_of(tool, effect, None, client) == "none") is (effect == "read-only")


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(["claude-code", "codex", "gemini-cli", "other"]), st.sampled_from([tool for _, tool, _ in KNOWN]) | st.text(max_size=9), st.text()
)
def test_every_call_has_a_kind(client: str, tool: str, script: str) -> None:
    for arguments in (None, script, [script], {"command": script, "cmd": script}, {"command": [script, script]}):
        assert kind_of(tool, "unknown", arguments, client) in set(KINDS) - {"none"}


@pytest.mark.parametrize("script", [script for name in ("idempotent", "mutating", "unknown", "destructive") for script in SCRIPTS[name]])
def test_only_scripts_of_git_or_a_service_alone_are_more_than_a_command(script: str) -> None:
    kind = kind_of("Bash", "unknown", {"command": script}, "claude-code")
    named = {"shell": "", "git-remote": r"git\b.*\bpush", "git-local": r"\bgit\b", "http-service": "curl|kubectl|aws|gh|helm|terraform"}
    assert re.search(named[kind], script)


@pytest.mark.parametrize("state", sorted({*LIVE, *STATES.values(), "waiting-approval"}))
@pytest.mark.parametrize("kind", NAMES)
def test_one_sentence_for_every_kind_in_every_state(kind: str, state: str) -> None:
    said = window_line(kind, state)
    assert re.fullmatch(r"[A-Z][^.!?]*\.", said)
    assert said.count(":") <= 1
    assert not AVOIDED.search(said)
    assert ("still open" in said) is (state == "uncertain" and kind != "none")
    assert ("is closed" in said) is (state in ("confirmed", "failed", "resolved") and kind != "none")


def test_what_the_sentence_says() -> None:
    assert window_line("git-remote", "uncertain") == (
        "The window opens when git sends the commits and closes when the row with git's answer is saved: "
        "it is still open, so ask the server where the branch stands now."
    )
    assert window_line("http-service", "approved") == "The window has not opened yet: it opens when the request leaves for the service."
    assert window_line("file", "not-started") == "The window never opened: nothing was sent."
    assert window_line("none", "resolved") == "There is no window: the call only reads."
