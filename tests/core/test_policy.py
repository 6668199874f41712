"""An operator's policy: rules and trusted annotations before the tables, globs, pointers, and what is refused as a policy."""

from __future__ import annotations

import fnmatch
import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core import fork, repair, rulebook
from inspector.core.effect_class import EffectClass
from inspector.core.effects import TAKES_AWAY, effect_of, policy_version
from inspector.core.errors import PolicyError
from inspector.core.policy import BUILT_IN, HINTS, Annotations, Policy, Rule, matches, server_tool
from inspector.core.source import Part
from tests.core.transcripts import SESSION, Transcript, call, result

SHOP = {
    "version": 7,
    "rules": [
        {"tool": "mcp__shop__refund", "pointer": "/amount", "glob": "0", "effect": "read-only", "why": "refunds nothing"},
        {"tool": "mcp__shop__refund*", "effect": "mutating", "why": "pays money back", "target": "shop"},
        {"client": "codex", "tool": "Read", "effect": "unknown", "why": "Codex has no such tool"},
        {"tool": "Bash", "pointer": "/command", "glob": "make test", "effect": "read-only", "why": "our tests write nothing"},
        {"tool": "Bash", "pointer": "/command", "glob": "./check a && ./check b > /dev/null", "effect": "read-only", "why": "both only check"},
        {"tool": "*", "pointer": "/command", "glob": "./check *", "effect": "read-only", "why": "our checks write nothing"},
        {"tool": "shell", "pointer": "/command/0", "glob": "./check", "effect": "read-only", "why": "our checks write nothing"},
        {"tool": "Bash", "pointer": "/description", "glob": "*backup*", "effect": "destructive", "why": "backups"},
        {"client": "gemini-cli", "tool": "run_shell_command", "effect": "idempotent", "why": "a machine that is thrown away"},
        {"tool": "mcp__shop__[!g]*", "effect": "destructive", "why": "the shop"},
    ],
    "servers": {
        "github": {
            "get_issue": {"readOnlyHint": True},
            "add_comment": {"destructiveHint": False},
            "add_label": {"destructiveHint": False, "idempotentHint": True},
            "local": {"readOnlyHint": True, "openWorldHint": False},
            "silent": {},
            "delete_branch": {"readOnlyHint": True},
        }
    },
}
POLICY = Policy.from_json(SHOP)

