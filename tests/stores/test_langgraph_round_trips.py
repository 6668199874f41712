"""Repaired and forked threads, resumed by the real library: no effect happens a second time, and the model is told what happened."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from inspector.capture import langgraph_export, store
from inspector.core import fork, inspection, repair, rulebook
from inspector.core.source import Source
from inspector.core.steps import Resolution
from tests.stores.recorded import Case

AGENT = Path(__file__).with_name("agent.py")
SCENARIOS = {"killed": "call_2", "react": "call_2", "parallel": "call_2", "lost": "call_2", "raised": "call_1"}
"""Scenario -> the call whose outcome nobody knows."""
NEW_ID = "0a7b4fd0-1df7-4c15-9c3e-0d2a1d3f5a11"
HAPPENED = Resolution("happened", "seen in the shop's own list")


@dataclass
class Run:
    """What one process of the agent did."""

    requests: list[list[dict[str, Any]]]
    state: dict[str, Any] | None


class Shop:
    """A thread in a store, the effects beside it, and what is done to both."""

    def __init__(self, agents: subprocess.Popen[str], folder: Path, scenario: str, address: str | None) -> None:
        self.agents, self.scenario, self.address = agents, scenario, address
        self.path = folder / "checkpoints.sqlite"
        self.repaired = folder / "repaired.sqlite"
        self.log = folder / "effects.jsonl"

    def run(self, mode: str, place: str | Path | None = None, thread: str = "t1") -> Run:
        where, out = str(place or self.address or self.path), self.path.with_name("said.jsonl")
        assert self.agents.stdin and self.agents.stdout
        self.agents.stdin.write(json.dumps([mode, where, str(self.log), self.scenario, thread, str(out)]) + "\n")
        self.agents.stdin.flush()
        assert int(self.agents.stdout.readline()) <= 0
        said = [json.loads(line) for line in out.read_text().splitlines()]
        return Run([each for each in said if isinstance(each, list)], said[-1] if said and isinstance(said[-1], dict) else None)

    def effects(self) -> list[str]:
        return [json.loads(line)["tool"] for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def lose_last_checkpoint(self) -> None:
        """What a killed process leaves when checkpoints are written in the background: the last writes, without the checkpoint behind them."""
        statement = "DELETE FROM checkpoints WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints)"
        if self.address:
            with psycopg.connect(self.address) as connection:
                connection.execute(statement)
        else:
            with closing(sqlite3.connect(self.path)) as connection:
                connection.execute(statement)
                connection.commit()

    def source(self, place: str | Path | None = None, thread: str = "t1") -> Source:
        found = store.connected("shop", str(place or self.address or self.path))
        assert found is not None
        with closing(found):
            return found.source(thread)

    def write(self, source: Source) -> str | Path:
        """Put a thread where the library finds it: into a new file, or by SQL into the database."""
        if not self.address:
            langgraph_export.write_sqlite(source, self.repaired)
            return self.repaired
        with psycopg.connect(self.address) as connection:
            connection.execute("".join(langgraph_export.sql(source)).encode())
        return self.address


@pytest.fixture(scope="module")
def agents() -> Iterator[subprocess.Popen[str]]:
    """The process that runs agents."""
    with subprocess.Popen([sys.executable, AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> str | None:
    if request.param == "sqlite":
        return None
    address: str = request.getfixturevalue("store_server")
    request.getfixturevalue("store_database").execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return address


def repaired(source: Source, **resolutions: Resolution) -> tuple[Source, repair.Plan]:
    looked = inspection.inspect(source)
    plan = repair.plan(looked, rulebook.diagnose(looked), seed="seed", at="2026-12-01T00:00:00.000Z", resolutions=resolutions)
    return repair.apply(source, plan), plan


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_repaired_thread_repeats_nothing(agents: subprocess.Popen[str], scenario: str, place: str | None, tmp_path: Path) -> None:
    shop = Shop(agents, tmp_path, scenario, place)
    shop.run("start")
    if scenario == "lost":
        shop.lose_last_checkpoint()
    before, original = shop.effects(), shop.source()
    assert before
    made, plan = repaired(original, **{SCENARIOS[scenario]: HAPPENED})
    assert not plan.remains() and not plan.operations_open()
    resumed = shop.run("resume", shop.write(made))
    assert shop.effects() == before
    results = [each for each in resumed.requests[0] if each["type"] == "tool"]
    assert "seen in the shop's own list" in next(each["content"] for each in results if each["tool_call_id"] == SCENARIOS[scenario])
    if scenario == "parallel":
        assert results[0]["content"] == "order B-2 -> cancelled"
    derived = plan.outcome.inspection.request
    assert derived is not None
    assert [each.get("content") for each in derived.body["messages"]] == [each["content"] for each in resumed.requests[0] if each["type"] != "system"]
    assert resumed.state is not None and resumed.state["next"] == []


def test_without_a_repair_the_effect_happens_again(agents: subprocess.Popen[str], tmp_path: Path) -> None:
    """The tests above would mean nothing if the framework did not repeat."""
    shop = Shop(agents, tmp_path, "killed", None)
    shop.run("start")
    shop.run("resume")
    assert shop.effects() == ["update_order", "update_order"]


@pytest.mark.parametrize("scenario", ["parallel", "lost"])
def test_new_input_after_a_repair_repeats_nothing_either(agents: subprocess.Popen[str], scenario: str, place: str | None, tmp_path: Path) -> None:
    shop = Shop(agents, tmp_path, scenario, place)
    shop.run("start")
    if scenario == "lost":
        shop.lose_last_checkpoint()
    before = shop.effects()
    made, _ = repaired(shop.source(), call_2=HAPPENED)
    resumed = shop.run("more", shop.write(made))
    assert shop.effects() == before
    assert [each["type"] for each in resumed.requests[0]][-2:] == ["tool", "human"]


def test_what_nobody_knows_is_said_and_not_run(agents: subprocess.Popen[str], tmp_path: Path) -> None:
    shop = Shop(agents, tmp_path, "killed", None)
    shop.run("start")
    made, plan = repaired(shop.source())
    assert len(plan.operations_open()) == 1
    resumed = shop.run("resume", shop.write(made))
    assert shop.effects() == ["update_order"]
    assert "Nobody knows whether it ran" in resumed.requests[0][-1]["content"]
    again, later = repaired(made, call_2=HAPPENED)
    assert not later.operations_open() and [step.finding for step in later.steps()] == ["uncertain-operation"]
    assert repaired(again)[0].parts[0].data == again.parts[0].data


@pytest.mark.parametrize(
    ("scenario", "effects"),
    [("asks-first", [[], [], ["refund"]]), ("interrupt", [["reserve"], ["reserve"] * 2, ["reserve"] * 3])],
    ids=["asks first", "reserves first"],
)
def test_a_waiting_thread_is_left_to_its_person(
    agents: subprocess.Popen[str], scenario: str, effects: list[list[str]], place: str | None, tmp_path: Path
) -> None:
    """What a node does before it asks happens at each resume: the finding warns of it. What it does behind the answer happens once."""
    shop = Shop(agents, tmp_path, scenario, place)
    shop.run("start")
    looked = inspection.inspect(shop.source())
    found = {finding.code for finding in rulebook.diagnose(looked)}
    assert {"pending-interrupt", "reexecution-risk"} <= found and "task-outcome-unknown" not in found
    assert looked.state.runs_first is not None and [each["status"] for each in looked.state.runs_first] == ["waiting"]
    made, plan = repaired(shop.source())
    assert not plan.rounds
    where = shop.write(made)
    seen = [shop.effects()]
    shop.run("resume", where)
    seen.append(shop.effects())
    answered = shop.run("answer", where)
    assert [*seen, shop.effects()] == effects
    assert answered.state is not None and answered.state["next"] == []


def test_an_exported_file_is_read_back_the_same(agents: subprocess.Popen[str], tmp_path: Path) -> None:
    shop = Shop(agents, tmp_path, "killed", None)
    shop.run("start")
    source = shop.source()
    shutil.copy(shop.path, tmp_path / "kept.sqlite")
    shop.write(source)
    assert shop.source(shop.repaired).parts[0].data == source.parts[0].data
    with pytest.raises(FileExistsError):
        shop.write(source)


def test_a_forked_thread_goes_on_from_its_checkpoint(agents: subprocess.Popen[str], place: str | None, tmp_path: Path) -> None:
    """A fork where the first tool is about to run; what was recorded there comes along and is not done again."""
    shop = Shop(agents, tmp_path, "parallel", place)
    shop.run("start")
    before = shop.effects()
    source, _ = repaired(shop.source(), call_2=HAPPENED)
    looked = inspection.inspect(source)
    rows = [row for row in looked.session.rows if row.type == "checkpoints"]
    made = fork.fork(looked, new_id=NEW_ID, at="2026-12-01T00:00:00.000Z", row=rows[2].ref)
    assert made.at == rows[2].ref and len(made.lineage) < len(looked.session.rows)
    where = shop.write(made.source)
    resumed = shop.run("resume", where, thread=NEW_ID)
    assert shop.effects() == before
    assert [each["type"] for each in resumed.requests[0]] == ["system", "human", "ai", "tool", "tool"]


def test_a_call_that_new_input_left_open_is_answered_in_its_place(agents: subprocess.Popen[str], place: str | None, tmp_path: Path) -> None:
    """New input on a killed thread leaves its call in the conversation for good; the prebuilt agent sends it to the model so."""
    shop = Shop(agents, tmp_path, "killed", place)
    shop.run("start")
    left = shop.run("more")
    assert [each["type"] for each in left.requests[0]][-2:] == ["ai", "human"]
    looked = inspection.inspect(shop.source())
    found = [finding for finding in rulebook.diagnose(looked) if finding.code == "unresolved-call"]
    assert len(found) == 1 and found[0].repairable
    made, plan = repaired(shop.source(), call_2=HAPPENED)
    assert not plan.remains() and not plan.operations_open()
    resumed = shop.run("more", shop.write(made))
    types = [(each["type"], each["tool_call_id"]) for each in resumed.requests[0]]
    at = next(number for number, each in enumerate(resumed.requests[0]) if "call_2" in each["tool_calls"])
    assert types[at + 1] == ("tool", "call_2") and types[at + 2][0] == "human"
    assert "seen in the shop's own list" in resumed.requests[0][at + 1]["content"]
    assert shop.effects() == ["update_order"]


@pytest.mark.parametrize("release", ["0.2.14", "0.2.76"])
@pytest.mark.parametrize("name", ["killed_in_tool", "interrupt_before"])
def test_a_store_of_an_old_release_is_repaired_for_todays(agents: subprocess.Popen[str], release: str, name: str, tmp_path: Path) -> None:
    case = Case(f"langgraph-sqlite-legacy-{release}", name)
    shop = Shop(agents, tmp_path, "react", None)
    source = shop.source(case.sqlite)
    calls = {each.call_id: HAPPENED for each in inspection.inspect(source).operations if each.state == "uncertain" and each.on_branch}
    made, plan = repaired(source, **{call: said for call, said in calls.items() if call})
    if name == "killed_in_tool" and release == "0.2.76":  # only the input is left of it, and a model's answer under a checkpoint that is gone
        assert not plan.rounds and {finding.code for finding in plan.remains()} >= {"lost-checkpoint", "effect-ahead-of-checkpoint"}
        return
    assert not plan.operations_open()
    resumed = shop.run("resume", shop.write(made))
    assert "seen in the shop's own list" in resumed.requests[0][-1]["content"]
    asked = [call for each in resumed.requests for message in each for call in message["tool_calls"]]
    assert shop.effects() == ([] if "call_2" in calls else ["update_order"]) and "call_2" in asked
