"""Rows as a repair writes them: outputs, notes and items of the forms in which this SDK keeps them. What it can't keep is left to a person.

An output carries its mark in its text: see `items.MARK`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ... import tablerow
from ...documents import value_at
from ...jsonspans import loads
from ...session import Row, Session
from .branches import messages_of
from .held import MESSAGE, Held, items_of, message_of
from .items import OUTPUTS, call_id_of, kind_of, marked, text_of, unmarked
from .items import mark_of as item_mark
from .runstate import run_state_of

__all__ = [
    "answered_after",
    "answers",
    "as_text",
    "dumps",
    "mark_of",
    "note_row",
    "rejected",
    "result_row",
    "rewritten",
    "with_result",
    "without_id",
    "writes",
]

ANSWERED = frozenset(("function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call"))
NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
SURROGATES = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> bytes:
    """JSON as the SDK's sessions write it, characters as they are; a lone surrogate as its escape."""
    text = json.dumps(value, ensure_ascii=False)
    return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def writes(session: Session, row: Row) -> bool:
    """Whether the row's item can be changed, and others can be put beside it: not where they are encrypted, and not in a RunState."""
    held = row.extra
    plain = isinstance(held, Held) and held.form in ("message", "element") and not held.closed and held.plain
    return plain and bool(items_of(session, row)) and isinstance(items_of(session, row)[0], dict)


def answers(session: Session, row: Row) -> bool:
    """Whether the call of a row can be answered with words: a picture or the tools that a search found can't be made up."""
    return writes(session, row) and kind_of(items_of(session, row)[0]) in ANSWERED


def mark_of(value: dict[str, Any]) -> dict[str, Any]:
    """The mark that a repair left in a row's output; empty for others."""
    return item_mark(_item(value))


def _item(value: dict[str, Any]) -> Any:
    if MESSAGE in value:
        found = message_of(value)
        return found[0] if found is not None else None
    return value.get("raw_item", value)


def _with_item(value: dict[str, Any], item: Any) -> dict[str, Any]:
    """A row's record with another item."""
    if MESSAGE not in value:
        return dict(item)
    held = value[MESSAGE]
    return {**value, MESSAGE: item if isinstance(held, dict | list) else dumps(item).decode()}


def rewritten(raw: bytes, value: Any) -> bytes:
    """The row's bytes for a changed record: a line of a store's table, or an element of a document."""
    if raw.startswith(b'{"table":') and isinstance(value, dict) and tablerow.TABLE in value:
        return tablerow.pack(str(value[tablerow.TABLE]), tablerow.unpack(value))
    return dumps(value)


def _replaced(session: Session, row: Row, item: Any) -> bytes:
    return rewritten(session.bytes_of(row), _with_item(session.record(row), item))


def with_result(value: dict[str, Any], block: int, text: str, error: bool, mark: dict[str, Any]) -> dict[str, Any]:
    """The row of an output with what a person found out: in the place of a repair's text, behind a tool's own."""
    item = dict(_item(value))
    old = "" if item_mark(item) else unmarked(text_of(item))
    item["output"] = _output(kind_of(item), marked(f"{old}\n\n{text}" if old else text, mark), error)
    return _with_item(value, item)


def _output(kind: str, text: str, error: bool) -> Any:
    if kind != "shell_call_output":
        return text
    return [{"stdout": "" if error else text, "stderr": text if error else "", "outcome": {"type": "exit", "exit_code": int(error)}}]


def result_row(
    session: Session, call: Row, call_id: str, text: str, *, error: bool, interrupted: bool, id: str, at: str, mark: dict[str, Any]
) -> bytes:
    """The row that answers one call with `text`: an output of the kind that the call asks for. `id` is not used: outputs have none."""
    kind = f"{kind_of(items_of(session, call)[0])}_output"
    item: dict[str, Any] = {"call_id": call_id, "output": _output(kind, marked(text, mark), error), "type": kind}
    if kind == "local_shell_call_output":
        item["id"] = call_id
    if kind == "apply_patch_call_output":
        item["status"] = "failed" if error else "completed"
    return _new_row(session, call, item)


