"""Law: a record may hold anything. Whatever values stand in its fields, every form is derived and can be written as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.core import inspection, report, rulebook
from inspector.core.clients.claude_code.recorded import agent_requests, all_requests
from inspector.core.source import Part, Source
from inspector.core.state import How, ResumeAs

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(
    path for folder in ("claude-code", "claude-code-recorded", "claude-code-restores") for path in (CORPUS / folder).glob("*/source/*.jsonl")
)
ODD = [None, 7, -1, 1.5, True, "", "x", [], {}, [None], [[]], {"a": 1}, "\ud800", 10**30, ["x", 7, {"type": "text"}], {"type": 7}, {"text": []}]


def spoiled(value: Any, chance: Random) -> Any:
    """The same value with a few of its inner values swapped for odd ones and a few keys lost."""
    if chance.random() < 0.04:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: spoiled(inner, chance) for key, inner in value.items() if chance.random() > 0.01}
    return [spoiled(inner, chance) for inner in value] if isinstance(value, list) else value


def spoiled_file(path: Path, chance: Random) -> Source:
    lines = []
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            lines.append(line)
            continue
        odd = spoiled(value, chance)
        if isinstance(odd, dict) and isinstance(value, dict) and chance.random() < 0.9:
            odd["type"] = value.get("type")
        lines.append(json.dumps(odd).encode())
    return Source(path.name, (Part(path.name, b"\n".join(lines)), Part("tasks/x/1.json", b"[")))


@pytest.mark.parametrize("how", ["normal", "fork", "path", "switch"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(FILES), seed=st.integers(0, 10**9), version=st.sampled_from([None, "2.1.197", "2.1.89", "2.0.76"]))
def test_every_form_is_derived(how: How, path: Path, seed: int, version: str | None) -> None:
    source = spoiled_file(path, Random(seed))
    looked = inspection.inspect(source, ResumeAs(how=how, version=version, gates=(("context-collapse", True),)))
    assert json.dumps(report.answer("x", looked, rulebook.diagnose(looked)))
    refs = {row.ref for row in looked.session.rows}
    assert all(ref in refs for item in looked.screen for ref in item.rows)
    assert all(ref in refs for fact in looked.state.facts for ref in fact.rows)
    for request in [*all_requests(looked.session), *agent_requests(looked.session).values()]:
        assert json.dumps(asdict(request)) and 0 <= request.verified <= request.of
