"""What a resume derives, against what the real client sent: every recorded case, every client version that resumed it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.capture import folder
from inspector.core import rulebook
from inspector.core.inspection import Inspection, inspect
from inspector.core.state import ResumeAs
from tests.canonical import canonical
from tests.core.transcripts import Transcript, text

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
FOLDERS = ("claude-code", "claude-code-damaged", "claude-code-gates", "claude-code-repaired", "claude-code-tails")

UNREACHED = {
    ("fuzz-11-152", "2.1.89"): "the old client compacts first; the summary is the model's text",
    ("live332-q1_tui_resume_truncated", "2.1.332"): "a path was replaced in the stored file after the recording, not in the request",
    ("damaged-044-drop_result_unlinked", "2.1.332"): "order of a result found under a recovered result",
    ("damaged-093-move_to_end", "2.1.332"): "last-prompt behind a compaction with rows moved across it",
    ("damaged-093-move_to_end", "2.1.197"): "last-prompt behind a compaction with rows moved across it",
    ("damaged-140-result_odd_content", "2.1.332"): "a prompt at the end of the file disappears; reason not found",
    ("damaged-140-result_odd_content", "2.1.89"): "a number as result content is sent as it is",
    ("damaged-249-dup_block_of_rows", "2.1.197"): "a sidechain row behind the tail counts as context",
    ("damaged-414-attachment_tail", "2.1.332"): "rendered context behind an orphan result",
    ("damaged-435-compact_preserved", "2.1.332"): "preserved rows listed with a result before its call",
    ("damaged-435-compact_preserved", "2.1.197"): "preserved rows listed with a result before its call",
    ("damaged-436-compact_preserved_2", "2.1.332"): "preserved rows listed with a result before its call",
    ("damaged-440-content_replacement", "2.1.332"): "a call id used on both sides of a compaction",
    ("damaged-h030-compact_parent_kept", "2.1.332"): "a row of the first turn moved behind a compaction",
    ("damaged-h031-compact_preserved", "2.1.332"): "all rows in reverse order around a compaction",
}
"""Records that the derivation does not reach, and why. A record that is reached must not stand here."""

FRESH_TEXT = {
    "j49_unknown_attachment": "a fresh text of the same file name was taken for the stored row's",
    "live332-g1_compact_print": "the client made the same texts afresh at the new prompt; the rows before the compaction were not sent",
}
"""Cases whose record of sent context rows was made by comparing texts, and took a text made afresh for the stored one."""


def records() -> list[Any]:
    found = []
    for name in FOLDERS:
        for case in sorted((CORPUS / name).iterdir()):
            observed = json.loads((case / "observed.json").read_text(encoding="utf-8"))
            for record in observed["records"]:
                version = record["client"].split()[-1]
                found.append(pytest.param(case, observed, record, id=f"{case.name}-{version}-{record.get('model')}"))
    return found


def derive(case: Path, observed: dict[str, Any], record: dict[str, Any]) -> Inspection:
    main = next(iter(sorted((case / "source").glob("*.jsonl"))))
    asked = ResumeAs(
        how=observed.get("resume_as", "normal"),
        version=record["client"].split()[-1],
        model=record.get("model"),
        prompt=observed.get("prompt"),
        gates=tuple(observed.get("gates", {}).items()),
    )
    return inspect(folder.source_of(main), asked, client="claude-code")


@pytest.mark.parametrize(("case", "observed", "record"), records())
def test_request_is_what_the_client_sent(case: Path, observed: dict[str, Any], record: dict[str, Any]) -> None:
    looked = derive(case, observed, record)
    if record.get("messages") is None:
        equal = looked.request is None and bool(looked.state.refused)
    else:
        equal = looked.request is not None and canonical(looked.request.body["messages"]) == canonical(record["messages"])
    assert equal is ((case.name, record["client"].split()[-1]) not in UNREACHED)


@pytest.mark.parametrize(("case", "observed", "record"), [p for p in records() if p.values[2].get("context") and p.values[0].name not in FRESH_TEXT])
def test_stored_context_is_placed_or_dropped_as_the_client_did(case: Path, observed: dict[str, Any], record: dict[str, Any]) -> None:
    looked = derive(case, observed, record)
    assert looked.request is not None
    ids = {row.ref: row.id for row in looked.session.rows}
    placed = {ids.get(place.row) for place in looked.request.places}
    dropped = {ids.get(drop.row) for drop in looked.request.drops}
    assert not [one for one in record["context"]["sent"] if one not in placed]
    assert not [one for one in record["context"]["not_sent"] if one not in dropped]


@pytest.mark.parametrize(("case", "observed", "record"), [p for p in records() if p.values[2]["client"].endswith("2.1.332")])
def test_every_row_has_a_place_or_exactly_one_drop(case: Path, observed: dict[str, Any], record: dict[str, Any]) -> None:
    looked = derive(case, observed, record)
    placed = {place.row for place in looked.request.places} if looked.request else set()
    dropped = [drop.row for drop in looked.state.drops]
    assert len(dropped) == len(set(dropped))
    assert not placed & set(dropped)
    assert placed | set(dropped) >= {row.ref for row in looked.session.rows}


def test_recorded_replacements_are_applied_only_behind_their_gate() -> None:
    main = next((CORPUS / "claude-code/j45b_content_replacement_big/source").glob("*.jsonl"))
    source = folder.source_of(main)
    row = next(json.loads(line) for line in main.read_bytes().split(b"\n") if b'"content-replacement"' in line)
    (replacement,) = row["replacements"]

    def result(gates: tuple[tuple[str, bool], ...]) -> Any:
        looked = inspect(source, ResumeAs(gates=gates))
        assert looked.request is not None
        blocks = [block for message in looked.request.body["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return next(block["content"] for block in blocks if block.get("tool_use_id") == replacement["toolUseId"])

    assert result(()) != replacement["replacement"]
    assert result((("content-replacement", True),)) == replacement["replacement"]


def test_a_fork_that_begins_with_preserved_rows_has_no_gap() -> None:
    """The head of a preserved segment keeps its old parent, which a fork does not copy; the client hangs it from the summary all the same."""
    main = next(file for file in (CORPUS.parents[1] / "inspector" / "examples").rglob("6d0f4a52*.jsonl"))
    looked = inspect(folder.source_of(main))
    ids = {row.id for row in looked.session.rows}
    heads = [(ref, by) for ref, by in looked.state.rehung.items() if looked.row(ref).parent not in ids]
    assert [why for _, (_, why) in heads] == ["preserved"]
    assert looked.row(heads[0][1][0]).extra.compact_summary
    assert "dangling-parent" not in {finding.code for finding in rulebook.diagnose(looked)}


@pytest.mark.parametrize(
    ("written", "sent"),
    [("claude-opus-4-8", "claude-opus-4-8"), ("claude-sonnet-4-5-20250929", "claude-opus-5-5"), ("claude-other-1", "claude-opus-5-5")],
)
def test_a_model_that_the_client_no_longer_knows_gives_way_to_its_default(written: str, sent: str) -> None:
    """Observed of 2.1.332: `Session model … could not be restored (retired)`, or `(not a model this version of Claude Code recognizes)`."""
    made = Transcript()
    made.user("Ship it.")
    made.assistant(text("Shipped."), model=written)
    assert made.inspect().state.model == sent


def test_a_call_of_a_tool_that_was_renamed_is_sent_under_its_new_name() -> None:
    made = Transcript()
    made.user("Ship it.")
    made.tool()
    made.lines[1] = made.lines[1].replace(b'"Bash"', b'"Task"')
    looked = made.inspect(prompt="continue")
    assert looked.request is not None and looked.request.body["messages"][1]["content"][0]["name"] == "Agent"
