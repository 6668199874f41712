"""The derived input held against the real SDK: histories of every kind of item, sent by its runner to a scripted model."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession
from agents.testing import ScriptedModel, assistant_message

from tests.stores.openai_cases import document, sent, stored

KINDS = (
    "user", "assistant", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "shell_call",
    "shell_call_output", "local_shell_call", "local_shell_call_output", "tool_search_call", "tool_search_output", "program", "program_output",
    "web_search_call", "mcp_approval_request", "mcp_approval_response",
)  # fmt: skip
WITHOUT_CALL = ("reasoning", "web_search_call", "mcp_approval_request", "mcp_approval_response")


def made_item(chance: random.Random) -> dict[str, Any]:
    """One item with few different ids, so that they meet."""
    kind, call, id = chance.choice(KINDS), chance.choice("abc"), chance.choice(["i1", "i2", "__fake_id__", None])
    if kind in ("user", "assistant"):
        return {"role": kind, "content": chance.choice("xy"), **({"type": "message"} if chance.random() < 0.5 else {})}
    item: dict[str, Any] = {"type": kind}
    if kind not in WITHOUT_CALL and not (kind.startswith("tool_search") and chance.random() < 0.6):
        item["call_id"] = call
    if id and chance.random() < 0.5:
        item["id"] = id
    item |= {
        "reasoning": {"summary": []}, "function_call": {"name": "t", "arguments": "{}"}, "custom_tool_call": {"name": "t", "input": "x"},
        "mcp_approval_response": {"approval_request_id": call, "approve": True}, "shell_call": {"action": {"commands": ["ls"]}},
    }.get(kind, {"output": chance.choice("xy")} if kind.endswith("output") else {})  # fmt: skip
    if kind == "shell_call" and chance.random() < 0.5:
        item["status"] = chance.choice(["in_progress", "completed"])
    if kind not in ("program", "reasoning") and chance.random() < 0.25:
        item["caller"] = {"type": "program", "caller_id": call}
    if chance.random() < 0.1:
        item[chance.choice(["created_by", "_agents_tool_title", "_agents_tool_description"])] = "z"
    return item


async def received(items: list[Any], prompt: str | None, in_session: bool) -> Any:
    """What the real runner sends."""
    model = ScriptedModel([[assistant_message("ok")]])
    agent = Agent(name="clerk", model=model)
    if in_session:
        session = SQLiteSession("s")
        await session.add_items(items)  # type: ignore[arg-type]
        await Runner.run(agent, prompt if prompt is not None else [], session=session)
    else:
        await Runner.run(agent, items)  # type: ignore[arg-type]
    call = model.last_call
    return call.input if call is not None else None


@pytest.mark.parametrize("block", range(4))
def test_every_history_is_sent_as_the_sdk_sends_it(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        chance = random.Random(seed)
        items = [made_item(chance) for _ in range(chance.randint(1, 9))]
        in_session = chance.random() < 0.7
        prompt = chance.choice([None, "go on"]) if in_session else None
        if not in_session:  # no other program's list holds such an item: so it is told from those
            items.append({"type": "function_call_output", "call_id": "own", "output": "x"})
        want = asyncio.run(received(items, prompt, in_session))
        assert sent(stored(items) if in_session else document(items, chance.choice([None, 1])), prompt) == (want or None), (seed, items)
