"""Claude Code: the tool calls of a session and what was saved about them.

Tools start before their message is saved, results may be the client's own words, and a result of a background task comes at its start: each
answer is therefore classed by what the row records, and by its text only where older releases recorded nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...calls import Answer, Call, Calls, LeftOut, Notice, Outcome, WithoutRow, message_of
from ...jsonspans import NotJson, loads, recover
from ...session import BlockKind, Row, RowKind, Session
from ...symptoms import REJECTED, interruption, local_command, stand_in
from ...wording import blocks_of
from .read import light_row
from .remarks import Remarks
from .write import LEFT_OUT, MARK, NOTE

NEVER_ASKED = ("Claude requested permissions", "Permission to use")
"""How results begin that the permission check wrote in place of a run; no tool writes them."""
STOPPED = re.compile(r"interrupted|cancel+ed|aborted|sibling|parallel tool call|timed out|timeout", re.IGNORECASE)
STOPPED_TEXTS = re.compile(r"(?:Error: )?(?:\[Request interrupted|The user doesn't want to|(?:Command|Request) (?:timed out|was aborted))")
CUT_CALL = re.compile(rb'"type"\s*:\s*"tool_use"\s*,\s*"id"\s*:\s*"([^"\\]{1,200})"\s*,\s*"name"\s*:\s*"([^"\\]{1,200})"')
NOTICE = re.compile(r"<tool-use-id>([^<]+)</tool-use-id>")
NOTICE_STATUS = re.compile(r"<status>([^<]+)</status>")
RESOLVED = {"happened": Outcome.HAPPENED, "did-not-happen": Outcome.DID_NOT_HAPPEN}
ONLY_A_PERSON = frozenset(("AskUserQuestion", "ExitPlanMode", "exit_plan_mode"))
SURE = frozenset((Outcome.RESULT, Outcome.REFUSED, Outcome.DENIED, Outcome.HAPPENED, Outcome.DID_NOT_HAPPEN))


def calls(session: Session) -> Calls:
    """Read the calls. Parses only results that report an error or that a repair wrote, notices of background tasks and damaged lines."""
    book = Calls(only_a_person=ONLY_A_PERSON)
    book.remarks = Remarks(session)
    book.words = partial(words, session)
    own = any(row.extra is not None and row.extra.session == session.id for row in session.rows if row.part == 0)
    fragments: list[tuple[Row, str, str]] = []
    call, result = BlockKind.CALL, BlockKind.RESULT
    for row, record in _records(session, fragments):
        for number, block in enumerate(record.blocks):
            if block.kind is call and record.role == "assistant":
                foreign = own and row.part == 0 and record.extra.session not in (None, session.id)
                book.calls.append(Call(block.id, block.name or "", row, record, number, len(book.calls), foreign=foreign))
            elif block.kind is result and block.id is not None:
                outcome = _outcome(session, row, record, number)
                about = _about(session, row, record) if record.extra.marked else ""
                book.answers.setdefault((row.part, block.id), []).append(Answer(row, record, outcome, block.error, about))
    known = {call.id for call in book.calls} if fragments else set()
    for row, call_id, tool in fragments:
        if call_id not in known:
            book.calls.append(Call(call_id, tool, row, row, 0, len(book.calls), whole=False))
    unsure = _unsure(book)
    if unsure:
        _notes(session, book, unsure)
        _agents(session, book, unsure)
    book.left_out = _left_out(session)
    book.without_row = _without_row(session, book)
    book.lost_answer = _lost_answer(session, book)
    return book


def _left_out(session: Session) -> list[LeftOut]:
    """The notes of repairs about calls that they left out; of several about one operation the last."""
    found: dict[str, LeftOut] = {}
    for row in session.rows:
        value = session.value(row) if row.type == NOTE and row.part == 0 else None
        if not isinstance(value, dict) or value.get("kind") != LEFT_OUT:
            continue
        key, call_id, tool = (value.get(name) for name in ("operation", "callId", "tool"))
        if isinstance(key, str) and isinstance(tool, str) and (call_id is None or isinstance(call_id, str)):
            outcome = RESOLVED.get(str(value.get("resolution")), Outcome.MARKED)
            found[key] = LeftOut(key, call_id, tool, value.get("arguments"), outcome, row)
    return list(found.values())


def _records(session: Session, fragments: list[tuple[Row, str, str]]) -> Iterator[tuple[Row, Row]]:
    """(line, record) of every readable message row, those inside damaged lines included. Calls that a cut line began go into `fragments`."""
    message = RowKind.MESSAGE
    for row in session.rows:
        if row.kind is message:
            yield row, row
        elif row.damage in ("spliced", "nul", "truncated", "unparseable"):
            data = session.bytes_of(row)
            for start, end in recover(data) if row.damage in ("spliced", "nul") else ():
                try:
                    value = loads(data[start:end])
                except NotJson:
                    continue
                if isinstance(value, dict):
                    yield row, light_row(row.part, row.index, row.start + start, row.start + end, value)
            fragments += [(row, found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace")) for found in CUT_CALL.finditer(data)]


def words(session: Session, row: Row) -> str:
    """The text of a message row, its blocks joined by line ends."""
    return "\n".join(
        block["text"] for block in blocks_of(session.value(row)) if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def value_of(session: Session, row: Row, record: Row) -> Any:
    """The parsed record, also where it stands inside a damaged line."""
    if record is row:
        return session.value(row)
    try:
        return loads(session.bytes_of(record))
    except NotJson:
        return None


def arguments(session: Session, call: Call) -> Any:
    """The call's arguments as stored, or None where the line broke off."""
    block = _block(value_of(session, call.row, call.record), call.block) if call.whole else None
    return block.get("input") if block else None


