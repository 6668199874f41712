"""Claude Code transcripts: bytes -> Session. Every line becomes a row, whatever its state."""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import Any

import orjson

from ...jsonspans import NotJson, leading_object, lines, loads, recover
from ...session import Block, BlockKind, Row, RowKind, Session
from ...source import Part, Source

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
CHAIN_TYPES = {"user": RowKind.MESSAGE, "assistant": RowKind.MESSAGE, "attachment": RowKind.CONTEXT, "system": RowKind.SYSTEM}
RECORD_TYPES = frozenset(
    "last-prompt mode permission-mode custom-title agent-name agent-color ai-title agent-setting tag worktree-state file-history-snapshot "
    "file-history-delta attribution-snapshot marble-origami-commit marble-origami-snapshot context-collapse-commit context-collapse-snapshot "
    "queue-operation content-replacement summary progress api-request api-request-shape api-request-blob tools-used atis-latch cost-state "
    "pr-link task-summary speculation-accept session-inspector".split()
)
"""Row types outside the chain that the recorded clients, or the documents this project was founded on, name; the last one is this project's own."""
MESSAGE, UNKNOWN, CALL, RESULT = RowKind.MESSAGE, RowKind.UNKNOWN, BlockKind.CALL, BlockKind.RESULT
"""Members that are met once for every row: looking them up in their class takes as long as making a block."""
TYPES = dict.fromkeys(RECORD_TYPES, RowKind.RECORD) | CHAIN_TYPES
"""The kind of every known type."""
SAVED_TO = re.compile(r"saved to: ([^\n]+)")
SURROGATE = re.compile("[\ud800-\udfff]")


class Light:
    """What the resume of this client needs of a chain row without parsing it again. Most rows set few of these: the others cost nothing."""

    message_id: str | None = None
    model: str | None = None
    subtype: str | None = None
    logical_parent: str | None = None
    leaf: str | None = None
    """`leafUuid` of a last-prompt or summary row."""
    explicit: bool = False
    meta: bool = False
    api_error: bool = False
    compact_summary: bool = False
    own_note: bool = False
    """`ownNote`: a text that the client wrote itself."""
    notification: bool = False
    """A task notification, by its `origin`."""
    text: str | None = None
    """First 200 characters of a user row's text, for the client's own fixed texts."""
    string_content: bool = False
    message_missing: bool = False
    """A user or assistant row without a `message` object."""
    content_missing: bool = False
    """Content that is neither a string nor a list; for an attachment row, no `attachment` object."""
    attachment: str | None = None
    """Type of the attachment."""
    source_assistant: str | None = None
    session: str | None = None
    denial: str | None = None
    """`toolDenialKind` of a result row."""
    cwd: str | None = None
    """Working folder that the row names."""
    permission_mode: str | None = None
    """As written on a typed prompt or in a permission-mode row; untrusted."""
    persisted: str | None = None
    """Path of the file that holds this result's whole output, as recorded."""
    task: str | None = None
    """Id of the background task that this result says was started."""
    marked: bool = False
    """Written by a repair of this project (`sessionInspector`)."""


TEXT, BLANK_TEXT, THINKING = Block(BlockKind.TEXT), Block(BlockKind.TEXT, blank=True), Block(BlockKind.THINKING)
"""Blocks that hold nothing of their own are shared."""


def light_block(block: Any) -> Block:
    """The light form of one content block."""
    if not isinstance(block, dict):
        return Block(BlockKind.OTHER)
    name = block.get("type")
    if name == "text":
        return text_block(block.get("text"))
    if name == "tool_use":
        return Block(CALL, _string(block.get("id")), _string(block.get("name")))
    if name == "tool_result":
        return Block(RESULT, _string(block.get("tool_use_id")), error=block.get("is_error") is True)
    if name == "thinking" or name == "redacted_thinking":
        return THINKING
    if name == "server_tool_use":
        return Block(BlockKind.SERVER_CALL, _string(block.get("id")), _string(block.get("name")))
    if isinstance(name, str) and name.endswith("_tool_result"):
        return Block(BlockKind.SERVER_RESULT, _string(block.get("tool_use_id")), error=block.get("is_error") is True)
    return Block(BlockKind.IMAGE if name == "image" else BlockKind.OTHER)


def text_block(text: Any) -> Block:
    """A text block's light form: all that counts is whether anything can be seen."""
    return TEXT if isinstance(text, str) and text and not text.isspace() else BLANK_TEXT