def note_row(session: Session, last: Row, text: str, mark: dict[str, Any]) -> bytes:
    """A message to the model, behind the last row, in the place of a person's."""
    return _new_row(session, last, {"role": "user", "content": marked(text, mark)})


def _new_row(session: Session, near: Row, item: dict[str, Any]) -> bytes:
    """A row with an item, of the table and the time of the row before it: the SDK sorts by number, or by time and number.

    Its number is new. What stands behind it gets higher ones when the session is written to a file.
    """
    record = session.record(near)
    if MESSAGE not in record:
        return dumps(item)
    numbers = [int(row.id) for row in messages_of(session) if row.id is not None and NUMBER.fullmatch(row.id)]
    value = {**record, "id": max(numbers, default=0) + 1}
    value.pop(tablerow.DECRYPTED, None)
    return rewritten(session.bytes_of(near), _with_item(value, item))


def answered_after(session: Session, call: Row) -> Row:
    """The row behind which the output of a call goes: the last of the calls that the model made together with it."""
    rows = messages_of(session)
    last = call
    for row in rows[rows.index(call) + 1 :] if call in rows else ():
        if row.role != "assistant" or not any(block.kind == "call" for block in row.blocks):
            break
        last = row
    return last


def without_id(session: Session, row: Row) -> bytes | None:
    """The row with an item that has no id of the provider's any more; None where it can't be changed."""
    if not writes(session, row):
        return None
    item = items_of(session, row)[0]
    return _replaced(session, row, {key: value for key, value in item.items() if key != "id"}) if "id" in item else None


def as_text(session: Session, row: Row) -> bytes | None:
    """The row with a message in the place of an output, which has its text; None where it can't be changed."""
    item = items_of(session, row)[0] if writes(session, row) else None
    if not isinstance(item, dict) or kind_of(item) not in OUTPUTS:
        return None
    head = f"[Result of a tool call that is not part of this conversation ({call_id_of(item)})]"
    return _replaced(session, row, {"role": "user", "content": f"{head}\n{unmarked(text_of(item))}".rstrip()})


def rejected(session: Session, call_id: str, text: str, mark: dict[str, Any]) -> tuple[Row, bytes] | None:
    """The member of a RunState that takes an approval back and gives the model `text` in the place of the tool's output: the tool is then not run.

    Only the list of decisions changes; every other byte stays. None where the state holds no such approval.
    """
    run = run_state_of(session)
    row = run.members.get("context") if run is not None else None
    listed = run.context.get("function_tool_approvals") if run is not None else None
    pending = next((each for each in run.pending() if each.call_id == call_id), None) if run is not None else None
    if row is None or pending is None or not isinstance(listed, list):
        return None
    changed = [_taken_back(each, pending.tool, call_id, marked(text, mark)) for each in listed]
    if changed == listed:
        return None
    body = session.body_of(row)
    place = value_at(body, ("context", "function_tool_approvals"))
    made = body[: place.at] + dumps(changed) + body[place.end :]
    return (row, made) if loads(made) != loads(body) else None


def _taken_back(entry: Any, tool: str, call_id: str, text: str) -> Any:
    decision = entry.get("decision") if isinstance(entry, dict) and entry.get("tool_key") == tool else None
    if not isinstance(decision, dict):
        return entry
    approved, refused, said = decision.get("approved"), decision.get("rejected"), decision.get("rejection_messages")
    if not (approved is True or (isinstance(approved, list) and call_id in approved)):
        return entry
    kept = [id for id in approved if id != call_id] if isinstance(approved, list) else approved
    listed = [*refused, call_id] if isinstance(refused, list) else [call_id]
    messages = {**(said if isinstance(said, dict) else {}), call_id: text}
    return {**entry, "decision": {**decision, "approved": kept, "rejected": listed, "rejection_messages": messages}}
