"""Reading sessions: rows of a store's tables, a list of items, a RunState, and tables dumped as JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ... import tablerow
from ...documents import Document, Opened, Piece
from ...jsonspans import NotJson, leading_object, lines, loads
from ...session import Row, RowKind, Session
from ...source import Part, Source
from .held import MESSAGE, Held, is_envelope, items_of, message_of, run_item
from .items import block_of, kind_of, looks_like_item, mark_of, role_of, text_of

NAME = "openai-agents"
LARGEST = 64 << 20
"""Bytes of a document that is read at all."""
SCHEMA = "$schemaVersion"
STRUCTURE = "message_structure"
PLAIN_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)")
STATE_KEYS = frozenset(("original_input", "generated_items", "model_responses"))
DUMP = frozenset(("db", "tables"))
LISTS = ("original_input", "pending_input")
"""Members of a RunState that hold items of their own."""


def sniff(source: Source) -> bool:
    """Whether a store's capture says so, or the main part is a table's rows, a list of items, a RunState or a dump of the tables."""
    if source.hints.get("store", "").startswith(NAME):
        return True
    if not source.parts:
        return False
    part = source.parts[0]
    if part.data[0:10] == b'{"table":"':
        return _is_message(next(lines(part.data), (0, 0, b""))[2])
    data = document_bytes(part)
    return data is not None and opened_in(data) is not None


def _is_message(line: bytes) -> bool:
    try:
        record = loads(line)
    except NotJson:
        return False
    return isinstance(record, dict) and {tablerow.TABLE, "session_id", MESSAGE} <= record.keys()


def document_bytes(part: Part) -> bytes | None:
    """The part's bytes where they may be a document."""
    head = bytes(part.data[0:256]).removeprefix(b"\xef\xbb\xbf").lstrip()
    return bytes(part.data[0 : len(part.data)]) if head[:1] in (b"{", b"[") and len(part.data) <= LARGEST else None


def opened_in(data: bytes) -> tuple[str, Opened | None] | None:
    """What a document is (`list` | `state` | `dump`) and which list of it becomes rows; None for a document of another program.

    A list that breaks off is told by the items before the break.
    """
    try:
        value = loads(data)
    except NotJson:
        return _broken(data)
    if isinstance(value, list):
        return ("list", Opened((), "object", ())) if any(map(looks_like_item, value)) else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get(SCHEMA), str) and not STATE_KEYS.isdisjoint(value):
        held = isinstance(value.get("generated_items"), list)
        return "state", Opened(("generated_items",), "object", ()) if held else None
    tables = value.get("tables") if value.keys() <= DUMP else None
    for name, rows in tables.items() if isinstance(tables, dict) else ():
        if isinstance(rows, list) and rows and all(isinstance(row, dict) and MESSAGE in row for row in rows):
            return "dump", Opened(("tables",), "object", (name,))
    return None


def _broken(data: bytes) -> tuple[str, Opened | None] | None:
    if data.lstrip()[:1] == b"[":
        pieces = Document(data, Opened((), "object", ())).pieces
        if any(piece.kind == "element" and looks_like_item(_parsed(piece.body)) for piece in pieces):
            return "list", Opened((), "object", ())
    broken_off = leading_object(data) is None and b'"$schemaVersion"' in data[:4096] and b'"original_input"' in data
    return ("state", None) if broken_off else None


def _parsed(body: bytes) -> Any:
    try:
        return loads(body)
    except NotJson:
        return None


def read(source: Source) -> Session:
    """One row for each row of a table, each item of a list, each member of a RunState and each entry of its `generated_items`."""
    session = Session(client=NAME, source=source, rows=[], id=source.hints.get("thread"))
    for number, part in enumerate(source.parts):
        data = document_bytes(part) if number == 0 and part.data[0:10] != b'{"table":"' else None
        found = (opened_in(data) or _as_asked(data)) if data is not None else None
        if data is not None and found is not None:
            document = Document(data, found[1])
            session.documents[number] = document
            rows = [_piece(session, number, index, piece, found[0]) for index, piece in enumerate(document.pieces)]
            if not document.whole and rows and not any(row.damage for row in rows):
                rows[-1].kind, rows[-1].type, rows[-1].damage, rows[-1].extra = RowKind.DAMAGED, "truncated", "truncated", None
            session.rows += rows
        else:
            session.rows += [_line(number, index, *cut) for index, cut in enumerate(lines(part.data))]
    _describe(session)
    return session


