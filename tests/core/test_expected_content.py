"""What a file would hold after a call: told only where the arguments say it exactly, and checked against what the client really wrote."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from inspector.core.calls import ABSENT, Known
from inspector.core.expected_content import expected_content, expected_of
from inspector.core.inspection import inspect
from inspector.core.source import Part, Source
from tests.conftest import CORPUS
from tests.core.transcripts import SESSION, Transcript, call, result, text


def sha(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"file_path": "/f", "old_string": old, "new_string": new, **more}


@pytest.mark.parametrize(
    ("tool", "arguments", "before", "after"),
    [
        ("Write", {"file_path": "/f", "content": "grüße\r\n"}, None, "grüße\r\n"),
        ("Write", {"file_path": "/f", "content": ""}, ABSENT, ""),
        ("Write", {"file_path": "/f", "content": "a\ud800b"}, b"x", "a\ufffdb"),
        ("Edit", edit("one", "two"), b"one one\n", None),
        ("Edit", edit("one", "two"), b"one\n", "two\n"),
        ("Edit", edit("one", "two", replace_all=True), b"one one\n", "two two\n"),
        ("Edit", edit("one", "two", replace_all="yes"), b"one one\n", None),
        ("Edit", edit("one", "two"), b"else\n", None),
        ("Edit", edit("one", "two"), None, None),
        ("Edit", edit("one", "two"), ABSENT, None),
        ("Edit", edit("one", "one"), b"one\n", None),
        ("Edit", edit("", "new\n"), ABSENT, "new\n"),
        ("Edit", edit("", "new\n"), b"", "new\n"),
        ("Edit", edit("", "new\n"), b"old\n", None),
        ("Edit", edit("one", ""), b"one\n", None),
        ("Edit", edit("one\n", ""), b"one\ntwo\n", "two\n"),
        ("Edit", edit("one", "two"), b"one\r\n", None),
        ("Edit", edit("one", "two"), b"one\xff", None),
        ("Edit", {"file_path": "/f"}, b"one", None),
        ("MultiEdit", {"file_path": "/f", "edits": [edit("a", "b"), edit("b", "c")]}, b"a\n", "c\n"),
        ("MultiEdit", {"file_path": "/f", "edits": [edit("a", "b"), edit("a", "c")]}, b"a\n", None),
        ("MultiEdit", {"file_path": "/f", "edits": [edit("", "a"), edit("a", "b")]}, ABSENT, "b"),
        ("MultiEdit", {"file_path": "/f", "edits": [None]}, b"a", None),
        ("MultiEdit", {"file_path": "/f", "edits": []}, b"a", None),
        ("NotebookEdit", {"notebook_path": "/f", "new_source": "x"}, b"{}", None),
        ("apply_patch", {"input": "*** Begin Patch"}, b"a", None),
        ("Write", None, b"a", None),
        ("", 7, None, None),
    ],
)
def test_the_content_after_a_call(tool: str, arguments: Any, before: Known, after: str | None) -> None:
    found = expected_content(tool, arguments, before)
    assert found.after == (None if after is None else sha(after))
    assert bool(found.why) == (after is None)
    assert found.before == (sha(before) if isinstance(before, bytes) else before)


def recorded_edits() -> list[tuple[str, dict[str, Any], str]]:
    """(tool, arguments, content after) as the client itself recorded an edit with the whole file before it and the lines that it changed."""
    found: dict[str, tuple[str, dict[str, Any], str]] = {}
    for file in sorted(CORPUS.glob("claude-code*/*/source/*.jsonl")):
        calls: dict[str, tuple[str, dict[str, Any]]] = {}
        for line in file.read_bytes().splitlines():
            try:
                row = json.loads(line)
                content = row["message"]["content"]
            except (ValueError, TypeError, KeyError):
                continue
            for block in content if isinstance(content, list) else ():
                if isinstance(block, dict) and block.get("type") == "tool_use" and block.get("name") in ("Edit", "Write"):
                    calls[block.get("id")] = (block["name"], block.get("input"))
                outcome = row.get("toolUseResult")
                if isinstance(block, dict) and block.get("tool_use_id") in calls and isinstance(outcome, dict) and outcome.get("structuredPatch"):
                    tool, arguments = calls[block["tool_use_id"]]
                    whole = [hunk for hunk in outcome["structuredPatch"] if hunk.get("newStart") == 1]
                    if len(whole) == len(outcome["structuredPatch"]) == 1 and isinstance(outcome.get("originalFile"), str):
                        lines = [each[1:] for each in whole[0]["lines"] if each[:1] in ("+", " ")]
                        was = outcome["originalFile"]
                        found[json.dumps([arguments, was])] = (tool, {**arguments, "was": was}, "\n".join(lines) + "\n")
    return list(found.values())


def test_what_the_client_recorded_of_its_own_edits_fits() -> None:
    edits = recorded_edits()
    assert len(edits) >= 2
    for tool, arguments, after in edits:
        assert expected_content(tool, arguments, arguments["was"].encode()).after == sha(after)


# --- What was there before: the client's own backups ---


def snapshot(transcript: Transcript, message: str, backups: dict[str, str | None], update: bool = False) -> None:
    tracked = {path: {"backupFileName": name, "version": 1} for path, name in backups.items()}
    transcript.record("file-history-snapshot", messageId=message, snapshot={"trackedFileBackups": tracked}, isSnapshotUpdate=update)


def backup(transcript: Transcript, name: str, content: bytes, session: str = SESSION) -> None:
    transcript.parts.append(Part(f"file-history/{session}/{name}", content))


def before_of(transcript: Transcript, number: int = -1) -> str | None:
    inspection = inspect(transcript.source())
    edits = [each for each in inspection.operations if each.tool in ("Edit", "Write")]
    return expected_of(inspection.session, edits[number]).before


EDIT = {"file_path": "/home/dev/shop/f.txt", "old_string": "one", "new_string": "two"}


@pytest.mark.parametrize("named", ["f.txt", "/home/dev/shop/f.txt"])
def test_the_backup_made_for_the_call_itself(named: str) -> None:
    transcript = Transcript()
    transcript.user("edit it")
    row = transcript.assistant(call("T1", "Edit", **EDIT))
    snapshot(transcript, row, {named: "abc@v1"}, update=True)
    backup(transcript, "abc@v1", b"one\n")
    inspection = inspect(transcript.source())
    found = expected_of(inspection.session, inspection.operations[0])
    assert (found.before, found.after, found.path) == (sha("one\n"), sha("two\n"), EDIT["file_path"])


def test_the_note_of_newer_clients_about_one_file() -> None:
    transcript = Transcript()
    transcript.user("edit it")
    row = transcript.assistant(call("T1", "Edit", **EDIT))
    note = {"messageId": row, "snapshotMessageId": "x", "trackingPath": "f.txt", "backup": {"backupFileName": "abc@v1", "version": 1}}
    transcript.record("file-history-delta", **note)
    backup(transcript, "abc@v1", b"one\n")
    assert before_of(transcript) == sha("one\n")


def test_no_file_before_and_a_backup_that_was_not_brought_in() -> None:
    for name, before in ((None, ABSENT), ("abc@v1", None)):
        transcript = Transcript()
        transcript.user("write it")
        row = transcript.assistant(call("T1", "Write", file_path="/home/dev/shop/f.txt", content="v1\n"))
        snapshot(transcript, row, {"f.txt": name}, update=True)
        assert before_of(transcript) == before


@pytest.mark.parametrize(
    ("between", "before"), [((), sha("one\n")), (("Read", "Grep"), sha("one\n")), (("Bash",), None), (("Edit",), None), (("mcp__x__y",), None)]
)
def test_a_backup_at_the_prompt_counts_while_nothing_can_have_changed_the_file(between: tuple[str, ...], before: str | None) -> None:
    transcript = Transcript()
    prompt = transcript.user("edit it")
    snapshot(transcript, prompt, {"f.txt": "abc@v1", "other.txt": None})
    backup(transcript, "abc@v1", b"one\n")
    transcript.assistant(text("Let me look."))
    for number, tool in enumerate(between):
        transcript.assistant(call(f"B{number}", tool, **EDIT))
        transcript.user([result(f"B{number}")])
    transcript.assistant(call("T1", "Edit", **EDIT))
    assert before_of(transcript) == before


def test_a_call_behind_another_one_in_its_own_row() -> None:
    for first, before in (("Read", sha("one\n")), ("Bash", None)):
        transcript = Transcript()
        snapshot(transcript, transcript.user("edit it"), {"f.txt": "abc@v1"})
        backup(transcript, "abc@v1", b"one\n")
        transcript.assistant(call("T0", first, **EDIT), call("T1", "Edit", **EDIT), call("T2", "Bash"))
        assert before_of(transcript) == before


def test_the_backup_of_another_file_a_session_or_a_turn_does_not_count() -> None:
    transcript = Transcript()
    snapshot(transcript, transcript.user("first"), {"f.txt": "old@v1", "shop/f.txt": "old@v1"})
    backup(transcript, "old@v1", b"old\n")
    transcript.assistant(text("Done."))
    prompt = transcript.user("second")
    snapshot(transcript, prompt, {"f.txt": "abc@v2"})
    backup(transcript, "abc@v2", b"theirs\n", session="another")
    backup(transcript, "abc@v2", b"one\n")
    transcript.assistant(call("T1", "Edit", **EDIT))
    assert before_of(transcript) == sha("one\n")


def test_recorded_snapshots_name_the_file_before_each_edit() -> None:
    """A recorded session of the terminal: the file was made by a Write, then changed by an Edit; its backup is added here as it must have been."""
    (file,) = (CORPUS / "claude-code/fuzz-11-050/source").glob("*.jsonl")
    part = Part(f"file-history/{file.stem}/281aab7d264a7b09@v2", b"v1\n")
    transcript = Part(file.name, file.read_bytes())
    inspection = inspect(Source(file.name, (transcript, part)))
    written, edited = (each for each in inspection.operations if each.tool in ("Write", "Edit"))
    assert (expected_of(inspection.session, written).before, expected_of(inspection.session, written).after) == (ABSENT, sha("v1\n"))
    assert (expected_of(inspection.session, edited).before, expected_of(inspection.session, edited).after) == (sha("v1\n"), sha("v2\n"))
