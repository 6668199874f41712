"""Sentences that claim that something was done, and sentences that do not; calls that mean the same act."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.core.claims import claim_in, names
from inspector.core.intents import intent_of


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Done.", "Done."),
        ("Let me see. The order has been refunded.", "The order has been refunded."),
        ("All tests were fixed\nand more", "All tests were fixed"),
        ("I haven't pushed it.", None),
        ("I haven\N{RIGHT SINGLE QUOTATION MARK}t pushed it.", None),
        ("Was it pushed?", None),
        ("Once it is merged, I will deploy.", None),
        ("The push failed.", None),
        ("It may have been sent.", None),
        ("ok will do differently", None),
        ("No response requested.", None),
        ("", None),
        ("x" * 5000 + " Done.", None),
    ],
)
def test_claims(text: str, claim: str | None) -> None:
    assert claim_in(text) == claim


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments", "named"),
    [
        ("Pushed to main.", "Bash", {"command": "git push origin main"}, True),
        ("The order has been refunded.", "mcp__pay__create_refund", {"id": "O-1"}, True),
        ("It is updated.", "updateOrder", None, True),
        ("Done.", "Bash", {"command": "make done"}, False),
        ("All is well.", "Bash", {"command": "git push"}, False),
        ("Pushed.", "Bash", ["git push"], False),
    ],
)
def test_what_a_sentence_names(sentence: str, tool: str, arguments: Any, named: bool) -> None:
    assert names(sentence, tool, arguments) is named


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"order": 1, "idempotencyKey": "a"}, {"order": 1, "idempotencyKey": "b"}, True),
        ({"order": 1, "Idempotency-Key": "a"}, {"order": 1}, True),
        ({"order": 1, "options": {"request_id": "a"}}, {"order": 1, "options": {"request_id": "b"}}, True),
        ({"order": 1}, {"order": 2}, False),
        ({"order": 1, "request": "a"}, {"order": 1, "request": "b"}, False),
        ({"command": "make", "description": "a"}, {"command": "make", "description": "b"}, True),
        ({"title": "make", "description": "a"}, {"title": "make", "description": "b"}, False),
        ({"command": "curl -H 'Idempotency-Key: a-1' x"}, {"command": "curl -H 'Idempotency-Key: b-2' x"}, True),
        ({"command": "curl -H 'Idempotency-Key: a-1' x"}, {"command": "curl -H 'Idempotency-Key: a-1' y"}, False),
    ],
)
def test_which_calls_mean_the_same(one: Any, other: Any, same: bool) -> None:
    assert (intent_of("T", one) == intent_of("T", other)) is same
    assert intent_of("T", one) != intent_of("U", one)


def test_arguments_that_are_not_known_mean_nothing() -> None:
    assert intent_of("T", None) is None