def _as_asked(data: bytes) -> tuple[str, Opened | None] | None:
    """A list that nothing but the person who asks says to be one of items."""
    return ("list", Opened((), "object", ())) if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[" else None


def _line(part: int, index: int, start: int, end: int, data: bytes) -> Row:
    row = Row(part, index, start, end, RowKind.BLANK, "blank-line")
    if not data.strip():
        return row
    record = _parsed(data)
    if not isinstance(record, dict) or not isinstance(record.get(tablerow.TABLE), str):
        row.kind, row.type, row.damage = RowKind.DAMAGED, "unparseable", "unparseable"
    elif MESSAGE in record:
        _message(row, record)
    else:
        row.kind, row.type, row.at = RowKind.RECORD, record[tablerow.TABLE], time_of(record.get("created_at"))
    return row


def _message(row: Row, record: dict[str, Any]) -> None:
    """Fill the row of a message: of a store, or of a dump."""
    id = record.get("id")
    row.id, row.at = None if id is None else str(id), time_of(record.get("created_at"))
    found = message_of(record)
    if found is None:
        row.kind, row.type, row.damage = RowKind.DAMAGED, "unparseable", "unparseable"
    elif is_envelope(found[0]):
        row.kind, row.type, row.extra = RowKind.UNKNOWN, "encrypted", Held("message", row.id or "", closed=True)
    else:
        row.extra = Held("message", row.id or "", plain=not found[1])
        _item(row, [found[0]])


def _item(row: Row, items: list[Any]) -> None:
    """Fill what a row's items say of it."""
    kinds = [kind_of(item) for item in items]
    row.kind = RowKind.MESSAGE if any(kinds) else RowKind.UNKNOWN
    row.type = kinds[0] if len(kinds) == 1 and kinds[0] else row.type if row.type != "blank-line" else "item"
    row.blocks = tuple(block_of(item) for item in items)
    row.role = role_of(items[-1]) if items else None
    if row.extra is not None and len(items) == 1 and mark_of(items[0]):
        row.extra = replace(row.extra, marked=True)


def _piece(session: Session, part: int, index: int, piece: Piece, what: str) -> Row:
    row = Row(part, index, piece.start, piece.end, RowKind.FRAME, "brackets")
    if piece.kind == "broken":
        row.kind, row.type, row.damage = RowKind.DAMAGED, "truncated", "truncated"
    elif piece.kind in ("member", "head"):
        row.kind, row.type = RowKind.RECORD, piece.key or "member"
        if piece.kind == "member" and what == "state" and piece.key in LISTS:
            row.id, row.extra = piece.key, Held("input", piece.key)
            _fill(session, row, piece)
        elif piece.kind == "member" and _parsed(piece.body) is None:
            row.kind, row.type, row.damage = RowKind.DAMAGED, "unparseable", "unparseable"
    elif piece.kind == "element":
        row.id = piece.key
        _element(row, _parsed(piece.body), what)
    return row


def _fill(session: Session, row: Row, piece: Piece) -> None:
    value = _parsed(piece.body)
    if value is None:
        row.kind, row.type, row.damage, row.extra = RowKind.DAMAGED, "unparseable", "unparseable", None
        return
    given = value.get(piece.key)
    items = given if isinstance(given, list) else [{"role": "user", "content": given}] if isinstance(given, str) else []
    if items:
        _item(row, items)
        row.type = piece.key


def _element(row: Row, value: Any, what: str) -> None:
    if value is None:
        row.kind, row.type, row.damage = RowKind.DAMAGED, "unparseable", "unparseable"
    elif what == "dump":
        _message(row, value)
    elif what == "list":
        row.extra = Held("element")
        _item(row, [value])
    elif isinstance(value, dict) and value.get("type") == "tool_approval_item":
        row.kind, row.type = RowKind.RECORD, "tool_approval_item"
    elif isinstance(value, dict):
        row.extra = Held("run-item")
        _item(row, [run_item(value)])
    else:
        row.kind, row.type = RowKind.UNKNOWN, "entry"


def time_of(at: Any) -> str | None:
    """A table's time in UTC, as other clients write theirs."""
    found = PLAIN_TIME.match(at) if isinstance(at, str) else None
    return f"{found[1]}T{found[2]}Z" if found else None


def _describe(session: Session) -> None:
    """Id and title, where the rows tell them."""
    for row in session.main():
        if session.title is None and row.kind is RowKind.MESSAGE and row.role == "user":
            prompts = [text_of(item) for item in items_of(session, row) if kind_of(item) == "message" and role_of(item) == "user"]
            session.title = next((text[:200] for text in prompts if text.strip()), None)
        if session.id is None and isinstance(row.extra, Held) and row.extra.form == "message":
            named = session.record(row).get("session_id")
            session.id = named if isinstance(named, str) else None
        if session.title is not None and (session.id is not None or 0 in session.documents):
            return
