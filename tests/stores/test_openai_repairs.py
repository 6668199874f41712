"""Repaired sessions and RunStates, loaded and resumed by the real SDK: a tool whose effects are counted in a file is not run again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, RunState, Session, SQLiteSession, function_tool
from agents.extensions.memory import AdvancedSQLiteSession, SQLAlchemySession
from agents.testing import ScriptedModel, assistant_message, function_call

from inspector.capture.openai_export import write_sqlite
from inspector.core import repair
from inspector.core.errors import PlanError
from inspector.core.inspection import inspect
from inspector.core.repair import Plan
from inspector.core.rulebook import diagnose
from inspector.core.source import Source
from inspector.core.splice import splice
from inspector.core.steps import Resolution
from tests.stores.openai_cases import REPORTED, Case, document, sent, source_of, stored

AT = "2026-11-30T16:00:00.000Z"
HAPPENED = Resolution("happened", "the refund is in the ledger", "anna", AT)


def plan(source: Source, resolutions: dict[str, Resolution] | None = None, choices: dict[str, str] | None = None) -> Plan:
    looked = inspect(source)
    return repair.plan(looked, diagnose(looked), seed="seed", at=AT, resolutions=resolutions, choices=choices)


def repaired(source: Source, resolutions: dict[str, Resolution] | None = None, choices: dict[str, str] | None = None) -> Source:
    return repair.apply(source, plan(source, resolutions, choices))


class Desk:
    """An agent whose refunds are counted in a file, and whose model refunds unless the conversation holds such a call with its output."""

    def __init__(self, counter: Path, model: ScriptedModel | None = None) -> None:
        @function_tool
        def refund_order(order_id: int, amount: float) -> str:
            with counter.open("a") as file:
                file.write("refund\n")
            return "refunded"

        @function_tool(needs_approval=True)
        def refund(order_id: str, amount: int) -> str:
            with counter.open("a") as file:
                file.write("refund\n")
            return "refunded"

        self.counter, self.model = counter, model or ScriptedModel()
        self.agent = Agent(name="clerk", model=self.model, tools=[refund_order, refund])

    @property
    def effects(self) -> int:
        return len(self.counter.read_text().splitlines()) if self.counter.exists() else 0

    def resumed(self, session: Session) -> list[Any]:
        """Run on as a model would that looks at what it has done. Returns what the model was sent first."""

        async def run() -> list[Any]:
            history = await session.get_items()
            answered = {item.get("call_id") for item in history if item.get("type") == "function_call_output"}
            done = any(item.get("type") == "function_call" and item.get("call_id") in answered for item in history)
            if not done:
                self.model.enqueue([function_call("refund_order", {"order_id": 881, "amount": 40.0}, call_id="again")])
            self.model.enqueue([assistant_message("Refunded.")])
            await Runner.run(self.agent, "Was it done?", session=session)
            first = self.model.first_call
            assert first is not None
            return list(first.input)

        return asyncio.run(run())


def exported(source: Source, path: Path) -> Path:
    write_sqlite(source, path)
    return path


LOST = REPORTED / "50-agents-sdk-output-write-failed" / "input.sqlite"


def test_without_a_repair_the_refund_is_made_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "effects")
    given = exported(source_of(LOST), tmp_path / "same.sqlite")
    desk.resumed(SQLiteSession("cust-881", given))
    assert desk.effects == 1


@pytest.mark.parametrize("resolutions", [{}, {"call_refund50": HAPPENED}], ids=["nobody-knows", "happened"])
def test_a_call_without_an_output_is_answered_and_not_made_again(tmp_path: Path, resolutions: dict[str, Resolution]) -> None:
    made = repaired(source_of(LOST), resolutions)
    looked = inspect(made)
    assert [row.type for row in looked.session.main()] == ["message", "reasoning", "function_call", "function_call_output", "message"]
    assert [operation.state for operation in looked.operations] == ["resolved" if resolutions else "uncertain"]
    path = exported(made, tmp_path / "repaired.sqlite")
    assert sent(source_of(path)) == sent(made)
    desk = Desk(tmp_path / "effects")
    received = desk.resumed(SQLiteSession("cust-881", path))
    assert received[:-1] == sent(made) and desk.effects == 0
    output = received[3]["output"]
    assert ("took effect" in output) == bool(resolutions) and ("Nobody knows" in output) != bool(resolutions)


def test_the_file_of_a_store_keeps_numbers_and_names(tmp_path: Path) -> None:
    source = source_of(Case("advanced-sqlite", "branches_and_turns").folder / "sessions.sqlite")
    again = source_of(exported(source, tmp_path / "again.sqlite"))
    assert [part.data for part in again.parts] == [part.data for part in source.parts]


@pytest.mark.parametrize("system", ["sqlite", "sqlalchemy", "advanced-sqlite"])
def test_every_kind_of_session_reloads(tmp_path: Path, system: str) -> None:
    source = Case(system, "finished" if system != "advanced-sqlite" else "branches_and_turns").source()
    cut = splice(inspect(source).session, [])
    assert cut.source == source
    path = exported(source, tmp_path / "s.sqlite")
    id = source.hints["thread"]

    async def read() -> list[Any]:
        if system == "sqlite":
            return list(await SQLiteSession(id, path).get_items())
        if system == "advanced-sqlite":
            return list(await AdvancedSQLiteSession(session_id=id, db_path=path).get_items())
        session = SQLAlchemySession.from_url(id, url=f"sqlite+aiosqlite:///{path}")
        found = list(await session.get_items())
        await session.engine.dispose()
        return found

    assert asyncio.run(read()) == Case(system, "finished" if system != "advanced-sqlite" else "branches_and_turns").items


def test_an_answer_on_a_branch_stands_on_every_branch_that_holds_its_call(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"

    async def write() -> str:
        session = AdvancedSQLiteSession(session_id="s", db_path=path, create_tables=True)
        await session.add_items([{"role": "user", "content": "Refund 881."}, _call("c1"), {"role": "assistant", "content": "Done."}])
        await session.add_items([{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Gladly."}])
        branch = await session.create_branch_from_turn(2)
        await session.add_items([{"role": "user", "content": "Are you sure?"}, {"role": "assistant", "content": "Yes."}])
        return branch

    branch = asyncio.run(write())
    made = repaired(source_of(path), {"c1": HAPPENED})
    out = exported(made, tmp_path / "repaired.sqlite")

    async def read(name: str) -> list[Any]:
        return list(await AdvancedSQLiteSession(session_id="s", db_path=out).get_items(branch_id=name))

    for name, last in (("main", "Gladly."), (branch, "Yes.")):
        items = asyncio.run(read(name))
        assert [item.get("type") for item in items[1:3]] == ["function_call", "function_call_output"]
        assert items[-1]["content"] == last and len(items) == 6
    assert sent(source_of(out)) == asyncio.run(read("main"))


def _call(id: str) -> Any:
    return {"type": "function_call", "call_id": id, "name": "refund_order", "arguments": '{"order_id": 881}'}


def test_parallel_calls_stay_together() -> None:
    items = [
        {"role": "user", "content": "go"}, {"type": "reasoning", "id": "rs_1", "summary": []}, _call("a"), _call("b"), _call("c"),
        {"type": "function_call_output", "call_id": "b", "output": "done"}, {"role": "assistant", "content": "ok"},
    ]  # fmt: skip
    received = sent(repaired(stored(items)))
    assert received is not None
    assert [item.get("call_id") for item in received if item.get("type") == "function_call"] == ["a", "b", "c"]
    assert sorted(item["call_id"] for item in received if item.get("type") == "function_call_output") == ["a", "b", "c"]
    assert received[2:5] == items[2:5]
    assert not plan(repaired(stored(items))).steps()


def test_lone_reasoning_and_repeated_ids_are_mended(tmp_path: Path) -> None:
    source = source_of(REPORTED / "52-responses-reasoning-orphan-and-dup-ids" / "input.sqlite")
    made = repaired(source)
    assert diagnose(inspect(made)) == []
    path = exported(made, tmp_path / "s.sqlite")
    items = asyncio.run(SQLiteSession("plan-52", path).get_items())
    assert items == sent(made)
    assert [item.get("call_id") for item in items if "call_id" in item] == ["call_52", "call_52"]
    assert not [item for item in items if item.get("type") == "reasoning" or "id" in item]


def test_a_list_keeps_every_other_byte() -> None:
    given = [
        {"role": "user", "content": "é"}, {"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "user", "content": "hello?"},
        _call("c1"), {"role": "assistant", "content": "Refunded."}, {"type": "function_call_output", "call_id": "lost", "output": "paid"},
    ]  # fmt: skip
    source = document(given, 3)
    before = bytes(source.parts[0].data[0 : len(source.parts[0].data)])
    after = bytes(repaired(source).parts[0].data[0:100000])
    kept = [json.dumps(each, indent=3).replace("\n", "\n   ").encode() for each in (given[0], given[2], given[3], given[4])]
    for text in kept:
        assert text in before and text in after
    made = json.loads(after)
    assert [item.get("type", item.get("role")) for item in made] == ["user", "user", "function_call", "function_call_output", "assistant", "user"]
    assert not [problem for problem in (inspect(repaired(source)).request or pytest.fail("refused")).problems if problem.blocking]


def test_two_outputs_of_a_call_become_the_one_that_is_sent() -> None:
    items = [{"role": "user", "content": "go"}, _call("a"), *({"type": "function_call_output", "call_id": "a", "output": text} for text in "xy")]
    made = repaired(stored(items))
    assert sent(made) == sent(stored(items)) and len(list(inspect(made).session.main())) == 3


def state(changed: dict[str, Any] | None = None) -> Source:
    value = json.loads((Case("runstate", "interrupted_approval_approve").folder / "runstate_approved.json").read_text())
    return document({**value, **(changed or {})}, 1)


def resumed_state(source: Source, counter: Path) -> tuple[int, list[Any]]:
    """Effects of a resume by the real SDK, and what its model was sent."""
    desk = Desk(counter, ScriptedModel([[assistant_message("done")]]))

    async def run() -> list[Any]:
        part = source.parts[0]
        value = json.loads(bytes(part.data[0 : len(part.data)]))
        restored: Any = await RunState.from_json(desk.agent, value)
        await Runner.run(desk.agent, restored)
        call = desk.model.last_call
        return list(call.input) if call is not None else []

    received = asyncio.run(run())
    return desk.effects, received


def test_an_approved_call_that_took_effect_is_not_run_again(tmp_path: Path) -> None:
    assert resumed_state(state(), tmp_path / "before")[0] == 1
    source = state()
    made = repaired(source, {"call_a1": HAPPENED})
    effects, received = resumed_state(made, tmp_path / "after")
    assert effects == 0 and received == sent(made) and "took effect" in received[-1]["output"]
    assert {operation.call_id: operation.state for operation in inspect(made).operations} == {"call_a0": "confirmed", "call_a1": "resolved"}
    old, new = json.loads(bytes(source.parts[0].data)), json.loads(bytes(made.parts[0].data))
    assert {key for key in old if old[key] != new[key]} == {"context"}
    assert {key for key in old["context"] if old["context"][key] != new["context"][key]} == {"function_tool_approvals"}


def test_an_approved_call_that_did_not_happen_runs(tmp_path: Path) -> None:
    made = repaired(state(), {"call_a1": Resolution("did-not-happen")})
    assert made.parts[0].data == state().parts[0].data
    chosen = repaired(state(), choices={"reexecution-risk:call_a1": "do-not-run"})
    effects, received = resumed_state(chosen, tmp_path / "after")
    assert effects == 0 and "Nobody knows" in received[-1]["output"]
    assert [operation.state for operation in inspect(chosen).operations] == ["confirmed", "uncertain"]


def test_a_run_that_waits_is_left_alone() -> None:
    value = json.loads((Case("runstate", "interrupted_approval_undecided").folder / "runstate.json").read_text())
    made = plan(document(value))
    assert made.refused is not None and made.steps() == []


def test_a_lost_turn_is_told_to_the_model_where_a_person_says_so(tmp_path: Path) -> None:
    source = Case("sqlite", "killed_in_tool_resume_empty_input").source()
    lost = next(operation for operation in inspect(source).operations if operation.call is None)
    assert repaired(source).parts == source.parts
    made = repaired(source, {lost.key: HAPPENED})
    states = {operation.key: operation.state for operation in inspect(made).operations}
    assert states[lost.key] == "resolved"
    items = asyncio.run(SQLiteSession("sess-1", exported(made, tmp_path / "s.sqlite")).get_items())
    assert items == sent(made) and "took effect" in str(items[-1]["content"]) and len(items) == 5
    told = repaired(source, choices={f"open-turn:{lost.evidence[0].row}": "tell-the-model"})
    assert {operation.key: operation.state for operation in inspect(told).operations}[lost.key] == "uncertain"


def test_encrypted_sessions_are_not_repaired() -> None:
    with pytest.raises(PlanError):
        plan(Case("sqlite", "encrypted_finished").source(), {"call_1": HAPPENED})
    assert plan(Case("sqlite", "encrypted_finished").source()).steps() == []
