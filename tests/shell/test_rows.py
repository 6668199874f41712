"""Windows, filters and searches of the row index, and the screen of a window, agree with the whole derivation."""

from __future__ import annotations

import base64
import json
import os
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from inspector.core import reading
from inspector.models import IndexedRow, Revision, Session
from inspector.queries import derivation, inbox, rows
from inspector.queries.artifacts import source_of
from inspector.queries.screen import with_screen
from inspector.services.import_sessions import Outcome
from tests.shell.sessions import DAMAGED, OTHER, SID, bring, bring_bytes, row, transcript, write_home

pytestmark = pytest.mark.django_db
CORPUS = Path(__file__).parent.parent / "corpus"


@pytest.fixture
def long() -> Revision:
    return bring_bytes(transcript(turns=300) + b"broken\n" + b'{"type":"mode","mode":"plan","sessionId":"x"}\n').revision


def refs(found: list[IndexedRow]) -> list[str]:
    return [row.ref for row in found]


def test_a_window_goes_both_ways_and_stops_at_the_ends(long: Revision) -> None:
    assert refs(rows.window(revision=long))[::199] == ["0:0", "0:199"]
    assert refs(rows.window(revision=long, after=199, count=3)) == ["0:200", "0:201", "0:202"]
    assert refs(rows.window(revision=long, before=200, count=3)) == ["0:197", "0:198", "0:199"]
    assert refs(rows.window(revision=long, around=300, count=5)) == ["0:298", "0:299", "0:300", "0:301", "0:302"]
    assert refs(rows.window(revision=long, around=0, count=3)) == ["0:0", "0:1", "0:2"]
    assert refs(rows.window(revision=long, around=601, count=4)) == ["0:599", "0:600", "0:601"]
    assert rows.window(revision=long, after=601) == [] == rows.window(revision=long, before=0)


def test_filters_keep_what_they_say(long: Revision) -> None:
    assert {row.kind for row in rows.matching(revision=long, show="messages")} == {"message"}
    assert refs(list(rows.matching(revision=long, show="left-out"))) == ["0:600"]
    assert "0:600" in refs(list(rows.matching(revision=long, show="problems")))
    assert rows.matching(revision=long, part=1).count() == 0


def test_refs_lead_to_their_places_and_others_to_none(long: Revision) -> None:
    assert rows.seqs_of(revision=long, refs=["0:0", "0:601", "0:602", "1:0", "+1", "x", "0:-1"]) == {"0:0": 0, "0:601": 601}


def test_refs_of_further_parts_are_counted_from_their_first_row(tmp_path: Path) -> None:
    (revision,) = (outcome.revision for outcome in bring(write_home(tmp_path)) if outcome.session.native_id == SID)
    looked = derivation.inspection_of(revision=revision).inspection
    assert rows.seqs_of(revision=revision, refs=[row.ref for row in looked.session.rows]) == {
        row.ref: seq for seq, row in enumerate(looked.session.rows)
    }


def test_slices_are_the_bytes_of_the_rows(long: Revision) -> None:
    lines = source_of(long).parts[0].data[0:].splitlines(keepends=True)
    window = rows.window(revision=long, around=300)
    assert rows.slices(revision=long, rows=window) == lines[200:400]
    assert rows.slices(revision=long, rows=window, limit=10) == [line[:10] for line in lines[200:400]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("refund 299", ["0:598"]),
        ("REFUND 299", ["0:598"]),
        ("broken", ["0:600"]),
        ('say "hi"\\n', ["0:602"]),
        ("zürich", ["0:603", "0:604"]),
        ("", []),
    ],
)
def test_search_looks_in_the_bytes_of_all_rows(text: str, found: list[str]) -> None:
    data = transcript(turns=300) + b"broken\n" + b'{"type":"mode","mode":"plan","sessionId":"x"}\n'
    data += row("user", 900, 599, 'say "hi"\\n') + row("user", 901, 900, "Zürich") + '{"type":"tag","tag":"Zürich","sessionId":"x"}\n'.encode()
    assert rows.search(revision=bring_bytes(data).revision, text=text) == found


def test_search_finds_what_lies_across_two_slices_and_stops_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    revision = bring_bytes(transcript(turns=50)).revision
    monkeypatch.setattr(rows, "SCAN", 100)
    assert rows.search(revision=revision, text="retry the refund") == [f"0:{number}" for number in range(0, 100, 2)]
    assert rows.search(revision=revision, text="retry the refund", limit=3) == ["0:0", "0:2", "0:4"]


def whole_screen(revision: Revision) -> dict[str, tuple[str, bool, str]]:
    session = derivation.inspection_of(revision=revision).inspection.session
    shown: dict[str, tuple[str, bool, str]] = {}
    for item in reading.CLIENTS[session.client].screen(session):
        for ref in item.rows:
            shown.setdefault(ref, (item.role, item.folded, item.text[:240]))
    return shown


def outcomes() -> list[Outcome]:
    return [outcome for case in sorted(CORPUS.iterdir()) if any(case.rglob("*.json*")) for outcome in bring(case)]


