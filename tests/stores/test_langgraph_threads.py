"""Every recorded store of LangGraph against what the real library said of it: threads, checkpoints, messages, tasks, writes, the next request."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import psycopg
import pytest

from inspector.capture import store
from inspector.capture.tables import Store
from inspector.core import repair, report, rulebook
from inspector.core.inspection import Inspection, inspect
from inspector.core.source import Source
from tests.stores.recorded import KEY, Case, brief, cases, wanted

SQLITE = cases("langgraph-sqlite", "langgraph-asyncsqlite", "langgraph-sqlite-legacy-0.2.14", "langgraph-sqlite-legacy-0.2.76")
POSTGRES = cases("langgraph-postgres", "langgraph-postgres-legacy-0.2.14", "langgraph-postgres-legacy-0.2.76")
NAME_NOT_STORED = ("functional_killed_in_task",)
"""Killed before the function of the functional API had left a row that names it."""


def opened(case: Case) -> Store:
    found = store.open_store(case.sqlite, KEY)
    assert found is not None
    return found


def facts(looked: Inspection) -> dict[str, Any]:
    return {fact.name: fact.value for fact in looked.state.facts}


def compare(case: Case, found: Store) -> None:
    wants = list(wanted(case))
    assert [each.id for each in found.threads()] == sorted(want.thread for want in wants)
    for want in wants:
        source = found.source(want.thread)
        looked = inspect(source)
        held = facts(looked)
        assert looked.session.client == "langgraph"
        assert held["checkpoints"] == want.checkpoints
        assert held["newest"] == want.newest
        assert held["messages"] == want.messages
        laws(source, looked)
        pending(looked, want.newest, want.pending)
        if case.name in NAME_NOT_STORED:
            continue
        assert sorted(each["name"] for each in held["tasks"]) == sorted(name for name, _ in want.tasks)
        assert sorted(each["id"] for each in held["tasks"]) == sorted(id for _, id in want.tasks)
        assert held["finished"] is (not want.tasks)
        assert held["next"] == want.next
        if want.statuses is not None:
            assert sorted((each["id"], each["status"]) for each in held["tasks"]) == sorted(want.statuses)


def pending(looked: Inspection, newest: str, wanted: list[tuple[str, str]] | None) -> None:
    """The writes under the newest checkpoint, by task and channel."""
    if wanted is not None:
        cells = [row.extra for row in looked.session.rows if row.type.startswith("writes/")]
        assert sorted((cell.task_id, cell.channel) for cell in cells if cell.checkpoint_id == newest and cell.ns == "") == sorted(wanted)


def laws(source: Source, looked: Inspection) -> None:
    """Rows tile their parts; every row has a place or exactly one drop."""
    for number, part in enumerate(source.parts):
        rows = [row for row in looked.session.rows if row.part == number]
        assert [row.start for row in rows] == [0, *(row.end for row in rows)][: len(rows)]
        assert not rows or rows[-1].end == len(part.data)
    placed = {place.row for place in looked.request.places} if looked.request else set()
    dropped = [drop.row for drop in looked.state.drops]
    assert len(dropped) == len(set(dropped))
    assert {row.ref for row in looked.session.rows} == {ref for ref in placed if not ref.startswith("+")} | set(dropped)
    assert not placed & set(dropped)
    report.answer(source.name, looked, rulebook.diagnose(looked))


@pytest.mark.parametrize("case", SQLITE, ids=str)
def test_a_sqlite_store_says_what_the_library_said(case: Case) -> None:
    with closing(opened(case)) as found:
        compare(case, found)


@pytest.mark.parametrize("case", POSTGRES, ids=str)
def test_a_postgres_store_says_what_the_library_said(case: Case, store_database: psycopg.Connection[Any], store_server: str) -> None:
    case.load(store_database)
    found = store.connected("orders", store_server)
    assert found is not None and found.kind == "langgraph-postgres"
    with closing(found):
        compare(case, found)


def test_a_store_without_a_thread_has_none() -> None:
    case = Case("langgraph-sqlite", "workflow_killed_in_act_exit")
    with closing(opened(case)) as found:
        assert found.threads() == []


@pytest.mark.parametrize("case", [case for case in SQLITE if "newinput" not in case.name and "reconciled" not in case.name], ids=str)
def test_the_next_request_begins_as_the_model_received_it(case: Case) -> None:
    """What the model received first after the resume: the derived messages, then the results of the tasks that ran before it."""
    resumed = case.expected.get("resume") or {}
    requests = resumed.get("model_requests") or []
    if not requests or len(case.expected["threads"]) != 1:
        pytest.skip("no model was asked, or not for one thread")
    want = [each for each in brief(requests[0]["messages"]) if each["type"] != "system"]
    with closing(opened(case)) as found:
        looked = inspect(found.source(found.threads()[0].id))
    assert looked.request is not None
    got = brief(looked.request.body["messages"])
    told = {call["id"] for task in looked.request.runs_first or () for call in task["calls"]}
    assert want[: len(got)] == got
    rest = want[len(got) :]
    assert {each["tool_call_id"] for each in rest if each["type"] == "tool"} <= told


def test_a_shallow_saver_keeps_the_last_checkpoint_only(store_database: psycopg.Connection[Any], store_server: str) -> None:
    """Its tables, made from those of a recorded thread: no ids beside the checkpoint, no versions beside the blobs."""
    case = Case("langgraph-postgres", "agent_parallel_partial_sync")
    case.load(store_database)
    store_database.execute("""
        DELETE FROM checkpoint_blobs b WHERE version <> (SELECT max(version) FROM checkpoint_blobs o WHERE o.channel = b.channel);
        DELETE FROM checkpoint_blobs WHERE channel = '__start__';
        DELETE FROM checkpoints WHERE checkpoint_id <> (SELECT max(checkpoint_id) FROM checkpoints);
        DELETE FROM checkpoint_writes WHERE checkpoint_id <> (SELECT checkpoint->>'id' FROM checkpoints);
        ALTER TABLE checkpoints DROP COLUMN checkpoint_id, DROP COLUMN parent_checkpoint_id;
        ALTER TABLE checkpoint_blobs DROP COLUMN version
    """)
    found = store.connected("orders", store_server)
    assert found is not None
    with closing(found):
        assert [(each.id, each.rows, each.at) for each in found.threads()] == [("t1", 3, None)]
        looked = inspect(found.source("t1"))
    want = next(wanted(case))
    held = facts(looked)
    assert (held["checkpoints"], held["newest"], held["messages"]) == (1, want.newest, want.messages)
    assert sorted((each["id"], each["status"]) for each in held["tasks"]) == sorted(want.statuses or [])
    assert [each["status"] for each in looked.state.runs_first or []] == ["unknown"]
    plan = repair.plan(looked, rulebook.diagnose(looked), seed="s", at="2026-12-01T00:00:00.000Z")
    assert [step.finding for step in plan.steps()] == ["task-outcome-unknown"]  # the task is answered; no second checkpoint is written