def _block(value: Any, number: int) -> dict[str, Any] | None:
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    block = content[number] if isinstance(content, list) and number < len(content) else None
    return block if isinstance(block, dict) else None


def _about(session: Session, row: Row, record: Row) -> str:
    value = value_of(session, row, record)
    mark = value.get(MARK) if isinstance(value, dict) else None
    return str(mark.get("operation") or "") if isinstance(mark, dict) else ""


def _outcome(session: Session, row: Row, record: Row, number: int) -> Outcome:
    light, block = record.extra, record.blocks[number]
    if not (block.error or light.denial or light.marked):
        return Outcome.LAUNCHED if light.task else Outcome.RESULT
    value = value_of(session, row, record)
    given = _block(value, number)
    if not isinstance(value, dict) or given is None:
        return Outcome.RESULT
    mark = value.get(MARK)
    if isinstance(mark, dict) and "resolution" in mark:
        return RESOLVED.get(str(mark["resolution"]), Outcome.MARKED)
    if not (block.error or light.denial):
        return Outcome.LAUNCHED if light.task else Outcome.RESULT
    decision = value.get("permissionDecision")
    if value.get("toolDenialBeforeRun") is True or (isinstance(decision, dict) and decision.get("decision") == "reject"):
        return Outcome.DENIED
    return _by_text(_text(given), light.denial, value.get("toolUseResult"))


def _by_text(text: str, denial: str | None, outcome: Any) -> Outcome:
    if denial == "interrupted" or stand_in(text):
        return Outcome.STAND_IN
    if denial or text.startswith(REJECTED) or STOPPED_TEXTS.match(text) or outcome == "User rejected tool use":
        return Outcome.REJECTED
    if isinstance(outcome, dict) and outcome.get("interrupted") is True:
        return Outcome.REJECTED
    if text.startswith(NEVER_ASKED):
        return Outcome.DENIED
    if text.startswith("<tool_use_error>"):
        return Outcome.REJECTED if STOPPED.search(text[:400]) else Outcome.REFUSED
    return Outcome.RESULT