def test_the_screen_of_every_window_is_that_of_the_whole_session() -> None:
    checked = 0
    for outcome in outcomes():
        expected = whole_screen(outcome.revision)
        every = list(rows.matching(revision=outcome.revision, part=0))
        for size in (5, len(every) or 1):
            for start in range(0, len(every), size):
                for found in with_screen(revision=outcome.revision, rows=every[start : start + size]):
                    shown = (found.screen_role, found.folded, found.preview) if found.screen_role else None
                    assert shown == expected.get(found.ref), (outcome.session.name, found.ref)
                    checked += shown is not None
    assert checked > 1000


def test_a_sub_agents_own_session_shows_its_conversation(tmp_path: Path) -> None:
    bring(write_home(tmp_path))
    agent = Session.objects.get(agent="a1")
    shown = with_screen(revision=agent.current, rows=rows.window(revision=agent.current))
    assert [(row.screen_role, row.preview) for row in shown][:2] == [("user", "retry the refund 0"), ("assistant", "done 0")]


@pytest.mark.parametrize("name", DAMAGED)
def test_the_screen_of_damaged_rows_is_their_bytes(name: str) -> None:
    revision = bring_bytes(DAMAGED[name]).revision
    for found in with_screen(revision=revision, rows=rows.window(revision=revision), limit=30):
        assert len(found.preview) <= 30
        if found.kind == "damaged":
            data = DAMAGED[name][found.start : found.end][:30]
            assert found.screen_role == "" and found.preview == data.decode("utf-8", "replace").strip()


def three_sessions(owner: User) -> list[Session]:
    made = [
        bring_bytes(transcript(turns=turns, word=word), name=name, actor=owner if turns == 1 else None).session
        for turns, word, name in ((1, "fix the Ledger", f"{SID}.jsonl"), (2, "ship Order 7", f"{OTHER}.jsonl"), (3, "100% _done", "notes.jsonl"))
    ]
    for number, session in enumerate(made):
        session.last_activity = timezone.now() - timedelta(days=number)
        session.save()
    return made


def test_the_inbox_pages_by_key_newest_first(owner: User) -> None:
    made = three_sessions(owner)
    seen, after = [], ""
    while True:
        page = inbox.inbox(after=after, limit=1)
        seen += page.sessions
        if page.next is None:
            break
        after = page.next
    assert seen == made
    assert all(one.last_activity >= other.last_activity for one, other in pairwise(seen))  # type: ignore[operator]


@pytest.mark.parametrize("cursor", ["x", "!!!", base64.urlsafe_b64encode(b'["no date", 1]').decode(), base64.urlsafe_b64encode(b"[]").decode()])
def test_a_cursor_that_is_none_is_the_beginning(owner: User, cursor: str) -> None:
    made = three_sessions(owner)
    assert inbox.inbox(after=cursor).sessions == made


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"text": "ledger"}, [0]),
        ({"text": "LEDGER fix"}, [0]),
        ({"text": "order"}, [1]),
        ({"text": "100%"}, [2]),
        ({"text": "_"}, [2]),
        ({"text": OTHER[:8]}, [1]),
        ({"text": "absent"}, []),
        ({"client": "claude-code"}, [0, 1, 2]),
        ({"client": "raw"}, []),
        ({"verdict": "ready"}, [0, 1, 2]),
        ({"verdict": "blocked"}, []),
        ({"project": "-none"}, []),
    ],
)
def test_filters_of_the_inbox(owner: User, filters: dict[str, Any], found: list[int]) -> None:
    made = three_sessions(owner)
    assert inbox.inbox(**filters).sessions == [made[number] for number in found]


def test_the_inbox_knows_whose_and_since_when(owner: User, team_mate: User) -> None:
    made = three_sessions(owner)
    assert inbox.inbox(mine=owner).sessions == made[:1] and inbox.inbox(mine=team_mate).sessions == []
    assert inbox.inbox(since=timezone.now() - timedelta(hours=36)).sessions == made[:2]


def test_sub_agents_are_listed_only_on_request(tmp_path: Path) -> None:
    bring(write_home(tmp_path))
    assert {session.relation for session in inbox.inbox().sessions} == {""}
    assert {session.relation for session in inbox.inbox(agents=True).sessions} == {"", "sub-agent"}


def test_continue_takes_the_newest_session_that_no_machine_runs(tmp_path: Path) -> None:
    home = write_home(tmp_path)
    (home / "projects/-home-dev-shop/66666666-2222-4333-8444-555555555555.jsonl").write_bytes(b'{"type":"mode","mode":"x","sessionId":"s"}\n')
    newest = transcript(OTHER, turns=9)
    (home / f"projects/-home-dev-shop/{OTHER}.jsonl").write_bytes(newest)
    for kind, picked, why in (("interactive", OTHER, []), ("print", SID, [OTHER])):
        entry = {"pid": os.getpid(), "sessionId": OTHER, "kind": kind}
        (home / f"sessions/{os.getpid()}.json").write_text(json.dumps(entry))
        (home / f"projects/-home-dev-shop/{OTHER}.jsonl").write_bytes(newest)
        bring(home)
        choice = inbox.continue_choice(project="-home-dev-shop")
        passed = {session.native_id: reason for session, reason in choice.skipped}
        assert choice.picked is not None and choice.picked.native_id == picked
        assert passed.pop("66666666-2222-4333-8444-555555555555") == "it holds no message"
        assert list(passed) == why
        assert all("kind print" in reason for reason in passed.values())
    assert inbox.continue_choice(project="-nothing") == inbox.ContinueChoice(None, [])
