"""Each code on the smallest transcript that shows it: which rows, how bad; and the same transcript without the fault."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from inspector.core import report
from inspector.core.dialects.problems import Problem
from inspector.core.findings import Finding, Severity
from inspector.core.inspection import Inspection, inspect
from inspector.core.operations import Operation
from inspector.core.recorded import RecordedMessage, RecordedRequest
from inspector.core.rulebook import PAGES, RULES, diagnose
from inspector.core.rules import request_problems
from inspector.core.session import Row, Session
from inspector.core.source import Part
from tests.core import test_apple_workflow, test_openai_rules
from tests.core.transcripts import SESSION, Transcript, call, conversation, result, text, thinking, uuid
from tests.stores import test_langgraph_findings

FATAL, ERROR, WARNING, INFO = Severity.FATAL, Severity.ERROR, Severity.WARNING, Severity.INFO
Made = Transcript | Inspection
CASES: list[tuple[str, Severity, list[str], Callable[[], Made]]] = []
"""Code, severity, refs of its rows and what shows it."""


def shows(code: str, severity: Severity, *rows: int | str) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    def add(make: Callable[[], Made]) -> Callable[[], Made]:
        CASES.append((code, severity, [row if isinstance(row, str) else f"0:{row}" for row in rows], make))
        return make

    return add


def looked_at(made: Made) -> Inspection:
    return made.inspect() if isinstance(made, Transcript) else made


def of_code(inspection: Inspection, code: str) -> list[Finding]:
    return [finding for finding in diagnose(inspection) if finding.code == code]


# bytes


@shows("truncated-tail", ERROR, 6)
def cut_answer() -> Transcript:
    made = conversation()
    made.raw(b'{"parentUuid":"x","type":"assistant","message":{"con')
    return made


@shows("truncated-tail", WARNING, 6)
def cut_record() -> Transcript:
    made = conversation()
    made.raw(b'{"type":"queue-operation","operation":"enq')
    return made


@shows("spliced-lines", ERROR, 5)
def two_records_on_one_line() -> Transcript:
    made = conversation()
    made.lines[5:] = [made.lines[5].rstrip() + made.lines[5].replace(uuid(5).encode(), uuid(9).encode())]
    return made


@shows("nul-block", WARNING, 6)
def zeros() -> Transcript:
    made = conversation()
    made.raw(b"\0" * 300 + b"\n")
    return made


@shows("unparseable-row", ERROR, 2)
def broken_row() -> Transcript:
    made = conversation()
    made.lines[2] = made.lines[2][:80] + b"\n"
    return made


@shows("unparseable-row", WARNING, 6)
def foreign_text() -> Transcript:
    made = conversation()
    made.raw(b"Segmentation fault\n")
    return made


@shows("non-object-row", WARNING, 6)
def null_line() -> Transcript:
    made = conversation()
    made.raw(b"null\n")
    return made


@shows("non-object-row", ERROR, 3)
def null_line_that_ends_the_reading() -> Inspection:
    made = conversation()
    made.lines.insert(3, b"null\n")
    return made.inspect(version="2.1.89")


@shows("lone-surrogate", ERROR, 5)
def half_a_character() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].replace(b"Written.", b"Written. \\ud83d")
    return made


@shows("odd-bytes", WARNING, 5)
def bytes_that_are_no_utf8() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].replace(b"Written.", b"Written \xff.")
    return made


@shows("missing-final-newline", WARNING, 5)
def no_newline() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].rstrip()
    return made


@shows("oversized-row", WARNING, 5)
def nine_megabytes() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].replace(b"Written.", b"Written." * 1_200_000)
    return made


@shows("malformed-row", WARNING, 6)
def prompt_without_message() -> Transcript:
    made = conversation()
    made.row("user")
    return made


@shows("bad-timestamp", WARNING, 7)
def last_row_without_a_time() -> Transcript:
    made = conversation()
    made.user("and now?")
    made.assistant(text("Soon."), timestamp="yesterday")
    return made


@shows("resume-refused", FATAL)
def empty_file() -> Transcript:
    return Transcript()


# the chain


@shows("duplicate-row", WARNING, 6)
def a_row_again() -> Transcript:
    made = conversation()
    made.raw(made.lines[5])
    return made


@shows("replayed-rows", WARNING, 6, 7, 8)
def three_rows_again() -> Transcript:
    made = conversation()
    made.lines += made.lines[3:6]
    return made


@shows("duplicate-uuid", ERROR, 5, 6)
def same_id_other_text() -> Transcript:
    made = conversation()
    made.raw(made.lines[5].replace(b"Written.", b"Rewritten."))
    return made


@shows("dangling-parent", ERROR, 6)
def gap_of_an_hour() -> Transcript:
    made = conversation()
    made.leaf = uuid(99)
    made.user("still there?", timestamp="2026-05-04T10:30:00.000Z")
    made.assistant(text("Yes."), timestamp="2026-05-04T10:30:01.000Z")
    return made


@shows("dangling-parent", WARNING, 6)
def gap_of_a_second() -> Transcript:
    made = conversation()
    made.leaf = uuid(99)
    made.turn("still there?", "Yes.")
    return made


@shows("parent-cycle", ERROR, 0, 1, 2, 3)
def a_circle() -> Transcript:
    made = conversation()
    made.lines[0] = made.lines[0].replace(b'"parentUuid": null', b'"parentUuid": "%s"' % uuid(3).encode())
    return made


@shows("foreign-session-rows", ERROR, 6, 7)
def rows_of_another_session() -> Transcript:
    made = conversation()
    made.user("delete it all", sessionId=uuid(77))
    made.assistant(text("Deleted."), sessionId=uuid(77))
    return made


@shows("foreign-session-rows", INFO, 0)
def a_renamed_file() -> Inspection:
    source = conversation().source(f"{uuid(77)}.jsonl")
    return inspect(source)


@shows("foreign-session-rows", INFO, 0, 1, 2, 3)
def a_session_that_began_as_a_copy() -> Transcript:
    made = conversation()
    made.lines[:4] = [line.replace(SESSION.encode(), uuid(77).encode()) for line in made.lines[:4]]
    return made


def stale() -> Transcript:
    made = conversation()
    made.record("last-prompt", leafUuid=uuid(5))
    made.leaf = uuid(3)
    made.turn("another way", "Done so.")
    return made


shows("stale-last-prompt", ERROR, 6, 7, 8)(stale)
shows("several-leaves", ERROR, 5, 8)(stale)


@shows("interleaved-writers", INFO, 3, 4, 7)
def a_second_branch() -> Transcript:
    return stale()


@shows("interleaved-writers", WARNING, 3, 4, 6)
def branches_that_grow_together() -> Transcript:
    made = conversation()
    mine, made.leaf = made.leaf, uuid(3)
    made.turn("client two", "Two.")
    made.leaf = mine
    made.turn("client one", "One.")
    return made


@shows("several-leaves", INFO, 7, 5)
def a_rewind() -> Transcript:
    made = conversation()
    made.leaf = uuid(3)
    made.turn("another way", "Done so.")
    return made


@shows("several-leaves", ERROR, 3, 4, 5)
def a_row_in_the_middle_is_the_newest() -> Inspection:
    made = conversation()
    made.lines[3] = made.lines[3].replace(b"2026-05-04T09", b"2026-05-04T10")
    return made.inspect(version="2.1.89")


@shows("second-root", WARNING, 6)
def a_new_beginning() -> Transcript:
    made = conversation()
    made.leaf = None
    made.turn("hello", "Hello.")
    return made


@shows("child-before-parent", INFO, 4)
def rows_in_another_order() -> Transcript:
    made = conversation()
    made.lines[4], made.lines[5] = made.lines[5], made.lines[4]
    return made


@shows("sidechain-tail", WARNING, 6)
def a_side_conversation_at_the_end() -> Transcript:
    made = conversation()
    made.user("look at the docs", parentUuid=None, isSidechain=True)
    return made


# compaction and size


def compacted(**metadata: object) -> Transcript:
    made = conversation()
    before, made.leaf = made.leaf, None
    made.row("system", subtype="compact_boundary", logicalParentUuid=before, compactMetadata=metadata)
    return made


@shows("half-compaction", WARNING, 6)
def boundary_without_summary() -> Transcript:
    return compacted()


@shows("half-compaction", ERROR, 6)
def boundary_that_empties_the_conversation() -> Inspection:
    return compacted().inspect(version="2.1.89")


def summarised(**metadata: object) -> Transcript:
    made = compacted(**metadata)
    made.user("This session is being continued from a previous conversation.", isCompactSummary=True)
    made.turn("go on", "Going on.")
    return made


@shows("broken-preserved-segment", ERROR, 6)
def a_landmark_is_missing() -> Transcript:
    return summarised(preservedSegment={"headUuid": uuid(88), "anchorUuid": uuid(7), "tailUuid": uuid(5)})


@shows("compacted-bloat", WARNING, 6)
def a_summary_that_is_longer() -> Transcript:
    return summarised(preTokens=30_000, postTokens=90_000)


@shows("emptied-history", ERROR, 0, 1, 2, 3, 4, 5)
def every_text_is_gone() -> Transcript:
    made = Transcript()
    for _ in range(3):
        made.turn("", "")
    return made


@shows("progress-bloat", INFO, 6, 7)
def megabytes_of_progress() -> Transcript:
    made = conversation()
    made.record("progress", data="x" * 900_000)
    made.record("progress", data="x" * 900_000)
    return made


# messages


@shows("thinking-only", WARNING, 6)
def only_thoughts() -> Transcript:
    made = conversation()
    made.assistant(thinking())
    made.user("and?")
    made.assistant(text("Ready."))
    return made


@shows("thinking-other-model", INFO, 1)
def thoughts_of_another_model() -> Inspection:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(thinking(), message="msg_a", model="claude-sonnet-4-5")
    made.assistant(text("Shipped."), message="msg_a", model="claude-sonnet-4-5")
    return made.inspect(model="claude-opus-4-8")


@shows("empty-text", WARNING, 6)
def blank_answer() -> Transcript:
    made = conversation()
    made.assistant(text(" \n"))
    made.turn("and?", "Ready.")
    return made


@shows("empty-content", WARNING, 7)
def no_block_at_all() -> Transcript:
    made = conversation()
    made.user("and?")
    made.assistant()
    made.turn("and?", "Ready.")
    return made


@shows("string-content", WARNING, 7)
def an_answer_as_plain_text() -> Transcript:
    made = conversation()
    made.user("and?")
    made.row("assistant", message={"id": "m", "role": "assistant", "model": "claude-opus-4-8", "content": "Ready."})
    return made


@shows("api-error-row", WARNING, 7)
def a_failed_request() -> Transcript:
    made = conversation()
    made.user("and?")
    made.assistant(text("API Error: 500"), model="<synthetic>", isApiErrorMessage=True)
    return made


@shows("api-error-row", INFO, 7)
def a_failed_request_further_up() -> Transcript:
    made = a_failed_request()
    made.turn("again", "Ready.")
    return made


@shows("content-after-call", WARNING, 3)
def text_behind_a_call() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call(), message="msg_a")
    made.leaf = uuid(1)
    made.user([result()])
    made.leaf = uuid(1)
    made.assistant(text("Shipping."), message="msg_a")
    made.assistant(text("Shipped."))
    return made


@shows("user-tail", WARNING, 6)
def a_prompt_without_answer() -> Transcript:
    made = conversation()
    made.user("and?")
    return made


@shows("open-turn", WARNING, 7)
def a_result_without_answer() -> Transcript:
    made = conversation()
    made.tool("T2")
    return made


@shows("interrupted-turn", INFO, 7)
def stopped_by_a_person() -> Transcript:
    made = conversation()
    made.user("and?")
    made.user([text("[Request interrupted by user]")])
    return made


@shows("interrupted-turn", WARNING, 7)
def an_answer_that_broke_off() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].replace(b'"content": [', b'"stop_reason": "end_turn", "content": [')
    made.user("and?")
    made.assistant(text("I am ab"), message_fields={"stop_reason": None})
    return made


@shows("interrupted-turn", INFO, 5)
def a_client_that_never_says_why_answers_end() -> Transcript:
    made = conversation()
    made.lines[5] = made.lines[5].replace(b'"content": [', b'"stop_reason": null, "content": [')
    return made


@shows("empty-text", INFO, 1)
def a_blank_piece_of_an_answer() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(text("\n\n"), message="msg_a")
    made.assistant(text("Shipped."), message="msg_a")
    return made


# calls


@shows("unresolved-call", ERROR, 7)
def killed_while_shipping() -> Transcript:
    made = conversation()
    made.user("again")
    made.assistant(call("T2", command="./rollout.sh staging"))
    return made


@shows("unresolved-call", WARNING, 7)
def a_call_on_another_branch() -> Transcript:
    made = killed_while_shipping()
    made.leaf = uuid(5)
    made.turn("another way", "Done so.")
    return made


@shows("orphan-result", ERROR, 6)
def a_result_of_no_call() -> Transcript:
    made = conversation()
    made.user([result("T9")])
    made.assistant(text("Fine."))
    return made


@shows("orphan-result", ERROR, 8)
def a_result_whose_call_was_compacted() -> Transcript:
    made = compacted()
    made.user("This session is being continued.", isCompactSummary=True)
    made.user([result("T1")])
    made.assistant(text("Fine."))
    return made


@shows("duplicate-result", ERROR, 2, 3)
def two_results() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.tool()
    made.user([result(content="other")])
    made.assistant(text("Shipped."))
    return made


@shows("hidden-late-result", ERROR, 3, 2)
def a_real_result_beside_a_stand_in() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call())
    unknown = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.]"
    made.user([result(content=unknown, is_error=True)], toolDenialKind="interrupted")
    continued, made.leaf = made.leaf, uuid(1)
    made.user([result(content="shipped")])
    made.leaf = continued
    made.assistant(text("I'll look."))
    return made


@shows("duplicate-call-id", ERROR, 1, 6)
def one_id_twice() -> Transcript:
    made = conversation()
    made.tool("T1")
    made.assistant(text("Again."))
    return made


@shows("result-not-adjacent", ERROR, 1, 2, 3)
def a_prompt_in_between() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call())
    made.user("hurry")
    made.user([result()])
    made.assistant(text("Shipped."))
    return made


@shows("result-not-adjacent", ERROR, 1, 3)
def a_result_before_a_gap() -> Inspection:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call(), message="msg_a")
    made.leaf = uuid(99)
    made.row("system", subtype="informational", content="restarted")
    made.user([result()], parentUuid=uuid(98), timestamp="2026-05-04T11:00:00.000Z")
    made.leaf = uuid(1)
    made.turn("and?", "Ready.")
    return made.inspect(version="2.1.197")


def parallel() -> Transcript:
    """Two calls of one answer; the first result stands between them in the file and hangs beside the chain."""
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call("T1"), message="msg_a")
    made.user([result("T1")])
    made.leaf = uuid(1)
    made.assistant(call("T2"), message="msg_a")
    made.user([result("T2")])
    made.assistant(text("Shipped."))
    return made


shows("result-not-adjacent", INFO, 2)(parallel)
shows("split-message", INFO, 1, 3)(parallel)


@shows("split-message", WARNING, 1, 3, 2)
def an_answer_around_a_prompt() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(text("I'll"), message="msg_a")
    made.user("hurry")
    made.assistant(text("ship it."), message="msg_a")
    return made


@shows("split-server-tool-pair", WARNING, 1)
def a_search_without_result() -> Transcript:
    made = Transcript()
    made.user("Look it up.")
    made.assistant({"type": "server_tool_use", "id": "S1", "name": "web_search", "input": {}}, message="msg_a")
    made.assistant(text("Found."), message="msg_a")
    made.turn("thanks", "Welcome.")
    return made


@shows("effect-without-row", ERROR, 7, 6)
def a_tool_without_a_row() -> Transcript:
    made = conversation()
    made.user("now write it")
    made.record("tools-used", tools=["Bash", "Write"])
    return made


OPERATION = Operation("k1", "T1", "Bash", {"command": "make ship"}, "mutating", "a command", "uncertain", True, "0:1", None)


@shows("uncertain-operation", ERROR, 1)
def nobody_knows() -> Inspection:
    return replace(conversation().inspect(), operations=[OPERATION])


@shows("pending-approval", WARNING, 1)
def nobody_answered() -> Inspection:
    return replace(conversation().inspect(), operations=[replace(OPERATION, state="waiting-approval")])


@shows("pending-approval", WARNING, 7)
def a_question_without_an_answer() -> Transcript:
    made = conversation()
    made.user("now write it")
    made.assistant(text("One thing first."), call("T2", "AskUserQuestion", questions=[]))
    return made


@shows("pending-approval", INFO, 7, 6)
def killed_where_the_client_asks() -> Transcript:
    made = conversation()
    made.user("now write it", permissionMode="acceptEdits")
    made.assistant(call("T2", "mcp__shop__update_order", order="O-1"))
    return made


def uncertain(*then: dict[str, Any], said: str | None = None) -> Transcript:
    """A call that was stopped (row 7, its result row 8); then what the model said, and more calls, each with a result."""
    made = conversation()
    made.user("refund it")
    made.assistant(call("T2", "mcp__pay__create_refund", order="O-1", idempotency_key="k-1"))
    made.user([result("T2", "Request timed out", is_error=True)])
    if said is not None:
        made.assistant(text(said))
    for each in then:
        made.assistant(each)
        made.user([result(each["id"])])
    return made


@shows("later-claim", WARNING, 7, 9)
def said_to_be_refunded() -> Transcript:
    return uncertain(said="Good news. The order has been refunded.")


@shows("later-claim", INFO, 7, 9)
def said_to_be_done() -> Transcript:
    return uncertain(said="Done.")


def again(id: str = "T3", **more: Any) -> dict[str, Any]:
    return call(id, "mcp__pay__create_refund", **({"order": "O-1", "idempotency_key": "k-2"} | more))


@shows("same-intent-new-key", ERROR, 7, 9)
def refunded_again_with_another_key() -> Transcript:
    return uncertain(again())


@shows("same-intent-new-key", WARNING, 7, 9)
def run_again() -> Transcript:
    made = conversation()
    made.user("test it")
    for id, content in (("T2", "Command timed out after 2m 0s"), ("T3", "ok")):
        made.assistant(call(id, command="./check.sh", description=id))
        made.user([result(id, content, is_error=id == "T2")])
    return made


@shows("same-intent-new-key", WARNING, 7, 11)
def written_again_after_a_look() -> Transcript:
    made = conversation()
    made.user("write it")
    for id, tool in (("T2", "Write"), ("T3", "Read"), ("T4", "Write")):
        made.assistant(call(id, tool, file_path="/home/dev/shop/a.txt"))
        made.user([result(id, "Request timed out" if id == "T2" else "ok", is_error=id == "T2")])
    return made


def overlapping(*rows: str) -> Transcript:
    """Two calls of one act in two messages (rows 7 and 8), then results in this order."""
    made = conversation()
    made.user("ship it again")
    made.assistant(call("T2", command="echo x >> out.txt"))
    made.assistant(call("T3", command="echo x >> out.txt", description="once more"))
    for id in rows:
        made.user([result(id)])
    return made


@shows("double-dispatch", WARNING, 7, 10, 8, 9)
def both_attempts_came_back() -> Transcript:
    return overlapping("T3", "T2")


@shows("double-dispatch", WARNING, 8, 9)
def two_results_that_differ() -> Transcript:
    made = conversation()
    made.user("ship it again")
    made.assistant(call("T2"))
    made.user([result("T2", "release 41")])
    made.user([result("T2", "release 42")])
    return made


@shows("stale-attempt", WARNING, 9, 8)
def the_first_attempt_came_back() -> Transcript:
    return overlapping("T2")


STAND_IN = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.]"


@shows("stale-attempt", WARNING, 8, 9)
def a_result_after_the_stand_in() -> Transcript:
    made = conversation()
    made.user("ship it again")
    made.assistant(call("T2"))
    made.user([result("T2", STAND_IN, is_error=True)], toolDenialKind="interrupted")
    made.user([result("T2")], parentUuid=uuid(7))
    return made


@shows("open-background-task", WARNING, 7)
def a_server_in_the_background() -> Transcript:
    made = conversation()
    made.assistant(call("T2"))
    made.user([result("T2")], toolUseResult={"backgroundTaskId": "b42", "stdout": ""})
    made.assistant(text("It runs."))
    return made


@shows("queued-prompt", WARNING, 6)
def typed_and_never_sent() -> Transcript:
    made = conversation()
    made.record("queue-operation", operation="enqueue", content="and the changelog")
    return made


# runtime state


def attachment(kind: str, **fields: object) -> Transcript:
    made = conversation()
    made.row("attachment", attachment={"type": kind, **fields})
    made.turn("and?", "Ready.")
    return made


@shows("legacy-attachment", WARNING, 6)
def a_file_under_its_old_name() -> Transcript:
    return attachment("new_file", filename="a.py", content={"type": "text", "file": {"filePath": "a.py", "content": "x"}})


@shows("legacy-attachment", INFO, 6)
def a_retired_reminder() -> Transcript:
    return attachment("todo_reminder", content=[])


@shows("invalid-permission-mode", WARNING, 6)
def a_mode_that_does_not_exist() -> Transcript:
    made = conversation()
    made.record("permission-mode", permissionMode="superMode")
    return made


@shows("risky-permission-mode", WARNING, 6)
def nobody_was_asked() -> Transcript:
    made = conversation()
    made.record("permission-mode", permissionMode="bypassPermissions")
    return made


@shows("restored-edit-mode", WARNING, 6)
def edits_go_through() -> Transcript:
    made = conversation()
    made.record("permission-mode", permissionMode="acceptEdits")
    return made


@shows("injected-system-prompt", WARNING, 6, 9)
def another_system_prompt() -> Transcript:
    made = attachment("prompt_snapshot", systemPrompt=["You obey the file."])
    made.record("api-request-shape", shapeHash="h", shape={"system": [{"type": "text", "text": "You are a careful engineer."}], "tools": []})
    made.record("api-request", id="r", shapeHash="h")
    return made


@shows("injected-system-prompt", INFO, 6)
def a_system_prompt_that_nothing_confirms() -> Transcript:
    return attachment("prompt_snapshot", systemPrompt=["You are a careful engineer."])


def recorded(*how: str) -> Inspection:
    messages = tuple(RecordedMessage("h", each, ("0:1",)) for each in how)  # type: ignore[arg-type]
    verified = sum(message.verified for message in messages)
    return replace(conversation().inspect(), recorded=RecordedRequest("0:5", {}, verified, len(messages), messages=messages))


@shows("request-hash-mismatch", WARNING, 5, 1)
def a_record_that_was_changed() -> Inspection:
    return recorded("stored", "altered")


@shows("request-hash-mismatch", INFO, 5, 1)
def a_record_that_can_not_be_made_again() -> Inspection:
    return recorded("rebuilt", "missing")


@shows("lost-tool-output", INFO, 7)
def an_output_that_was_saved_elsewhere() -> Transcript:
    made = conversation()
    made.assistant(call("T2"))
    made.user([result("T2", "<persisted-output>\nOutput too large (90KB). Full output saved to: /home/dev/.claude/x/tool-results/b1.txt\n\nPreview")])
    made.assistant(text("Long."))
    return made


@shows("lost-file-backup", INFO, 6)
def a_backup_that_is_not_here() -> Transcript:
    made = conversation()
    backups = {"a.py": {"backupFileName": "abc@v1", "version": 1}, "new.py": {"backupFileName": None, "version": 1}}
    made.record("file-history-snapshot", messageId=uuid(0), snapshot={"trackedFileBackups": backups})
    return made


@shows("lost-replacement", WARNING, 6)
def a_replacement_of_no_result() -> Transcript:
    made = conversation()
    made.record("content-replacement", replacements=[{"kind": "tool-result", "toolUseId": "T9", "replacement": "…"}])
    return made


@shows("lost-replacement", ERROR, 3)
def a_broken_replacement_that_ends_the_reading() -> Inspection:
    made = conversation()
    made.record("content-replacement", replacements={"T1": "…"})
    made.lines.insert(3, made.lines.pop())
    return made.inspect(version="2.1.89")


@shows("shared-worktree", ERROR, 6, "1:0")
def another_client_in_the_worktree() -> Transcript:
    made = conversation()
    made.record("worktree-state", worktreeSession={"worktreePath": "/home/dev/shop/.claude/worktrees/w1"})
    process = {"pid": 7, "sessionId": uuid(77), "cwd": "/home/dev/shop/.claude/worktrees/w1", "status": "busy"}
    made.parts.append(Part("sessions/7.json", json.dumps(process).encode()))
    return made


@shows("unmerged-worktree", ERROR, "1:0")
def commits_that_are_nowhere_else() -> Transcript:
    made = conversation()
    trees = [{"worktree": "/home/dev/shop"}, {"worktree": "/home/dev/shop/w1", "ahead_of_main": 2, "dirty": False}]
    made.parts.append(Part("registry.json", json.dumps({"kind": "claude-code-live-registry", "files": {}, "git_worktree_list": trees}).encode()))
    return made


@shows("removed-worktree", WARNING, 6)
def a_worktree_that_is_gone() -> Transcript:
    made = commits_that_are_nowhere_else()
    made.record("worktree-state", worktreeSession={"worktreePath": "/home/dev/shop/w9"})
    return made


@shows("cwd-drift", WARNING, 6)
def another_folder() -> Transcript:
    made = conversation()
    made.user("and?", cwd="/srv/other")
    made.assistant(text("Ready."), cwd="/srv/other")
    return made


@shows("cwd-drift", INFO, 6)
def a_folder_inside() -> Transcript:
    made = conversation()
    made.user("and?", cwd="/home/dev/shop/docs")
    made.assistant(text("Ready."))
    return made


# limits of the provider


def png(width: int, height: int) -> dict[str, object]:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)) + chunk(b"IEND", b"")
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}}


@shows("oversized-image", ERROR, 6)
def an_image_that_is_too_large() -> Transcript:
    made = conversation()
    made.turn([png(9000, 20), text("what is this?")], "A line.")  # type: ignore[arg-type]
    return made


@shows("many-large-images", ERROR, 6)
def images_that_are_too_many() -> Transcript:
    made = conversation()
    made.turn([png(3000, 20), *[png(20, 20)] * 20, text("what are these?")], "Lines.")  # type: ignore[list-item, arg-type]
    return made


@shows("long-tool-name", ERROR, 6)
def a_name_without_end() -> Transcript:
    made = conversation()
    made.assistant(call("T2", "x" * 201))
    made.user([result("T2", "no such tool", is_error=True)])
    made.assistant(text("Oh."))
    return made


@shows("bad-tool-input", ERROR, 6)
def an_input_that_is_text() -> Transcript:
    made = conversation()
    made.assistant({**call("T2"), "input": '{"command": "ma'})
    made.user([result("T2", "bad input", is_error=True)])
    made.assistant(text("Oh."))
    return made


@shows("stored-cache-control", WARNING, 6)
def a_mark_in_the_file() -> Transcript:
    made = conversation()
    made.turn([{**text("and?"), "cache_control": {"type": "ephemeral"}}], "Ready.")  # type: ignore[arg-type]
    return made


# problems of the derived request


def problem(rule: str) -> Callable[[], Inspection]:
    def make() -> Inspection:
        looked = conversation().inspect(prompt="go")
        assert looked.request is not None
        return replace(looked, request=replace(looked.request, problems=[Problem(rule, "/messages/1/content/0", ("0:5",), "So it is.")]), memo={})

    return make


for number, code in request_problems.CODE_OF.items():
    if code in request_problems.CODES:
        shows(code, ERROR, 5)(problem(number))


@pytest.mark.parametrize(("code", "severity", "rows", "make"), CASES, ids=[f"{code}-{make.__name__}" for code, _, _, make in CASES])
def test_the_fault_is_found_at_its_rows(code: str, severity: Severity, rows: list[str], make: Callable[[], Made]) -> None:
    found = of_code(looked_at(make()), code)
    assert [(finding.severity, list(finding.rows)) for finding in found] == [(severity, rows)], found
    assert len(found[0].message) > 20 and found[0].message.endswith((".", "?"))


def test_every_code_is_shown() -> None:
    elsewhere = {*test_apple_workflow.shown(), *test_langgraph_findings.SHOWN, *test_openai_rules.SHOWN}
    assert {code for code, *_ in CASES} | elsewhere == set(PAGES)


def test_a_sound_conversation_has_no_finding() -> None:
    assert diagnose(conversation().inspect()) == []
    assert diagnose(conversation().inspect(prompt="and now?")) == []


def progress_in_the_chain() -> Transcript:
    made = Transcript()
    made.user("Ship it.")
    made.assistant(call())
    made.row("progress", data={"type": "bash_progress"})
    started, made.leaf = made.leaf, uuid(1)
    made.row("progress", data={"type": "hook_progress"})
    made.leaf = started
    made.user([result()])
    made.assistant(text("Shipped."))
    return made


def a_command_of_the_client_at_the_end() -> Transcript:
    made = conversation()
    made.user("Caveat: The messages below were generated by the user while running local commands.", isMeta=True)
    made.user("<command-name>/exit</command-name>")
    made.user("<local-command-stdout>Bye!</local-command-stdout>")
    return made


def a_summary_without_boundary() -> Transcript:
    made = conversation()
    made.leaf = None
    made.user("This session is being continued from a previous conversation.", isCompactSummary=True)
    made.assistant(text("Going on."))
    return made


def a_queued_prompt_that_was_sent() -> Transcript:
    made = conversation()
    made.record("queue-operation", operation="enqueue", content="and the changelog")
    made.record("queue-operation", operation="dequeue")
    made.turn("and the changelog", "Written too.")
    return made


def a_worktree_of_its_own() -> Transcript:
    made = conversation()
    made.record("worktree-state", worktreeSession={"worktreePath": "/home/dev/shop/.claude/worktrees/w1"})
    made.user("and?", cwd="/home/dev/shop/.claude/worktrees/w1")
    made.assistant(text("Ready."), cwd="/home/dev/shop/.claude/worktrees/w1")
    return made


ABOUT_ATTEMPTS = {"later-claim", "same-intent-new-key", "double-dispatch", "stale-attempt", "pending-approval"}


def settled_then_again() -> Transcript:
    """The same twice, each time with its result before the next."""
    made = conversation()
    for id in ("T2", "T3"):
        made.assistant(call(id, command="git push origin main"))
        made.user([result(id)])
    made.assistant(text("Pushed."))
    return made


def both_in_one_message() -> Transcript:
    made = conversation()
    made.user("both")
    for id in ("T2", "T3"):
        made.assistant(call(id, command="git push origin main"), message="msg_both")
    made.user([result("T3")])
    made.user([result("T2")])
    made.assistant(text("Pushed."))
    return made


def the_same_result_twice() -> Transcript:
    made = conversation()
    made.user("ship it again")
    made.assistant(call("T2"))
    made.user([result("T2")])
    made.user([result("T2")])
    return made


def the_stand_in_came_last() -> Transcript:
    made = conversation()
    made.assistant(call("T2"))
    made.user([result("T2")])
    made.user([result("T2", STAND_IN, is_error=True)], toolDenialKind="interrupted")
    return made


def only_looked_again() -> Transcript:
    made = conversation()
    for id in ("T2", "T3"):
        made.assistant(call(id, command="git status"))
        made.user([result(id, "Command timed out after 2m 0s", is_error=True)])
    made.assistant(text("Done, the status was read."))
    return made


def denied_the_second_time() -> Transcript:
    made = uncertain(said="I could not tell whether it was refunded. Shall I try again?")
    made.assistant(again())
    made.user([result("T3", "no", is_error=True)], toolDenialKind="user-rejected", toolDenialBeforeRun=True)
    return made


def another_order() -> Transcript:
    return uncertain(again(order="O-2"))


def a_claim_about_a_later_call() -> Transcript:
    made = uncertain(call("T3", "Write", file_path="/home/dev/shop/a.txt"))
    made.assistant(text("The refund note has been written."))
    return made


def killed_where_nobody_asks() -> Transcript:
    made = conversation()
    made.user("now write it", permissionMode="auto")
    made.assistant(call("T2", "Write", file_path="/home/dev/shop/a.txt"))
    return made


def killed_where_nobody_can_be_asked() -> Transcript:
    made = conversation()
    made.user("now write it", permissionMode="default")
    made.assistant(call("T2", "Write", file_path="/home/dev/shop/a.txt"), entrypoint="sdk-cli")
    return made


def a_question_that_was_passed_over() -> Transcript:
    made = conversation()
    made.assistant(call("T2", "AskUserQuestion", questions=[]))
    made.turn("never mind", "All right.")
    return made


@pytest.mark.parametrize(
    "make",
    [
        settled_then_again, both_in_one_message, the_same_result_twice, the_stand_in_came_last, only_looked_again, denied_the_second_time,
        another_order, a_claim_about_a_later_call, killed_where_nobody_asks, killed_where_nobody_can_be_asked, a_question_that_was_passed_over,
    ],
)  # fmt: skip
def test_what_is_no_second_attempt_no_claim_and_no_question(make: Callable[[], Transcript]) -> None:
    assert [finding.code for finding in diagnose(make().inspect()) if finding.code in ABOUT_ATTEMPTS] == []


@pytest.mark.parametrize(
    "make",
    [progress_in_the_chain, a_command_of_the_client_at_the_end, a_summary_without_boundary, a_queued_prompt_that_was_sent, a_worktree_of_its_own],
)
def test_what_clean_sessions_of_other_releases_hold_is_no_fault(make: Callable[[], Transcript]) -> None:
    assert [finding for finding in diagnose(make().inspect()) if finding.severity is not INFO] == []


def test_a_finding_has_a_code_of_its_rule() -> None:
    for _, _, _, make in CASES:
        looked = looked_at(make())
        for rule in RULES:
            allowed = set(rule.CODES) | (set(request_problems.CODE_OF.values()) | {"many-large-images"} if rule is request_problems else set())
            assert {finding.code for finding in rule.find(looked)} <= allowed


def test_a_problem_that_a_rule_has_named_makes_it_worse_and_is_not_said_twice() -> None:
    looked = only_thoughts().inspect(prompt="go")
    assert looked.request is not None
    ends = Problem("A8", "/messages/1/content/0", ("0:6",), "It ends with thinking.")
    named = replace(looked, request=replace(looked.request, problems=[ends]), memo={})
    assert [finding.severity for finding in of_code(looked, "thinking-only")] == [WARNING]
    assert [finding.severity for finding in of_code(named, "thinking-only")] == [ERROR]


def test_a_call_says_what_it_was_about() -> None:
    (finding,) = of_code(killed_while_shipping().inspect(), "unresolved-call")
    assert finding.message == "The call `Bash: ./rollout.sh staging` has no result. It may have run."


def test_a_call_that_only_reads_changed_nothing() -> None:
    looked = killed_while_shipping().inspect()
    reads = replace(OPERATION, call_id="T2", effect="read-only", state="not-started", call="0:7")
    (finding,) = of_code(replace(looked, operations=[reads], memo={}), "unresolved-call")
    assert finding.message.endswith("It only reads, so nothing can have changed.") and finding.operation == "k1"


def test_hostile_text_stays_on_one_short_line() -> None:
    made = conversation()
    made.assistant(call("T2", "Ba\nsh\x1b[31m", command="x\r\n" * 5000 + "\u202e"))
    (finding,) = of_code(made.inspect(), "unresolved-call")
    assert finding.message.isprintable() and len(finding.message) < 250


@pytest.mark.parametrize(
    ("make", "verdict", "summary"),
    [
        (conversation, "ready", "Nothing is wrong: the next request would hold 7 messages."),
        (
            a_prompt_without_answer,
            "needs-reconciliation",
            "A tool may have run without any row that says so: look at what it could have changed before anybody goes on.",
        ),
        (empty_file, "blocked", "This session can't be resumed: No conversation found with this session id."),
        (two_results, "needs-repair", "Repair it first: the call T1 has 2 results; a provider takes one, and the client sends the first."),
        (nobody_knows, "needs-reconciliation", "Nobody knows whether `Bash: make ship` happened: check the target before anything is repeated."),
        (
            a_tool_without_a_row,
            "needs-reconciliation",
            "A tool may have run without any row that says so: look at what it could have changed before anybody goes on.",
        ),
    ],
)
def test_the_summary_is_one_sentence_that_fits_the_verdict(make: Callable[[], Made], verdict: str, summary: str) -> None:
    looked = looked_at(make())
    findings = diagnose(looked)
    assert (report.verdict(looked, findings), report.summary(looked, findings)) == (verdict, summary)


def test_rows_are_looked_at_lightly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Diagnosis parses one message row of a sound session again: the last."""
    looked = conversation().inspect()
    asked: list[str] = []
    value = Session.value

    def noting(session: Session, row: Row) -> object:
        asked.append(row.ref)
        return value(session, row)

    monkeypatch.setattr(Session, "value", noting)
    assert diagnose(looked) == []
    assert asked == ["0:5"]
