"""Reading checkpoints and transcripts: one JSON document, its members and the transcript's entries as rows."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from ...documents import Document, Piece, value_at
from ...jsonspans import NotJson, leading_object, loads
from ...session import Block, BlockKind, Row, RowKind, Session
from ...source import Part, Source
from .checkpoint import Member, checkpoint_of, is_checkpoint, moment_of
from .entry import Entry, blocks_of, mark_of, text_of
from .envelope import DATA_FIELDS, decoded, found_in, is_envelope, kind_of

NAME = "apple-workflow"
LARGEST = 64 << 20
"""Bytes of a document that is read at all."""
MARKERS = re.compile(rb'"FoundationModels\.Transcript"|"transcriptData"|"step"|"entries"|"(?:userPrompt|modelName|annotations)"|"eyJ')
DAMAGED = re.compile(rb'"FoundationModels\.Transcript"|"transcriptData"')
SYSTEM = re.compile(r"Version ([0-9][0-9.]*)")


def sniff(source: Source) -> bool:
    """True where the main part is a JSON document that is a checkpoint or holds a transcript of FoundationModels; by content, not by name."""
    data = _bytes(source.parts[0]) if source.parts else None
    if data is None or not MARKERS.search(data):
        return False
    try:
        value = loads(data)
    except NotJson:
        end = leading_object(data)
        more_lines = end is not None and data[end:].lstrip(b" \t\r")[:1] == b"\n" and data[end:].strip()[:1] == b"{"
        return not more_lines and (DAMAGED.search(data) is not None or (b'"step"' in data and b'"userPrompt"' in data))
    return isinstance(value, dict) and (is_checkpoint(value) or is_envelope(value) or found_in(value) is not None)


def _bytes(part: Part) -> bytes | None:
    """The part's bytes where they may be a document."""
    head = bytes(part.data[0:256]).removeprefix(b"\xef\xbb\xbf").lstrip()
    return bytes(part.data[0 : len(part.data)]) if head[:1] == b"{" and len(part.data) <= LARGEST else None


def read(source: Source) -> Session:
    """Rows of the document; other parts stay whole."""
    session = Session(client=NAME, source=source, rows=[])
    for number, part in enumerate(source.parts):
        if number == 0:
            document = _document(bytes(part.data[0 : len(part.data)]))
            session.documents[0] = document
            session.rows += _rows(document)
        elif len(part.data):
            session.rows.append(Row(number, 0, 0, len(part.data), RowKind.BLOB, "file"))
    _describe(session)
    return session


def _document(data: bytes) -> Document:
    try:
        value = loads(data)
    except NotJson:  # what follows a document may be left out later: its rows are the same then
        end = leading_object(data)
        value = loads(data[:end]) if end is not None else None
    if not isinstance(value, dict):
        return Document(data)
    opened = found_in(value)
    try:
        return Document(data, opened)
    except NotJson:  # the list is there for the parser and not for the scanner: no row of its own then
        return Document(data)


def _rows(document: Document) -> list[Row]:
    rows = [_row(number, piece, document) for number, piece in enumerate(document.pieces)]
    if document.whole and not any(row.damage for row in rows) and not _strict(document.data):
        rows[-1].kind, rows[-1].type, rows[-1].damage = RowKind.DAMAGED, "unparseable", "unparseable"
    return rows


def _row(number: int, piece: Piece, document: Document) -> Row:
    if piece.kind == "broken":
        damage = "truncated" if not document.tail and _breaks_off(document.data) else "unparseable"
        return Row(0, number, piece.start, piece.end, RowKind.DAMAGED, damage, damage=damage)
    if piece.kind in ("frame", "tail"):
        return Row(0, number, piece.start, piece.end, RowKind.FRAME, "brackets")
    if piece.kind == "element":
        return _entry(number, piece)
    extra = Member(piece.key, piece.kind == "head")
    if piece.kind == "member" and not _strict(piece.body):
        return Row(0, number, piece.start, piece.end, RowKind.DAMAGED, "unparseable", damage="unparseable", extra=extra)
    row = Row(0, number, piece.start, piece.end, RowKind.RECORD, piece.key or "member", extra=extra)
    if piece.key == "updatedAt" and piece.kind == "member":
        row.at = moment_of(loads(piece.body).get("updatedAt"))[0]
    return row