TRUSTED = "the server github, which policy version 7 trusts, says that it only reads"
JUDGED = [
    ("claude-code", "mcp__shop__refund", {"amount": 5}, "mutating", "pays money back (rule 2 of policy version 7)"),
    ("claude-code", "mcp__shop__refund", {"amount": 0}, "read-only", "refunds nothing (rule 1 of policy version 7)"),
    ("claude-code", "mcp__shop__refund", {"amount": "0"}, "read-only", "refunds nothing (rule 1 of policy version 7)"),
    ("claude-code", "mcp__shop__refund", {"amount": [0]}, "mutating", "pays money back (rule 2 of policy version 7)"),
    ("claude-code", "mcp__shop__refund", None, "mutating", "pays money back (rule 2 of policy version 7)"),
    ("claude-code", "mcp__shop__pay", {}, "destructive", "the shop (rule 10 of policy version 7)"),
    ("claude-code", "mcp__shop__get", {}, "unknown", "a tool of an MCP server"),
    ("claude-code", "Read", {}, "read-only", "only reads"),
    ("codex", "Read", {}, "unknown", "Codex has no such tool (rule 3 of policy version 7)"),
    ("claude-code", "Bash", {"command": "make test"}, "read-only", "our tests write nothing (rule 4 of policy version 7)"),
    ("claude-code", "Bash", {"command": "make test; rm -rf ."}, "destructive", None),
    ("claude-code", "Bash", {"command": "make TEST"}, "unknown", None),
    ("claude-code", "Bash", {"command": "make test\n"}, "unknown", None),
    ("claude-code", "Bash", {"command": "./check a"}, "read-only", "our checks write nothing (rule 6 of policy version 7)"),
    ("claude-code", "Bash", {"command": "./check a; rm -rf ."}, "destructive", None),
    ("claude-code", "Bash", {"command": "./check a\nrm b"}, "destructive", None),
    ("claude-code", "Bash", {"command": "./check $(rm b)"}, "destructive", None),
    ("claude-code", "Bash", {"command": "./check a > b"}, "unknown", None),
    ("claude-code", "Bash", {"command": "./check a & touch b"}, "unknown", None),
    ("claude-code", "Bash", {"command": "./check a && ./check b > /dev/null"}, "read-only", "both only check (rule 5 of policy version 7)"),
    ("claude-code", "Bash", {"command": "./check a && ./check c > /dev/null"}, "unknown", None),
    ("codex", "shell", {"command": ["./check", "a"]}, "read-only", "our checks write nothing (rule 7 of policy version 7)"),
    ("codex", "shell", {"command": ["./check", "; rm b"]}, "unknown", None),
    ("codex", "shell", {"command": ["bash", "-lc", "rm b"]}, "destructive", None),
    ("claude-code", "Bash", {"command": "ls", "description": "make a backup"}, "destructive", "backups (rule 8 of policy version 7)"),
    ("gemini-cli", "run_shell_command", {"command": "rm a; rm b"}, "idempotent", "a machine that is thrown away (rule 9 of policy version 7)"),
    ("claude-code", "mcp__github__get_issue", {}, "read-only", f"{TRUSTED}, outside the server too"),
    ("claude-code", "mcp__github__local", {}, "read-only", TRUSTED),
    ("codex", "mcp__github__add_comment", {}, "mutating", None),
    ("codex", "mcp__github__add_label", {}, "idempotent", None),
    ("codex", "mcp__github__silent", {}, "destructive", None),
    ("codex", "mcp__github__delete_branch", {}, "destructive", "the name of the tool says delete"),
    ("codex", "mcp__github__unlisted", {}, "unknown", "a tool of an MCP server"),
    ("codex", "mcp__GitHub__get_issue", {}, "unknown", None),
    ("codex", "mcp__github__x__get_issue", {}, "unknown", None),
    ("codex", "github__get_issue", {}, "unknown", None),
    ("gemini-cli", "mcp_github_get_issue", {}, "read-only", None),
    ("gemini-cli", "mcp__github__get_issue", {}, "unknown", None),
    ("claude-code", "mcp_github_get_issue", {}, "unknown", None),
]


@pytest.mark.parametrize(("client", "tool", "arguments", "expected", "why"), JUDGED)
def test_the_order_is_rule_then_trusted_server_then_tables(client: str, tool: str, arguments: Any, expected: str, why: str | None) -> None:
    effect = effect_of(client, tool, arguments, POLICY)
    assert effect.name.value == expected, effect.why
    assert why is None or effect.why == why


def test_without_a_policy_no_server_is_believed() -> None:
    assert effect_of("claude-code", "mcp__github__get_issue", {}).name is EffectClass.UNKNOWN
    assert (BUILT_IN.version, BUILT_IN.rules, BUILT_IN.servers) == (0, (), {})


def test_the_defaults_are_those_of_the_protocol() -> None:
    assert asdict(Annotations()) == {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}


@pytest.mark.parametrize(
    ("pointer", "glob", "arguments", "expected"),
    [
        ("/a/b", "x", {"a": {"b": "x"}}, True),
        ("/a~1b/~0c", "x", {"a/b": {"~c": "x"}}, True),
        ("/list/1", "git", {"list": ["sudo", "git"]}, True),
        ("/list/01", "git", {"list": ["sudo", "git"]}, False),
        ("/list/2", "*", {"list": ["sudo", "git"]}, False),
        ("/list/-1", "*", {"list": ["sudo", "git"]}, False),
        ("/list", "*", {"list": ["sudo"]}, False),
        ("/", "x", {"": "x"}, True),
        ("/a", "*", {"a": None}, False),
        ("/a", "true", {"a": True}, True),
        ("/a", "1.5", {"a": 1.5}, True),
        ("/a", "*", "text", False),
        ("/a", "*", {"a": "two\nlines"}, True),
        ("/a", "[ab]?", {"a": "bc"}, True),
        ("/a", "[ab]?", {"a": "Bc"}, False),
    ],
)
def test_what_a_rule_asks_of_an_argument(pointer: str, glob: str, arguments: Any, expected: bool) -> None:
    assert Rule("*", EffectClass.UNKNOWN, "x", pointer=pointer, glob=glob).matches("any", "tool", arguments) is expected


