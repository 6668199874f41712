"""The laws of the house for sessions of the OpenAI Agents SDK, whatever is in them and however they are damaged."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.core import repair
from inspector.core.inspection import Inspection, inspect
from inspector.core.rulebook import diagnose
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs
from tests.stores.openai_cases import Case, document, fates, sent, stored
from tests.stores.test_openai_history import made_item

AT = "2026-11-30T16:00:00.000Z"
ITEMS = st.integers(0, 10**9).map(lambda seed: [made_item(random.Random(seed + number)) for number in range(seed % 9 + 1)])
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=5)


def tiles(looked: Inspection) -> None:
    """Rows without gap or overlap, each with a place or one drop."""
    for number, part in enumerate(looked.session.source.parts):
        rows = [row for row in looked.session.rows if row.part == number]
        assert [row.start for row in rows] == [0, *(row.end for row in rows[:-1])][: len(rows)]
        assert (rows[-1].end if rows else 0) == len(part.data)
    assert sorted(set(fates(looked))) == sorted(row.ref for row in looked.session.rows)
    assert len({drop.row for drop in looked.state.drops}) == len(looked.state.drops)
    assert not {drop.row for drop in looked.state.drops} & {ref for message in looked.state.messages for ref in message.rows}
    diagnose(looked)
    assert looked.screen is not None and looked.state.facts is not None
    for operation in looked.operations:
        assert operation.evidence and operation.key


@settings(max_examples=60, deadline=None)
@given(ITEMS, st.sampled_from(["stored", "list"]), st.none() | st.just("go on"))
def test_every_row_has_its_fate(items: list[Any], form: str, prompt: str | None) -> None:
    source = stored(items) if form == "stored" else document(items, 2)
    tiles(inspect(source, ResumeAs(prompt=prompt), "openai-agents"))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["runstate", "runstate_approved"]), st.integers(0, 12000), st.integers(0, 60), st.binary(max_size=6))
def test_damaged_bytes_are_read(name: str, at: int, length: int, put: bytes) -> None:
    data = (Case("runstate", "interrupted_approval_approve").folder / f"{name}.json").read_bytes()
    tiles(inspect(Source("r.json", (Part("r.json", data[:at] + put + data[at + length :]),)), client="openai-agents"))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["context", "current_step", "generated_items", "original_input", "pending_input", "$schemaVersion"]), VALUES)
def test_members_of_any_kind_are_read(name: str, value: Any) -> None:
    held = json.loads((Case("runstate", "interrupted_approval_approve").folder / "runstate_approved.json").read_text())
    tiles(inspect(document({**held, name: value}), client="openai-agents"))


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.sampled_from(["stored", "list"]))
def test_a_repair_loses_no_call_and_comes_to_its_end(items: list[Any], form: str) -> None:
    for item in items:  # ids are the same for calls and outputs of one kind only
        if "call_id" in item:
            item["call_id"] = f"{item['type'].removesuffix('_output').removesuffix('_call')}-{item['call_id']}"
    source = stored(items) if form == "stored" else document(items)
    looked = inspect(source, client="openai-agents")
    plan = repair.plan(looked, diagnose(looked), seed="s", at=AT)
    made = repair.apply(source, plan)
    again = inspect(made, client="openai-agents")
    assert not [step for step in repair.plan(again, diagnose(again), seed="s", at=AT).steps() if step.edits]
    calls = {item["call_id"] for item in items if item.get("type") in ("function_call", "custom_tool_call") and "call_id" in item}
    kept = {item.get("call_id") for item in sent(made) or () if isinstance(item, dict)} if again.session.client == "openai-agents" else calls
    assert calls <= kept or form == "list"
