"""Recorded requests, against what a server really received from the client (`observed.json` of each case)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.folder import session_files, source_of
from inspector.core import inspection
from inspector.core.clients.claude_code import recorded
from inspector.core.clients.claude_code.read import read
from inspector.core.clients.claude_code.resume import resume
from inspector.core.session import Session
from inspector.core.source import Part, Source
from inspector.core.state import ResumeAs, RuntimeState, StateMessage

CORPUS = Path(__file__).parents[1] / "corpus/claude-code-recorded"
CASES = sorted(path.name for path in CORPUS.iterdir())
TOOLS = "three_runs_tools_two_models"


def session_of(name: str) -> Session:
    return read(source_of(session_files(CORPUS / name / "source")[0]))


def edited(name: str, old: bytes, new: bytes) -> Session:
    source = session_of(name).source
    data = bytes(source.parts[0].data[:])
    assert old in data
    part = Part(source.parts[0].name, data.replace(old, new))
    return read(replace(source, parts=(part, *source.parts[1:])))


def without_rows(name: str, kind: str) -> Session:
    session = session_of(name)
    main = b"".join(session.bytes_of(row) for row in session.rows if row.part == 0 and row.type != kind)
    return read(Source(session.source.name, (Part(session.source.parts[0].name, main),)))


def state_of(messages: list[dict[str, Any]]) -> RuntimeState:
    held = [StateMessage(message["role"], message["content"], []) for message in messages]
    return RuntimeState("claude-code", "2.1.332", None, "anthropic-messages", messages=held)


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_message_is_rebuilt_as_it_was_sent(name: str) -> None:
    session = session_of(name)
    observed = json.loads((CORPUS / name / "observed.json").read_text())["requests"]
    for kind, parts in (("main", [0]), ("sub", list(session.agents))):
        sent = [request for request in observed if request["kind"] == kind]
        rebuilt = [request for part in parts for request in recorded.all_requests(session, part)]
        assert len(rebuilt) >= len(sent)
        assert all(request.verified == request.of and not request.mismatches for request in rebuilt)
        for ours, theirs in zip(rebuilt[len(rebuilt) - len(sent) :], sent, strict=True):
            assert list(map(recorded.normal, ours.body["messages"])) == list(map(recorded.normal, theirs["messages"]))
            assert ours.body["model"] == theirs["model"]


@pytest.mark.parametrize("name", CASES)
def test_no_message_needs_its_stored_copy(name: str) -> None:
    last = list(recorded.all_requests(without_rows(name, "api-request-blob")))[-1]
    assert {message.how for message in last.messages} == {"rebuilt"}


def test_an_edited_row_is_named_where_its_hash_no_longer_fits() -> None:
    session = edited(TOOLS, b'"content":"Exit code 1"', b'"content":"Exit code 0"')
    row = next(row for row in session.rows if b"Exit code 0" in session.bytes_of(row))
    request = list(recorded.all_requests(session))[3]
    assert (request.verified, request.of) == (7, 8)
    assert row.ref in request.mismatches
    assert "Exit code 0" in json.dumps(request.body["messages"][7])
    assert "1 cannot be made again" in request.note


def test_an_edited_stored_message_is_altered_unless_the_rows_still_make_it() -> None:
    session = edited("old_session_resumed", b'"text":"continue"', b'"text":"go on"')
    request = list(recorded.all_requests(session))[-1]
    assert request.verified == request.of
    gone = read(
        Source(session.source.name, (Part(session.source.parts[0].name, bytes(session.source.parts[0].data[:]).replace(b'"continue"', b'"x"')),))
    )
    request = list(recorded.all_requests(gone))[-1]
    altered = [message for message in request.messages if message.how == "altered"]
    assert len(altered) == 1 and gone.row(altered[0].rows[0]).type == "api-request-blob"


def test_messages_of_a_lost_base_count_as_not_verified() -> None:
    session = session_of("old_session_resumed")
    first = next(row for row in session.rows if row.type == "api-request")
    data = b"".join(session.bytes_of(row) for row in session.rows if row is not first)
    request = recorded.recorded_request(read(Source("x", (Part("x.jsonl", data),))), state_of([]))
    assert request is not None
    assert (request.verified, request.of) == (3, 15)
    assert "12 taken over from a request that is not in the file" in request.note


def test_system_prompt_and_tools_come_from_the_recorded_shape() -> None:
    request = recorded.recorded_request(session_of(TOOLS), state_of([]))
    assert request is not None
    assert request.body["system"][0]["type"] == "text" and len(request.body["tools"]) > 5
    assert request.source == "sdk" and "betas" not in request.body


def test_the_first_message_in_which_the_next_request_differs() -> None:
    session = session_of(TOOLS)
    sent = json.loads((CORPUS / TOOLS / "observed.json").read_text())["requests"][-1]["messages"]
    same = recorded.recorded_request(session, state_of([*sent, {"role": "user", "content": "next"}]))
    other = recorded.recorded_request(session, state_of([*sent[:4], {"role": "user", "content": "else"}, *sent[5:]]))
    assert same is not None and same.parts_at is None
    assert other is not None and other.parts_at == 4


@pytest.mark.parametrize("name", CASES)
def test_the_derived_request_repeats_the_recorded_one_letter_for_letter(name: str) -> None:
    """With the model that was asked for then: one of them has been retired since, and a resume would fall back on the default."""
    session = session_of(name)
    asked = json.loads((CORPUS / name / "observed.json").read_text())["requests"][-1].get("model")
    state = resume(session, ResumeAs(model=asked))
    request = recorded.recorded_request(session, state)
    assert request is not None and request.parts_at is None
    for ours, theirs in zip(state.messages, request.body["messages"], strict=False):
        sent = {key: value for key, value in theirs.items() if key != "output_config"}
        assert recorded.normal({"role": ours.role, "content": ours.content}) == recorded.normal(sent)


def test_the_stored_system_prompt_and_the_recorded_tools_reach_the_request() -> None:
    looked = inspection.inspect(session_of("old_session_resumed").source)
    assert looked.request is not None and looked.recorded is not None
    sent = [block["text"] for block in looked.recorded.body["system"]]
    assert looked.request.body["system"] == [{"type": "text", "text": sent[-1]}]
    assert looked.request.body["tools"] == looked.recorded.body["tools"]
    row = next(place.row for place in looked.request.places if place.pointer == "/system/0")
    assert looked.row(row).extra.attachment == "prompt_snapshot" and row not in {drop.row for drop in looked.request.drops}
    older = inspection.inspect(looked.session.source, ResumeAs(version="2.1.197")).request
    assert older is not None and "system" not in older.body and any("system prompt" in says for says in older.added_at_send)


def test_a_sub_agent_keeps_its_own_last_request() -> None:
    requests = recorded.agent_requests(session_of("foreground_agent"))
    assert [(part, request.agent is not None, request.verified, request.of) for part, request in requests.items()] == [(1, True, 5, 5)]


def test_nothing_recorded() -> None:
    assert recorded.recorded_request(without_rows(TOOLS, "api-request"), state_of([])) is None


@pytest.mark.parametrize("broken", [b'"tail":7', b'"tail":[1,null]', b'"keep":-4,"tail":[]', b'"keep":true,"tail":{}', b'"base":9,"tail":[]'])
def test_malformed_records_never_raise(broken: bytes) -> None:
    data = b'{"type":"api-request","id":"a",' + broken + b',"params":3}\n{"type":"api-request-blob","hash":1,"message":[]}\n'
    request = recorded.recorded_request(read(Source("x", (Part("x.jsonl", data),))), state_of([]))
    assert request is not None and request.verified == 0


EXAMPLES = sorted((Path(__file__).parents[2] / "inspector" / "examples").rglob("*.jsonl"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem[:8])
def test_no_example_accuses_anybody_of_a_change(path: Path) -> None:
    looked = inspection.inspect(source_of(path))
    assert looked.recorded is None or not [message for message in looked.recorded.messages if message.how == "altered"]