def _ident(value: Any) -> str | None:
    """An id or a parent. One of another kind than a string still counts for the client, but can't be the id of a normal row."""
    return value if isinstance(value, str) else repr(value) if value not in (None, False, 0, "") else None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def sniff(source: Source) -> bool:
    """True when an early line is a record as this client writes them, or when nothing else could be: an empty `.jsonl`."""
    part = source.parts[0]
    if not part.name.endswith(".jsonl"):
        return False
    for number, (_, _, data) in enumerate(lines(part.data)):
        try:
            value = loads(data) if data.strip() else None
        except NotJson:
            value = next((loads(data[a:b]) for a, b in recover(data)), None)
        if isinstance(value, dict):
            name = value.get("type")
            known = isinstance(name, str) and (name in CHAIN_TYPES or name in RECORD_TYPES)
            if known and ("sessionId" in value or "uuid" in value or "leafUuid" in value or "message" in value or "messageId" in value):
                return True
        if number > 200:
            return False
    return len(part.data) == 0


def read(source: Source) -> Session:
    """Read all parts. The main transcript is part 0; `…/subagents/*.jsonl` are sub-agents; other parts stay whole."""
    rows: list[Row] = []
    agents: dict[int, str] = {}
    for number, part in enumerate(source.parts):
        agent = agent_of(part.name)
        if number == 0 or agent:
            part_rows = read_part(number, part)
            if agent and number:
                agents[number] = agent
                for row in part_rows:
                    row.sidechain = True
            rows += part_rows
        elif len(part.data):
            rows.append(Row(number, 0, 0, len(part.data), RowKind.BLOB, "file"))
    stem = source.parts[0].name.removesuffix(".jsonl")
    session = Session(client="claude-code", source=source, rows=rows, id=stem if UUID.fullmatch(stem) else _named(rows), agents=agents)
    session.version, session.title = _version_and_title(session)
    return session


def _named(rows: list[Row]) -> str | None:
    """The session that most rows of the main transcript name."""
    named = Counter(row.extra.session for row in rows if row.part == 0 and row.extra and row.extra.session)
    return next((name for name, _ in named.most_common(1)), None)


def agent_of(name: str) -> str | None:
    """Agent id of a sub-agent transcript's part name, else None."""
    found = re.search(r"(?:^|/)agent-([A-Za-z0-9_-]+)\.jsonl$", name)
    return found[1] if found else None


def read_part(number: int, part: Part) -> list[Row]:
    """Rows of one transcript part, tiling it."""
    size = len(part.data)
    return [read_line(number, index, start, end, data, end == size) for index, (start, end, data) in enumerate(lines(part.data))]


def read_line(part: int, index: int, start: int, end: int, data: bytes, last: bool) -> Row:
    """One line -> one row. Damage is classified, never raised."""
    faults: tuple[str, ...] = ()
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        if data.isspace():
            return Row(part, index, start, end, RowKind.BLANK, "blank")
        try:
            value = loads(data)
        except NotJson:
            return _damaged(part, index, start, end, data, last)
        faults = _faults(data, value)
    if not isinstance(value, dict):
        return Row(part, index, start, end, RowKind.DAMAGED, "null" if value is None else "scalar", damage="scalar")
    row = light_row(part, index, start, end, value)
    if faults or not data.endswith(b"\n"):
        row.faults = faults if data.endswith(b"\n") else (*faults, "missing-final-newline")
    return row


def _damaged(part: int, index: int, start: int, end: int, data: bytes, last: bool) -> Row:
    whole = leading_object(data)
    if b"\0" in data:
        damage = "nul"
    elif whole is not None or recover(data):
        damage = "spliced"
    elif last and not data.endswith(b"\n"):
        damage = "truncated"
    else:
        damage = "unparseable"
    row = Row(part, index, start, end, RowKind.DAMAGED, damage, damage=damage)
    if whole is not None:
        row.leading = light_row(part, index, start, start + whole, loads(data[:whole]))
    return row


def _faults(data: bytes, value: Any) -> tuple[str, ...]:
    faults = []
    if data.startswith(b"\xef\xbb\xbf"):
        faults.append("byte-order-mark")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        faults.append("bad-utf8")
    if holds_surrogate(value):
        faults.append("lone-surrogate")
    return tuple(faults)


def holds_surrogate(value: Any) -> bool:
    """Whether a lone UTF-16 surrogate stands in any string of a parsed value."""
    if isinstance(value, str):
        return bool(SURROGATE.search(value))
    if isinstance(value, dict):
        return any(holds_surrogate(key) or holds_surrogate(item) for key, item in value.items())
    return isinstance(value, list) and any(map(holds_surrogate, value))


