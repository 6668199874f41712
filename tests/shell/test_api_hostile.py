"""Whatever a program sends, the API answers with JSON, says what is wrong, and never breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.models import Operation
from inspector.services.add_evidence import add_evidence
from inspector.services.claim_outcome import claim_outcome

from .api import Program, key_target, killed_session

pytestmark = pytest.mark.django_db
HELD: dict[str, Any] = {"holder": "w", "fence": 1}
BODIES: dict[tuple[str, str], tuple[dict[str, Any], str]] = {
    ("POST", "runs/"): ({"client": "crewai", "name": "1"}, ""),
    ("POST", "runs/{run}/lease/"): ({"holder": "w"}, "seconds"),
    ("PATCH", "runs/{run}/lease/"): (HELD, "seconds"),
    ("DELETE", "runs/{run}/lease/"): (HELD, ""),
    ("POST", "runs/{run}/operations/"): ({"tool": "t", "arguments": 1}, "intent call_id target environment idempotency_key retry_of"),
    ("POST", "runs/{run}/checkpoints/"): (HELD | {"kind": "approval", "name": "n"}, "details operation"),
    ("POST", "operations/{operation}/approve/"): ({"digest": "0"}, ""),
    ("POST", "operations/{operation}/cancel/"): ({"reason": "r"}, ""),
    ("POST", "operations/{operation}/dispatch/"): (HELD, ""),
    ("POST", "operations/{operation}/outcome/"): (HELD | {"end": "confirmed"}, "response reason"),
    ("POST", "operations/{operation}/evidence/"): ({"says": "x"}, "url"),
    ("POST", "operations/{operation}/claim/"): ({"outcome": "applied", "statement": "s", "evidence": []}, "related effect_exists"),
    ("POST", "claims/{claim}/decide/"): ({"digest": "0", "approve": True}, "note"),
    ("POST", "claims/{claim}/withdraw/"): ({}, "note"),
    ("POST", "sessions/{session}/claim/"): ({"holder": "w"}, "seconds source_sha256 permission_mode attested"),
    ("POST", "sessions/{session}/renew/"): (HELD, "seconds"),
    ("POST", "sessions/{session}/release/"): (HELD, ""),
}
"""A body that every check of its shape lets through, and the names of what else it may hold."""
KINDS = {
    **dict.fromkeys(("fence", "seconds", "retry_of", "operation", "related"), int), **dict.fromkeys(("approve", "attested", "effect_exists"), bool),
    **dict.fromkeys(("arguments", "details", "response"), object), "evidence": list,
}  # fmt: skip
WORDS = "payments w applied superseded confirmed failed uncertain approval saved-proposal plan %s http://[".split() + ["\0", "\ud800", "x" * 3000]
texts = st.sampled_from(WORDS) | st.text(st.characters(codec=None), max_size=20)
numbers = st.sampled_from([0, 1, 2, 2**31, 2**63 - 1])
plain = st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
OF = {str: texts, int: numbers, bool: st.booleans(), list: st.lists(numbers, max_size=1), object: values}
WRONG = values | st.sampled_from([-1, 2**63, 10**30, float("nan"), float("inf")])


@st.composite
def bodies(draw: Any, good: dict[str, Any], others: str) -> bytes:
    """The good body with up to three fields spoilt, by a value of their kind or of any other; one in ten cut, so that it is no JSON."""
    spoilt = draw(st.lists(st.sampled_from([*good, *others.split()]), max_size=3))
    body = good | {name: draw(OF[KINDS.get(name, str)] | WRONG) for name in spoilt}
    data = json.dumps(body).encode()
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 7 else data


@pytest.fixture
def places(owner: User) -> dict[str, int]:
    """A number for each noun of an address: a killed session with its uncertain operation, and what somebody says of it."""
    session, _ = killed_session(), key_target()
    operation = Operation.objects.get()
    seen = add_evidence(operation=operation, actor=owner, says="The log.")
    claim = claim_outcome(operation=operation, actor=owner, outcome="applied", statement="It is there.", evidence=[seen])
    return {"session": session.pk, "run": operation.run_id, "operation": operation.pk, "claim": claim.pk}


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_no_body_breaks_it(method: str, path: str, owner: User, places: dict[str, int]) -> None:
    worker, seen = Program(owner), set()

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(body=bodies(*BODIES[method, path]))
    def check(body: bytes) -> None:
        status, answer = worker.send(method, "/api/" + path.format(**places), body)
        assert status < 500 and ("error" in answer) == (status >= 400), answer
        assert status < 400 or answer["error"]["says"]
        seen.add(status)

    check()
    assert seen - {400}, "no body came as far as the service"