def _strict(body: bytes) -> bool:
    """Whether Swift's decoder would read these bytes: JSON by the strict grammar, and UTF-8."""
    try:
        orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True


def _breaks_off(data: bytes) -> bool:
    """Whether the text is valid up to its end, where something is missing."""
    text = data.decode("utf-8", "replace").rstrip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated") or error.pos >= len(text) - 8
    except (RecursionError, ValueError):
        return False
    return False


ROLE = {"instructions": "system", "prompt": "user", "toolCalls": "assistant", "toolOutput": "tool", "response": "assistant", "reasoning": "assistant"}


def _entry(number: int, piece: Piece) -> Row:
    value = loads(piece.body)
    kind = kind_of(value)
    extra = Entry(int(piece.key), text_of(value), bool(mark_of(value)))
    faults = () if _strict(piece.body) else ("lone-surrogate",)
    if kind is None:
        word = value.get("role") if isinstance(value, dict) else None
        return Row(0, number, piece.start, piece.end, RowKind.UNKNOWN, str(word)[:40] if word else "entry", faults=faults, extra=extra)
    id = value.get("id")
    return Row(
        0, number, piece.start, piece.end, RowKind.MESSAGE, kind, id=id if isinstance(id, str) else None, role=ROLE[kind],
        blocks=tuple(_blocks(kind, value)), faults=faults, extra=extra,
    )  # fmt: skip


def _blocks(kind: str, value: dict[str, Any]) -> list[Block]:
    if kind == "toolCalls":
        return [Block(BlockKind.CALL, _word(call, "id"), _word(call, "name")) for call in blocks_of(value)]
    if kind == "toolOutput":
        return [Block(BlockKind.RESULT, _word(value, "toolCallID"), _word(value, "toolName"))]
    found = []
    for segment in blocks_of(value):
        type_ = segment.get("type") if isinstance(segment, dict) else None
        if type_ == "text":
            text = segment.get("text")
            shown = BlockKind.THINKING if kind == "reasoning" else BlockKind.TEXT
            found.append(Block(shown, blank=not (isinstance(text, str) and text.strip())))
        else:
            found.append(Block(BlockKind.IMAGE if type_ in ("image", "attachment") else BlockKind.OTHER))
    return found


def _word(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _describe(session: Session) -> None:
    """Id, release and title, where the document tells them."""
    held = checkpoint_of(session)
    if held is not None:
        id, prompt = held.text("id"), held.prompt
        session.id = id.value if id is not None and isinstance(id.value, str) else None
        session.title = prompt.value[:200] if prompt is not None and isinstance(prompt.value, str) else None
    entries = [row for row in session.main() if isinstance(row.extra, Entry)]
    if session.title is None:
        session.title = next((row.extra.text[:200] for row in entries if row.type == "prompt" and row.extra.text.strip()), None)
    for row in reversed(entries):
        metadata = session.record(row).get("metadata")
        named = metadata.get("systemVersion") if isinstance(metadata, dict) else None
        found = SYSTEM.search(named) if isinstance(named, str) else None
        if found:
            session.version = found[1].rstrip(".")
            return


def envelope_of(session: Session) -> bytes | None:
    """The bytes of the transcript's envelope; None where the document holds none whose entries are a list."""
    document = session.documents.get(0)
    if document is None or document.held is None or document.opened is None:
        return None
    path = document.opened.list_path
    if len(path) < 2:
        return document.data
    found = value_at(document.held.inner, path[:-2])
    return document.held.inner[found.at : found.end]


def undecodable(session: Session) -> tuple[Row, bytes] | None:
    """The member that should hold a transcript and holds none that can be read, with the bytes that it holds."""
    for row in session.main():
        if row.kind is RowKind.RECORD and isinstance(row.extra, Member) and not row.extra.holds_transcript and row.extra.key in DATA_FIELDS:
            value = session.record(row).get(row.extra.key)
            if value is not None:
                return row, decoded(value)[1] if not isinstance(value, dict) else session.body_of(row)
    return None
