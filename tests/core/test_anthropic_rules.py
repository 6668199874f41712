"""The rules of the Messages API: a table of broken bodies, and an independent statement of the pairing rules to compare with."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core.dialects.anthropic_messages import RULES, UNCONFIRMED, check

CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}
ANSWER = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
HELLO = {"type": "text", "text": "hello"}
SIGNED = {"type": "thinking", "thinking": "t", "signature": "s"}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def png(width: int, height: int) -> dict:
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}}


BROKEN = [
    ("A1", [user(HELLO), assistant(CALL), user(HELLO)], "/messages/1/content/0"),
    ("A1", [user(HELLO), assistant(CALL)], "/messages/1/content/0"),
    ("A2", [user(ANSWER), assistant(HELLO), user(HELLO)], "/messages/0/content/0"),
    ("A2", [user(HELLO), assistant(CALL), user(ANSWER), assistant(HELLO), user(ANSWER)], "/messages/4/content/0"),
    ("A3", [user(HELLO), assistant(CALL), user(ANSWER), assistant(CALL), user(ANSWER)], "/messages/3/content/0"),
    ("A4", [user(HELLO), assistant(CALL), user(ANSWER, ANSWER)], "/messages/2/content/1"),
    ("A4", [user(HELLO), assistant(CALL), user(ANSWER), user(ANSWER)], "/messages/3/content/0"),
    ("A5", [user(HELLO), assistant(CALL), user(HELLO, ANSWER)], "/messages/2/content/1"),
    ("A6", [user(HELLO), assistant(CALL, HELLO), user(ANSWER)], "/messages/1/content/1"),
    ("A8", [user(HELLO), assistant(HELLO, SIGNED), user(HELLO)], "/messages/1/content/1"),
    ("A10", [user(HELLO), assistant({"type": "thinking", "thinking": "t"}, HELLO), user(HELLO)], "/messages/1/content/0"),
    ("A11", [user({"type": "text", "text": " \n"})], "/messages/0/content/0"),
    ("A11", [{"role": "user", "content": ""}], "/messages/0/content"),
    ("A12", [user({"type": "text", "text": "", "cache_control": {"type": "ephemeral"}})], "/messages/0/content/0"),
    ("A13", [user(HELLO), assistant(HELLO)], "/messages/1/content/0"),
    ("A14", [user(HELLO), assistant({"type": "text", "text": "so far "})], "/messages/1/content/0"),
    ("A15", [user(png(8001, 10))], "/messages/0/content/0"),
    ("A15", [user(*[png(2001, 10)] * 21)], "/messages/0/content/0"),
    ("A15", [user(HELLO), assistant(CALL), user(dict(ANSWER, content=[png(9000, 9000)]))], "/messages/2/content/0"),
    ("A15", [user({"type": "image", "source": {"type": "base64", "data": "A" * ((5 << 20) + 4)}})], "/messages/0/content/0"),
    ("A16", [user(HELLO), assistant(dict(CALL, name="n" * 201)), user(ANSWER)], "/messages/1/content/0"),
    ("A17", [user(HELLO), assistant(dict(CALL, input="{}")), user(ANSWER)], "/messages/1/content/0"),
    ("A18", [user({"type": "text", "text": "\ud99c"})], "/messages/0/content/0"),
    ("A18", [{"role": "user", "content": "\udc00"}], "/messages/0/content"),
    ("A19", [user(HELLO), assistant({"type": "server_tool_use", "id": "s"}, HELLO), user(HELLO)], "/messages/1/content/0"),
    ("A19", [user(HELLO), assistant({"type": "web_search_tool_result", "tool_use_id": "s"}), user(HELLO)], "/messages/1/content/0"),
    ("A22", [user(CALL)], "/messages/0/content/0"),
    ("A22", [user()], "/messages/0/content"),
    ("A22", [user("loose")], "/messages/0/content/0"),
    ("A22", [], "/messages"),
]


@pytest.mark.parametrize(("rule", "messages", "pointer"), BROKEN)
def test_broken_bodies(rule, messages, pointer):
    found = check({"messages": messages}, {pointer: "0:7"})
    hits = [problem for problem in found if problem.rule == rule]
    assert [hit.pointer for hit in hits][:1] == [pointer]
    assert hits[0].rows == ("0:7",) and hits[0].blocking == (rule not in UNCONFIRMED) and hits[0].message.endswith(".")


def test_thinking_loop_is_judged_only_where_the_body_says_that_thinking_is_on():
    messages = [user(HELLO), assistant(CALL), user(ANSWER)]
    assert [p.rule for p in check({"messages": messages, "thinking": {"type": "enabled"}}, {})] == ["A9"]
    assert check({"messages": messages}, {}) == []


def test_every_rule_that_a_body_can_break_has_a_broken_body():
    shown = {rule for rule, _, _ in BROKEN} | {"A9"}
    assert set(RULES) - shown == {"A7", "A20", "A21"}


def test_a_normal_request_with_all_that_the_real_client_sends():
    messages = [
        {"role": "user", "content": "start"},
        {"role": "system", "content": "# environment"},
        assistant(SIGNED, HELLO),
        assistant(CALL, dict(CALL, id="c2")),
        user(dict(ANSWER, tool_use_id="c2"), ANSWER),
        {"role": "system", "content": "note"},
        user(dict(HELLO, cache_control={"type": "ephemeral"}), png(800, 600)),
    ]
    assert check({"messages": messages}, {}) == []


def test_all_missing_ids_of_one_message_are_one_problem():
    messages = [user(HELLO), assistant(CALL, dict(CALL, id="c2"), dict(CALL, id="c3")), user(dict(ANSWER, tool_use_id="c2"))]
    rows = {"/messages/1/content/0": "0:1", "/messages/1/content/2": "0:3"}
    (only,) = check({"messages": messages}, rows)
    assert (only.rule, only.rows) == ("A1", ("0:1", "0:3")) and "c1, c3" in only.message


IDS = st.sampled_from(["a", "b", "c"])
BLOCKS = st.one_of(
    st.builds(lambda i, v: {"type": "tool_use", "id": i, "name": "Bash", "input": v}, IDS, st.sampled_from([{}, "text", None])),
    st.builds(lambda i: {"type": "tool_result", "tool_use_id": i, "content": "x"}, IDS),
    st.builds(lambda t: {"type": "text", "text": t}, st.sampled_from(["hi", "", " ", "\ud800"])),
    st.just(SIGNED),
    st.builds(lambda i: {"type": "server_tool_use", "id": i}, IDS),
    st.builds(lambda i: {"type": "web_search_tool_result", "tool_use_id": i}, IDS),
    st.sampled_from([None, 3, "loose"]),
)
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "system"]),
        st.one_of(st.sampled_from(["", "words"]), st.none(), st.lists(BLOCKS, max_size=4)),
    ),
    max_size=7,
)


def stated_again(messages: list) -> set[str]:
    """The same rules said as questions about the flat list of blocks, each with the number of its turn."""
    spoken = [m for m in messages if m["role"] != "system"]
    if not spoken:
        return {"A22"}
    broken, flat, turn = set(), [], -1
    last_role = None
    for message in spoken:
        if message["role"] != last_role:
            turn, last_role = turn + 1, message["role"]
        content = message["content"]
        items = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
        if message["role"] == "assistant" and items and isinstance(items[-1], dict) and items[-1]["type"] == "thinking":
            broken.add("A8")
        flat += [(turn, last_role, item) for item in items]
    roles = {n: role for n, role, _ in flat}
    if set(range(turn + 1)) - set(roles) or any(not isinstance(item, dict) for _, _, item in flat):
        broken.add("A22")
    if spoken[-1]["role"] == "assistant":
        broken.add("A13")
    every = [(n, role, item if isinstance(item, dict) else {"type": "?"}) for n, role, item in flat]
    calls = [(n, role, b) for n, role, b in every if b["type"] == "tool_use"]
    results = [(n, role, b["tool_use_id"]) for n, role, b in every if b["type"] == "tool_result"]
    if any(role == "user" for _, role, _ in calls):
        broken.add("A22")
    if len({b["id"] for _, _, b in calls}) < len(calls):
        broken.add("A3")
    if any(not isinstance(b["input"], dict) for _, _, b in calls):
        broken.add("A17")
    asked = {(n, b["id"]) for n, role, b in calls if role == "assistant"}
    got = {(n, i) for n, role, i in results if role == "user"}
    if any((n + 1, i) not in {(m, j) for m, _, j in results} for n, i in asked):
        broken.add("A1")
    if any((n - 1, i) not in asked for n, i in got):
        broken.add("A2")
    if len(got) < len([1 for _, role, _ in results if role == "user"]):
        broken.add("A4")
    for n in roles:
        kinds = [b["type"] == "tool_result" for m, role, b in every if m == n and role == "user"]
        if kinds != sorted(kinds, reverse=True):
            broken.add("A5")
    for _, _, b in every:
        if b["type"] == "text" and not b["text"].strip():
            broken.add("A11")
    for place, (n, _, b) in enumerate(every):
        if b["type"] == "server_tool_use":
            if not any(x.get("tool_use_id") == b["id"] for m, _, x in every[place + 1 :] if m == n):
                broken.add("A19")
        if b["type"] == "web_search_tool_result":
            if not any(x.get("id") == b["tool_use_id"] for m, _, x in every[:place] if m == n and x["type"] == "server_tool_use"):
                broken.add("A19")
    if "\\ud800" in repr(messages):
        broken.add("A18")
    return broken


@settings(max_examples=1500, deadline=None)
@given(MESSAGES)
def test_generated_bodies_are_judged_as_the_rules_stated_again_judge_them(messages):
    found = check({"messages": messages}, {})
    assert {p.rule for p in found} - UNCONFIRMED == stated_again(messages)


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_at_all_is_judged_without_an_exception(value):
    check({"messages": value}, {})
    check({"messages": [{"role": "user", "content": value}, {"role": "assistant", "content": [{"type": "tool_use", "id": value}]}]}, {})
