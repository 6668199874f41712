"""A real agent on a real store, with a model that follows a script and tools that count what they do in a file.

Run as a process: each line on its standard input is one run, a JSON list `[MODE, STORE, EFFECTS, SCENARIO, THREAD, OUT]`, in a child of its own that
may be killed; its answer is the child's exit code. MODE: start (killed where the scenario says), resume, answer (a question), more (new input).
STORE: a path or a PostgreSQL address. OUT gets what the model received, one JSON list a request, and at the end where the thread stands.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from contextlib import AbstractContextManager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command, interrupt

MODE = STORE = EFFECTS = SCENARIO = THREAD = ""
DIES = {"killed": "update_order", "parallel": "refund", "lost": "update_order", "react": "update_order"}
"""Scenario -> the tool after whose effect the process is killed."""
done = threading.Event()


def effect(name: str, **arguments: Any) -> None:
    with open(EFFECTS, "a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": name, **arguments}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    if MODE == "start" and DIES.get(SCENARIO) == name:
        if SCENARIO == "parallel":
            done.wait(5)  # the sibling's result is stored first
            threading.Event().wait(0.5)
        os.kill(os.getpid(), signal.SIGKILL)


@tool
def get_order(order_id: str) -> str:
    """Read an order."""
    return json.dumps({"order_id": order_id, "status": "open"})


@tool
def update_order(order_id: str, status: str) -> str:
    """Change an order."""
    effect("update_order", order_id=order_id, status=status)
    done.set()
    return f"order {order_id} -> {status}"


@tool
def refund(order_id: str, amount: int) -> str:
    """Pay money back."""
    effect("refund", order_id=order_id, amount=amount)
    return f"refunded {amount} on {order_id}"


@tool
def reserve_then_ask(order_id: str) -> str:
    """Reserve, then ask a person."""
    effect("reserve", order_id=order_id)
    return f"{order_id}: {interrupt({'ask': order_id})}"


@tool
def ask_then_refund(order_id: str) -> str:
    """Ask a person, then pay."""
    answer = interrupt({"ask": order_id})
    effect("refund", order_id=order_id)
    return f"{order_id}: {answer}"


@tool
def flaky(order_id: str) -> str:
    """Commit, then fail."""
    effect("flaky", order_id=order_id)
    raise RuntimeError(f"gateway timeout after commit of {order_id}")


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "args": arguments, "type": "tool_call"}


SHIP = [[call("call_1", "get_order", order_id="A-1")], [call("call_2", "update_order", order_id="A-1", status="shipped")]]
SCRIPTS: dict[str, list[list[dict[str, Any]]]] = {
    "killed": SHIP,
    "lost": SHIP,
    "react": SHIP,
    "parallel": [[call("call_1", "update_order", order_id="B-2", status="cancelled"), call("call_2", "refund", order_id="B-2", amount=50)]],
    "interrupt": [[call("call_1", "reserve_then_ask", order_id="D-4")]],
    "asks-first": [[call("call_1", "ask_then_refund", order_id="D-5")]],
    "raised": [[call("call_1", "flaky", order_id="E-5")]],
}


class Scripted(BaseChatModel):
    """Asks for the next calls of the script whose results it does not see; then says that all is done."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any) -> ChatResult:
        seen = [
            {"type": each.type, "content": each.content, "tool_calls": [one["id"] for one in getattr(each, "tool_calls", None) or []],
             "tool_call_id": getattr(each, "tool_call_id", None)}
            for each in messages
        ]  # fmt: skip
        print(json.dumps(seen), flush=True)
        answered = {each["tool_call_id"] for each in seen}
        asked = {id for each in seen for id in each["tool_calls"]}
        for calls in SCRIPTS[SCENARIO]:
            if not all(one["id"] in answered for one in calls) and not any(one["id"] in asked for one in calls):
                return ChatResult(generations=[ChatGeneration(message=AIMessage("Working.", tool_calls=calls))])
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Done."))])


def saver() -> AbstractContextManager[Any]:
    return (PostgresSaver if STORE.startswith("postgres") else SqliteSaver).from_conn_string(STORE)


def main() -> None:
    with saver() as store:
        store.setup()
        tools = [get_order, update_order, refund, reserve_then_ask, ask_then_refund, flaky]
        if SCENARIO == "react":
            agent: Any = create_react_agent(Scripted(), tools, checkpointer=store)
        else:
            agent = create_agent(Scripted(), tools, system_prompt="You are an order clerk.", checkpointer=store)
        config: Any = {"configurable": {"thread_id": THREAD}}
        given: Any = {"messages": [("user", "Please do it")]} if MODE == "start" else None
        if MODE == "answer":
            given = Command(resume="yes")
        if MODE == "more":
            given = {"messages": [("user", "And now?")]}
        try:
            agent.invoke(given, config, durability="sync")
        except RuntimeError as error:
            print(json.dumps(str(error)), file=sys.stderr)
        state = agent.get_state(config)
        print(json.dumps({"next": list(state.next), "messages": [each.type for each in state.values["messages"]]}))


def serve() -> None:
    """Start each run in a fork: the libraries are loaded once."""
    global MODE, STORE, EFFECTS, SCENARIO, THREAD
    for line in sys.stdin:
        MODE, STORE, EFFECTS, SCENARIO, THREAD, out = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
            try:
                main()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, flush=True)


if __name__ == "__main__":
    serve()