@given(st.text(alphabet="ab*?[]!-\n\\", max_size=8), st.text(alphabet="ab*[]!-\n\\", max_size=8))
def test_globs_mean_what_fnmatchcase_says(glob: str, said: str) -> None:
    assert matches(glob, said) is fnmatch.fnmatchcase(said, glob)


def test_a_hostile_argument_is_matched_in_a_moment() -> None:
    assert not matches("*a" * 200 + "*b", "a" * 20_000)


@pytest.mark.parametrize(
    ("client", "tool", "expected"),
    [
        ("claude-code", "mcp__a__b", ("a", "b")),
        ("claude-code", "mcp__a__b__c", ("a", "b__c")),
        ("claude-code", "mcp__a", None),
        ("claude-code", "Xmcp__a__b", None),
        ("gemini-cli", "mcp_a_b_c", ("a", "b_c")),
        ("gemini-cli", "mcp__a_b", None),
    ],
)
def test_the_server_in_the_name_of_a_tool(client: str, tool: str, expected: tuple[str, str] | None) -> None:
    assert server_tool(client, tool) == expected


RULE = {"tool": "x", "effect": "unknown", "why": "y"}
BROKEN: list[tuple[Any, str, str]] = [
    ([], "", "no JSON object"),
    ({}, "/version", "no whole number"),
    ({"version": True}, "/version", "no whole number"),
    ({"version": -1}, "/version", "no whole number"),
    ({"version": 1, "rule": []}, "/rule", "'rule' is not known here"),
    ({"version": 1, "rules": {}}, "/rules", "no list"),
    ({"version": 1, "rules": [RULE] * 1001}, "/rules", "too many"),
    ({"version": 1, "rules": [RULE, {**RULE, "a/b": 1}]}, "/rules/1/a~1b", "not known here"),
    ({"version": 1, "rules": [{**RULE, "effect": "harmless"}]}, "/rules/0/effect", "'harmless' is not known"),
    ({"version": 1, "rules": [{**RULE, "effect": "READ-ONLY"}]}, "/rules/0/effect", "is not known"),
    ({"version": 1, "rules": [{**RULE, "tool": " "}]}, "/rules/0/tool", "no text"),
    ({"version": 1, "rules": [{**RULE, "why": ""}]}, "/rules/0/why", "no text"),
    ({"version": 1, "rules": [{**RULE, "target": 5}]}, "/rules/0/target", "no text"),
    ({"version": 1, "rules": [{**RULE, "why": "x" * 1001}]}, "/rules/0/why", "no text"),
    ({"version": 1, "rules": [{"tool": "x", "effect": "unknown"}]}, "/rules/0", "no 'why'"),
    ({"version": 1, "rules": [{**RULE, "pointer": "/a"}]}, "/rules/0/pointer", "go together"),
    ({"version": 1, "rules": [{**RULE, "glob": "a"}]}, "/rules/0/pointer", "go together"),
    ({"version": 1, "rules": [{**RULE, "pointer": "a", "glob": "a"}]}, "/rules/0/pointer", "no JSON pointer"),
    ({"version": 1, "rules": [{**RULE, "pointer": "/~2", "glob": "a"}]}, "/rules/0/pointer", "no JSON pointer"),
    ({"version": 1, "servers": []}, "/servers", "no JSON object"),
    ({"version": 1, "servers": {"s": []}}, "/servers/s", "no JSON object"),
    ({"version": 1, "servers": {"a/b": {"t": {"title": "x"}}}}, "/servers/a~1b/t/title", "not known here"),
    ({"version": 1, "servers": {"s": {"t": {"readOnlyHint": "yes"}}}}, "/servers/s/t/readOnlyHint", "neither true nor false"),
    ({"version": 1, "servers": {"s": {"": {}}}}, "/servers/s", "no JSON object"),
]