def light_row(part: int, index: int, start: int, end: int, value: dict[str, Any]) -> Row:
    """The light row of a parsed record. Written out at length, and with shared strings: this runs once for every row of every file."""
    get = value.get
    name, id, parent, at = get("type"), get("uuid"), get("parentUuid"), get("timestamp")
    if not isinstance(id, str):
        id = _ident(id)
    if not isinstance(parent, str):
        parent = _ident(parent)
    light = Light()
    if not isinstance(name, str):
        return Row(part, index, start, end, RowKind.UNKNOWN, "", id, parent, extra=light)
    name = sys.intern(name)
    kind = TYPES.get(name, UNKNOWN)
    row = Row(part, index, start, end, kind, name, id, parent, at if isinstance(at, str) else None, extra=light)
    if get("isSidechain") is True:
        row.sidechain = True
    session, cwd, mode = get("sessionId"), get("cwd"), get("permissionMode")
    if isinstance(session, str):
        light.session = sys.intern(session)
    if isinstance(cwd, str):
        light.cwd = sys.intern(cwd)
    if isinstance(mode, str):
        light.permission_mode = sys.intern(mode)
    if kind is MESSAGE:
        _message(row, light, value)
    elif kind is RowKind.CONTEXT:
        attachment = get("attachment")
        light.attachment = _string(attachment.get("type")) if isinstance(attachment, dict) else None
        light.content_missing = not isinstance(attachment, dict)
    elif kind is RowKind.SYSTEM:
        light.subtype = _string(get("subtype"))
        if light.subtype:
            row.type = sys.intern(f"system/{light.subtype}")
        light.logical_parent = _string(get("logicalParentUuid"))
    elif name == "last-prompt" or name == "summary":
        light.leaf, light.explicit = _string(get("leafUuid")), get("explicit") is True
    return row


def _message(row: Row, light: Light, value: dict[str, Any]) -> None:
    get = value.get
    row.role = row.type
    if get("isMeta") is True:
        light.meta = True
    if get("isApiErrorMessage") is True:
        light.api_error = True
    if get("isCompactSummary") is True:
        light.compact_summary = True
    if get("ownNote") is True:
        light.own_note = True
    if "sessionInspector" in value:
        light.marked = True
    user = row.type == "user"
    if user:
        _user(light, value)
    message = get("message")
    if not isinstance(message, dict):
        light.message_missing, light.content_missing = not message, True
        return
    content, model, id = message.get("content"), message.get("model"), message.get("id")
    if isinstance(model, str) and not user:
        light.model = sys.intern(model)
    if isinstance(id, str):
        light.message_id = id
    if isinstance(content, str):
        light.string_content, light.text = True, content[:200]
        row.blocks = (text_block(content),)
    elif isinstance(content, list):
        row.blocks = tuple([light_block(block) for block in content])
        if user:
            _texts(light, content)
    else:
        light.content_missing = True


def _user(light: Light, value: dict[str, Any]) -> None:
    get = value.get
    origin = get("origin")
    if isinstance(origin, dict) and origin.get("kind") == "task-notification":
        light.notification = True
    source = get("sourceToolAssistantUUID")
    if isinstance(source, str):
        light.source_assistant = source
    if "toolDenialKind" in value:
        light.denial = _string(get("toolDenialKind"))
    outcome = get("toolUseResult")
    if isinstance(outcome, dict):
        if "persistedOutputPath" in outcome:
            light.persisted = _string(outcome.get("persistedOutputPath"))
        if "backgroundTaskId" in outcome or "agentId" in outcome:
            started = _string(outcome.get("agentId")) if outcome.get("isAsync") is True else None
            light.task = _string(outcome.get("backgroundTaskId")) or started


def _texts(light: Light, content: list[Any]) -> None:
    """What the texts of a user row say: the first one, and the path that a shortened result names."""
    texts = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    if texts and isinstance(text := texts[0].get("text"), str):
        light.text = text[:200]
    for block in content if light.persisted is None else ():
        said = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
        found = SAVED_TO.search(said[:1000]) if isinstance(said, str) and said.startswith("<persisted-output>") else None
        if found and (path := found[1].strip()):
            light.persisted = path
            return


def _version_and_title(session: Session) -> tuple[str | None, str | None]:
    version = title = None
    for row in reversed(session.rows):
        if row.part == 0 and version is None and row.kind in (RowKind.MESSAGE, RowKind.CONTEXT, RowKind.SYSTEM):
            value = session.value(row)
            version = _string(value.get("version")) if isinstance(value, dict) else None
        if row.part == 0 and title is None and row.type in ("custom-title", "ai-title"):
            value = session.value(row)
            title = _string(value.get("customTitle") or value.get("aiTitle"))
    return version, title