def _text(block: dict[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, list):
        content = next((each.get("text") for each in content if isinstance(each, dict)), None)
    return content if isinstance(content, str) else ""


def _unsure(book: Calls) -> set[str]:
    """Ids of calls for which no result tells what happened."""
    answered = {call_id for (_, call_id), answers in book.answers.items() for answer in answers if answer.outcome in SURE}
    return {call.id for call in book.calls if call.id and call.id not in answered}


def _notes(session: Session, book: Calls, unsure: set[str]) -> None:
    """Notices of finished background tasks, and progress rows, of unsure calls."""
    begin = min(call.row.index for call in book.calls if call.id in unsure)
    for row in session.rows:
        told = row.type in ("queue-operation", "progress") or (row.kind is RowKind.MESSAGE and row.extra.notification)
        if not told or (row.part == 0 and row.index < begin):
            continue
        value = session.value(row)
        if row.type == "progress":
            call_id = value.get("parentToolUseID")
            if isinstance(call_id, str) and call_id in unsure:
                book.progress[call_id] = row
            continue
        text = _notice(value)
        status = NOTICE_STATUS.search(text)
        if status:
            for call_id in dict.fromkeys(NOTICE.findall(text)):
                if call_id in unsure:
                    book.notices.setdefault(call_id, []).append(Notice(row, status[1].strip()))


def _notice(value: dict[str, Any]) -> str:
    """The text of a row that may tell of a finished background task."""
    text = value.get("content")
    if text is None:
        block = _block(value, 0)
        message = value.get("message")
        text = block.get("text") if block else message.get("content") if isinstance(message, dict) else None
    return text if isinstance(text, str) else ""


def _agents(session: Session, book: Calls, unsure: set[str]) -> None:
    """Which sub-agent transcripts belong to an unsure call: by the file beside the transcript, or by the agent id in the first result."""
    parts = {agent: part for part, agent in session.agents.items()}
    for row in session.rows:
        name = session.source.parts[row.part].name
        if row.kind is RowKind.BLOB and name.endswith(".meta.json"):
            try:
                meta = loads(session.bytes_of(row))
            except NotJson:
                continue
            agent = name.rpartition("/agent-")[2].removesuffix(".meta.json")
            call_id = meta.get("toolUseId") if isinstance(meta, dict) else None
            if isinstance(call_id, str) and call_id in unsure:
                book.records[call_id] = row
                if agent in parts:
                    book.agents.setdefault(call_id, []).append(parts[agent])
    for (_, call_id), answers in book.answers.items():
        for answer in answers if call_id in unsure else ():
            started = parts.get(answer.record.extra.task or "")
            if started is not None and started not in book.agents.get(call_id, []):
                book.agents.setdefault(call_id, []).append(started)


def _without_row(session: Session, book: Calls) -> list[WithoutRow]:
    """Tools that the last `tools-used` row names although no row of any part holds a call of theirs, while a turn is unfinished."""
    noted = next(reversed(session.of_type("tools-used", part=0)), None)
    listed = session.value(noted).get("tools") if noted else None
    if noted is None or not isinstance(listed, list):
        return []
    seen = {call.tool for call in book.calls} | {note.tool for note in book.left_out}
    unseen = [name for name in listed if isinstance(name, str) and name not in seen]
    after = next(filter(None, (_unfinished(session, part) for part in (0, *session.agents))), None) if unseen else None
    return [WithoutRow(name, noted, after) for name in dict.fromkeys(unseen)] if after else []


def _unfinished(session: Session, part: int) -> Row | None:
    """The last message of a part, in file order, where an answer should follow it. What a resume or a repair adds does not count."""
    for row in reversed(session.rows):
        if row.part != part or row.kind is not RowKind.MESSAGE or (row.sidechain and part == 0):
            continue
        if row.extra.api_error or row.extra.marked or row.extra.model == "<synthetic>":
            continue
        if row.role == "assistant":
            return None if any(block.kind is BlockKind.TEXT for block in row.blocks) else row
        return None if interruption(row.extra.text) else row
    return None


def _lost_answer(session: Session, book: Calls) -> Row | None:
    """The last message of the main transcript, where nothing of its answer was saved.

    A turn that a person stopped, an answer that failed, a command of the client and its summary are none; nor is one with a call that has no
    result, or whose result a repair wrote: that call has an operation of its own. A release that notes its requests notes a tool's first use
    when it starts: where it noted none, none was started.
    """
    if any(session.of_type("api-request", part=0)) and not any(session.of_type("tools-used", part=0)):
        return None
    last = _unfinished(session, 0)
    if last is None or last.extra.compact_summary or local_command(last.extra.text) or any(block.kind is BlockKind.CALL for block in last.blocks):
        return None
    if any(row.index > last.index and row.kind is RowKind.MESSAGE and row.extra.api_error for row in session.main()):
        return None
    behind = [*(call.row for call in book.calls), *(note.row for note in book.left_out)]
    if any(row.part == 0 and row.index > last.index for row in behind):
        return None
    answered = {block.id for block in last.blocks if block.kind is BlockKind.RESULT}
    message = next((message_of(call) for call in reversed(book.calls) if call.id in answered), None)
    for call in book.calls if answered else ():
        answers = book.answers.get((0, call.id or ""), ())
        if call.row.part == 0 and message_of(call) == message and all(answer.record.extra.marked for answer in answers):
            return None
    return last