@pytest.mark.parametrize(("value", "where", "message"), BROKEN)
def test_what_is_no_policy_is_refused_with_its_place(value: Any, where: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_json(value)
    assert caught.value.where == where
    assert message in caught.value.message
    assert caught.value.hint
    assert str(caught.value) == (f"{where}: " if where else "") + f"{caught.value.message}. {caught.value.hint}"


TEXT = st.text(min_size=1, max_size=12).filter(str.strip)
RULES = st.builds(
    lambda tool, effect, why, client, argument, target: Rule(tool, effect, why, client, *(argument or ("", "")), target),
    TEXT, st.sampled_from(EffectClass), TEXT, st.sampled_from(["", "codex"]), st.none() | st.tuples(st.just("/a"), TEXT),
    st.sampled_from(["", "shop"]),
)  # fmt: skip
POLICIES = st.builds(
    Policy,
    st.integers(0, 9),
    st.lists(RULES, max_size=4).map(tuple),
    st.dictionaries(TEXT, st.dictionaries(TEXT, st.builds(Annotations, *[st.booleans()] * 4), max_size=3), max_size=3),
)


@given(POLICIES)
def test_a_policy_comes_back_from_its_json(policy: Policy) -> None:
    assert Policy.from_json(json.loads(json.dumps(policy.to_json()))) == policy


def test_missing_hints_have_the_schemas_defaults_in_the_json() -> None:
    written = POLICY.to_json()["servers"]["github"]
    assert written["silent"] == dict(zip(HINTS, (False, True, False, True), strict=True))
    assert written["get_issue"]["readOnlyHint"] is True


@given(st.sampled_from(sorted(TAKES_AWAY)), st.builds(Annotations, *[st.booleans()] * 4))
def test_a_name_raises_what_a_trusted_server_says_and_never_lowers_it(word: str, said: Annotations) -> None:
    policy = Policy(1, (), {"s": {f"{word}_it": said, "it": said}})
    assert effect_of("codex", f"mcp__s__{word}_it", {}, policy).name is EffectClass.DESTRUCTIVE
    assert effect_of("codex", "mcp__s__it", {}, policy).rank <= effect_of("codex", f"mcp__s__{word}_it", {}, policy).rank


def made() -> Transcript:
    found = Transcript()
    found.user()
    found.assistant(call("T1", command="make test"), call("T2", "mcp__shop__refund", amount=5))
    return found


def test_a_policy_changes_what_needs_a_person() -> None:
    plain = {op.call_id: op for op in made().inspect().operations}
    ruled = {op.call_id: op for op in made().inspect(policy=POLICY).operations}
    assert [(plain[id].state, plain[id].effect) for id in ("T1", "T2")] == [("uncertain", "unknown")] * 2
    assert [(ruled[id].state, ruled[id].effect) for id in ("T1", "T2")] == [("resolved", "read-only"), ("uncertain", "mutating")]
    assert (ruled["T2"].why_effect, ruled["T2"].declared_target, ruled["T1"].declared_target) == (
        "pays money back (rule 2 of policy version 7)", "shop", "",
    )  # fmt: skip
    assert {op.policy for op in ruled.values()} == {policy_version(POLICY)}
    assert {op.policy for op in plain.values()} == {policy_version(BUILT_IN)}
    assert {op.declared_target for op in plain.values()} == {""}
    assert {id: op.key for id, op in plain.items()} == {id: op.key for id, op in ruled.items()}


def test_repair_and_fork_judge_by_the_same_policy() -> None:
    found = made().inspect(policy=POLICY)
    planned = repair.plan(found, rulebook.diagnose(found), seed="s", at="2026-12-01T00:00:00.000Z")
    forked = fork.fork(found, new_id="99999999-2222-4333-8444-555555555555", at="2026-12-01T00:00:00.000Z")
    for looked in (planned.outcome.inspection, forked.inspection):
        assert looked.policy is POLICY
        assert {op.policy for op in looked.operations} <= {policy_version(POLICY)}


def test_a_rule_never_makes_an_agent_better_than_the_calls_in_its_transcript() -> None:
    outer, inner = Transcript(), Transcript()
    outer.user()
    outer.assistant(call("T1", "Agent", prompt="clean"))
    inner.user("clean")
    inner.assistant(call("S1", command="rm -rf build"))
    inner.user([result("S1", "done")])
    outer.parts = [
        Part(f"{SESSION}/subagents/agent-a1.jsonl", b"".join(inner.lines)),
        Part(f"{SESSION}/subagents/agent-a1.meta.json", json.dumps({"toolUseId": "T1"}).encode()),
    ]
    policy = Policy(1, (Rule("Agent", EffectClass.READ_ONLY, "our agents only look"),))
    agent = next(op for op in outer.inspect(policy=policy).operations if op.tool == "Agent")
    assert (agent.effect, agent.state) == ("destructive", "uncertain")
