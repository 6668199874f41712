"""Pasted error texts: the rule they name and the place they speak of."""

from __future__ import annotations

import json

import pytest

from inspector.core.dialects.anthropic_messages import check
from inspector.core.dialects.error_texts import explain
from inspector.core.dialects.problems import CODE_OF
from inspector.core.rulebook import PAGES
from inspector.core.session import Block, BlockKind, Row, RowKind, Session
from inspector.core.source import Part, Source

TEXTS = [
    ("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A, toolu_01B. Each `tool_use` block must…", "A1"),
    ("messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A.", "A2"),
    ("messages.5.content.0: `tool_use` ids must be unique", "A3"),
    ("messages.9.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.", "A7"),
    ("messages.9: The final block in an assistant message cannot be `thinking`.", "A8"),
    ("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", "A9"),
    ("messages.1.content.0: Invalid `signature` in `thinking` block", "A10"),
    ("messages: text content blocks must be non-empty", "A11"),
    ("messages.2.content.0.text: cache_control cannot be set for empty text blocks", "A12"),
    ("This model does not support assistant message prefill. The conversation must end with a user message.", "A13"),
    ("messages: final assistant content cannot end with trailing whitespace", "A14"),
    ("messages.4.content.1.image.source.base64.data: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", "A15"),
    ("At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", "A15"),
    ("messages.2.content.0.tool_use.name: String should have at most 200 characters", "A16"),
    ("messages.1.content.0.tool_use.input: Input should be a valid dictionary", "A17"),
    ("The request body is not valid JSON: no low surrogate in string: line 1 column 40211 (char 40210)", "A18"),
    ("Expected toolResult blocks at messages.2.content for the following Ids: tooluse_xyz", "B1"),
    ("The number of toolResult blocks at messages.4.content exceeds the number of toolUse blocks of previous turn.", "B2"),
    ("No tool output found for function call call_abc.", "R1"),
    ("No tool call found for function call output with call_id call_abc.", "R3"),
    ("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.", "C1"),
    ("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", "G1"),
]


@pytest.mark.parametrize(("text", "rule"), TEXTS)
def test_texts_name_their_rule(text, rule):
    wrapped = "API Error: 400 " + json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": text}, "request_id": "req_1"})
    assert [match.rule for match in explain(text)] == [rule]
    assert explain(wrapped) == explain(text)


def test_a_text_that_says_nothing_known_names_no_rule():
    assert explain("rate limit reached") == [] and explain("") == [] and explain('{"error": 5}') == []


BODY = {
    "messages": [
        {"role": "user", "content": "do it"},
        {"role": "system", "content": "environment"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}, {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": "next"},
        {"role": "assistant", "content": [{"type": "text", "text": " "}]},
        {"role": "user", "content": [{"type": "text", "text": "more"}]},
    ]
}
ROWS = {"/messages/0/content": "0:1", "/messages/2/content/0": "0:3", "/messages/2/content/1": "0:4", "/messages/3/content": "0:5",
        "/messages/4/content/0": "0:6", "/messages/5/content/0": "0:7"}  # fmt: skip


def look(text, **more):
    (match,) = explain(text, BODY, ROWS, check(BODY, ROWS), **more)
    return match


def test_ids_are_trusted_more_than_the_index():
    match = look("messages.7: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.")
    assert (match.rows, match.how, match.message) == (("0:4",), "id", 7)


def test_an_index_counted_without_system_messages_finds_the_same_block():
    with_system = look("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after")
    without = look("messages.1: `tool_use` ids were found without `tool_result` blocks immediately after")
    assert with_system.rows == without.rows == ("0:4",)


def test_a_text_without_index_finds_what_breaks_the_rule():
    match = look("messages: text content blocks must be non-empty")
    assert (match.rows, match.how) == (("0:6",), "problem")


def test_where_the_rule_is_not_broken_here_the_index_is_all_there_is():
    match = look("messages.5.content.0: `thinking` blocks in the latest assistant message cannot be modified")
    assert (match.rows, match.how) == (("0:7",), "index")
    assert look("messages.90: `tool_use` ids must be unique").rows == ()


def test_a_call_that_is_not_in_the_request_is_found_in_the_session():
    row = Row(0, 8, 0, 1, RowKind.MESSAGE, "assistant", blocks=(Block(BlockKind.CALL, "toolu_9", "Bash"),))
    session = Session("claude-code", Source("s", (Part("s.jsonl", b" "),)), [row])
    match = look("messages.90: `tool_use` ids must be unique: toolu_9", session=session)
    assert (match.rows, match.how) == (("0:8",), "row")


TROUBLE = [
    ("529 overloaded_error", "overloaded"),
    ('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_5290"}', "overloaded"),
    ("rate_limit_error", "rate-limit"),
    ('API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your limit"}}', "rate-limit"),
    ("500 api_error", "server-error"),
    ('API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}', "server-error"),
]


@pytest.mark.parametrize(("text", "name"), TROUBLE)
def test_the_providers_own_trouble_is_no_fault_of_the_session(text, name):
    (match,) = explain(text, BODY, ROWS, check(BODY, ROWS))
    assert (match.rule, match.rows, match.code) == (name, (), "") and "try again later" in match.says


def test_a_request_that_broke_a_rule_is_not_told_as_trouble_of_the_provider():
    assert [match.rule for match in explain("API Error: 500 messages.3: `tool_use` ids must be unique")] == ["A3"]
    assert explain("API Error: 400 invalid_request_error: request req_529 is odd") == []


@pytest.mark.parametrize(("text", "rule"), TEXTS)
def test_an_explanation_names_the_help_page_of_its_rule(text, rule):
    (match,) = explain(text)
    assert match.code in PAGES and (rule[0] != "A" or match.code == CODE_OF[rule])
