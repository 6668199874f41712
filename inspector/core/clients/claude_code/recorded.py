"""Recorded requests of Claude Code 2.1.315 and newer: rows `api-request`, `api-request-shape` and `api-request-blob`, rebuilt.

An `api-request` row names its messages by hash: `keep` hashes of the request `base`, then `tail`. A message that the client cannot
make again from its rows stands in an `api-request-blob` row. The hash is SHA-256 over canonical JSON of the message with string
content written as one text block and without `cache_control`, so it does not tell the two spellings of one text apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...recorded import How, RecordedMessage, RecordedRequest
from ...session import Row, RowKind, Session
from ...state import RuntimeState, StateMessage
from ...symptoms import is_thinking

OPEN, CLOSE = "<system-reminder>\n", "\n</system-reminder>"

LONGEST_RUN = 24
"""User rows in one run up to which every sub-run is tried; of a longer run only the prefixes."""


def canonical(value: Any) -> bytes:
    """JSON with sorted keys, no spaces and UTF-8 left as it is."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def normal(message: dict[str, Any]) -> dict[str, Any]:
    """The message as its hash sees it."""
    return {**message, "content": [_uncached(block) for block in _blocks(message.get("content"))]}


def message_hash(message: dict[str, Any]) -> str:
    """Hex hash of a wire message."""
    return hashlib.sha256(canonical(normal(message))).hexdigest()


def _fits(message: dict[str, Any], digest: str) -> bool:
    """Whether a stored message has this hash: in normal form as the client hashes, or as it stands."""
    return message_hash(message) == digest or hashlib.sha256(canonical(message)).hexdigest() == digest


def _uncached(block: Any) -> Any:
    return {key: value for key, value in block.items() if key != "cache_control"} if isinstance(block, dict) else block


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


@dataclass(slots=True)
class Sent:
    """One `api-request` row with its chain of hashes followed back; `hashes` holds an empty string for each lost one."""

    row: Row
    value: dict[str, Any]
    hashes: list[str]


@dataclass(slots=True)
class Unit:
    """What one wire message would be made of: an assistant message or a run of user rows, in the order of the file."""

    role: str
    rows: list[Row]
    message: dict[str, Any]


@dataclass(slots=True)
class Pool:
    """Everything in one part that a hash may name."""

    stored: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    """Hash as recorded -> message of the blob row, its ref."""
    made: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = field(default_factory=dict)
    """Hash as we compute it -> message made from rows, their refs."""
    units: list[Unit] = field(default_factory=list)


def recorded_request(session: Session, state: RuntimeState) -> RecordedRequest | None:
    """The last request that the main transcript recorded, compared with what `state` would send next; None where none is recorded."""
    return _last(session, 0, state)


def agent_requests(session: Session) -> dict[int, RecordedRequest]:
    """Part number -> last recorded request of each sub-agent transcript that records any."""
    found = ((part, _last(session, part, None)) for part in session.agents)
    return {part: request for part, request in found if request is not None}


def all_requests(session: Session, part: int = 0) -> Iterator[RecordedRequest]:
    """Every recorded request of a part in order, rebuilt one at a time."""
    requests = sent_requests(session, part)
    if requests:
        pool, shapes = pool_of(session, part), _shapes(session, part)
        for request in requests:
            yield rebuild(session, request, pool, shapes)


def _last(session: Session, part: int, state: RuntimeState | None) -> RecordedRequest | None:
    requests = sent_requests(session, part)
    if not requests:
        return None
    return rebuild(session, requests[-1], pool_of(session, part), _shapes(session, part), state)


def _values(session: Session, part: int, kind: str) -> Iterator[tuple[Row, dict[str, Any]]]:
    for row in session.of_type(kind, part):
        value = session.value(row)
        if isinstance(value, dict):
            yield row, value


def sent_requests(session: Session, part: int) -> list[Sent]:
    """The `api-request` rows of a part with their whole lists of hashes. Malformed fields count as empty."""
    found: list[Sent] = []
    by_id: dict[str, list[str]] = {}
    for row, value in _values(session, part, "api-request"):
        keep, tail, base = value.get("keep"), value.get("tail"), value.get("base")
        count = keep if isinstance(keep, int) and not isinstance(keep, bool) and 0 <= keep < 1_000_000 else 0
        kept = (by_id.get(base, []) if isinstance(base, str) else [])[:count]
        hashes = kept + [""] * (count - len(kept)) + ([str(item) for item in tail] if isinstance(tail, list) else [])
        if isinstance(value.get("id"), str):
            by_id[value["id"]] = hashes
        found.append(Sent(row, value, hashes))
    return found


def _shapes(session: Session, part: int) -> dict[str, dict[str, Any]]:
    """shapeHash -> system prompt and tools, from all parts: a sub-agent may share its parent's."""
    rows = sorted(session.of_type("api-request-shape"), key=lambda row: row.part == part)
    shapes = {}
    for row in rows:
        value = session.value(row)
        if isinstance(value, dict) and isinstance(value.get("shape"), dict):
            shapes[str(value.get("shapeHash"))] = value["shape"]
    return shapes


def last_shape(session: Session, part: int) -> dict[str, Any] | None:
    """System prompt and tools of the last recorded request of a part, or None."""
    last = next(reversed(session.of_type("api-request", part)), None)
    if last is None:
        return None
    value = session.value(last)
    return _shapes(session, part).get(str(value.get("shapeHash"))) if isinstance(value, dict) else None


def rebuild(session: Session, sent: Sent, pool: Pool, shapes: dict[str, dict[str, Any]], state: RuntimeState | None = None) -> RecordedRequest:
    """The request of one `api-request` row, each message checked against its hash."""
    found: list[RecordedMessage] = []
    wire: list[dict[str, Any] | None] = []
    for digest in sent.hashes:
        how, message, rows = _find(digest, pool)
        found.append(RecordedMessage(digest, how, rows))
        wire.append(message)
    _guess_missing(sent, pool, found, wire)
    messages = [message or {"role": None, "content": None} for message in wire]
    params, shape = sent.value.get("params"), shapes.get(str(sent.value.get("shapeHash")))
    body: dict[str, Any] = {key: value for key, value in params.items() if key != "betas"} if isinstance(params, dict) else {}
    body["messages"] = messages
    if shape is not None:
        body |= {key: shape[key] for key in ("system", "tools") if key in shape}
    verified = sum(message.verified for message in found)
    parts_at = None if state is None or state.refused is not None else _parts_at(messages, state.messages)
    return RecordedRequest(
        row=sent.row.ref, body=body, verified=verified, of=len(found),
        mismatches=tuple(dict.fromkeys(ref for message in found if not message.verified for ref in message.rows)),
        messages=tuple(found), at=sent.row.at, source=_string(sent.value.get("querySource")),
        agent=session.agents.get(sent.row.part), parts_at=parts_at, note=_note(found, parts_at, shape is None),
    )  # fmt: skip


def _find(digest: str, pool: Pool) -> tuple[How, dict[str, Any] | None, tuple[str, ...]]:
    if digest in pool.made:
        message, rows = pool.made[digest]
        return "rebuilt", message, rows
    if digest in pool.stored:
        message, ref = pool.stored[digest]
        return ("stored" if _fits(message, digest) else "altered"), message, (ref,)
    return "missing", None, ()


def _guess_missing(sent: Sent, pool: Pool, found: list[RecordedMessage], wire: list[dict[str, Any] | None]) -> None:
    """Name the rows of each missing message: the units between its rebuilt neighbours, one for one where their number fits."""
    place = {row.ref: number for number, unit in enumerate(pool.units) for row in unit.rows}
    anchors = [(at, place[m.rows[0]]) for at, m in enumerate(found) if m.how == "rebuilt" and m.rows and m.rows[0] in place]
    last = sum(1 for unit in pool.units if unit.rows[0].index < sent.row.index)
    bounds = [(-1, -1), *anchors, (len(found), last)]
    for (left, first_unit), (right, end_unit) in zip(bounds, bounds[1:], strict=False):
        open_places = [at for at in range(left + 1, right) if (wire[at] or {}).get("role") != "system"]
        units = pool.units[first_unit + 1 : max(first_unit + 1, end_unit)]
        paired = len(units) == len(open_places)
        for number, at in enumerate(open_places):
            if found[at].how != "missing":
                continue
            named = [units[number]] if paired else units
            found[at] = RecordedMessage(found[at].hash, "missing", tuple(row.ref for unit in named for row in unit.rows))
            wire[at] = named[0].message if paired else None


def _parts_at(recorded: list[dict[str, Any]], derived: list[StateMessage]) -> int | None:
    """First index at which both lists hold different messages, or at which the derived one ends early."""
    for number, message in enumerate(recorded):
        if number >= len(derived):
            return number
        ours = {"role": derived[number].role, "content": derived[number].content}
        if _said(ours) != _said(message):
            return number
    return None


def _said(message: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Role and content as a reader would compare them: settings beside the content and line ends of a text do not count."""
    blocks = [{**block, "text": block["text"].rstrip()} if _is_text(block) else block for block in normal(message)["content"]]
    return message.get("role"), blocks


def _note(found: list[RecordedMessage], parts_at: int | None, no_shape: bool) -> str:
    of, verified = len(found), sum(message.verified for message in found)
    says = [f"{verified} of {of} messages match the hashes that the client recorded"]
    altered, missing = sum(m.how == "altered" for m in found), sum(m.how == "missing" for m in found)
    lost = sum(not m.hash for m in found)
    if altered:
        says.append(f"{altered} stored whole, but {'does' if altered == 1 else 'do'} not fit")
    if missing - lost:
        says.append(f"{missing - lost} cannot be made again from the rows")
    if lost:
        says.append(f"{lost} taken over from a request that is not in the file")
    if no_shape:
        says.append("system prompt and tools are not recorded")
    if parts_at is not None:
        says.append(f"the next request differs from it at message {parts_at}")
    return "; ".join(says) + "."


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def pool_of(session: Session, part: int) -> Pool:
    """All stored messages of a part, and all that its rows can make."""
    pool = Pool()
    for row, value in _values(session, part, "api-request-blob"):
        message, digest = value.get("message"), value.get("hash")
        if isinstance(message, dict) and isinstance(digest, str):
            pool.stored[digest] = (message, row.ref)
    pool.units = _units(session, part)
    for unit in pool.units:
        for message, rows in _variants(session, unit):
            pool.made.setdefault(message_hash(message), (message, tuple(row.ref for row in rows)))
    for message, refs in _with_context(session, part):
        pool.made.setdefault(message_hash(message), (message, refs))
    return pool


def _content(session: Session, row: Row) -> Any:
    value = session.value(row)
    if row.kind is RowKind.SYSTEM:
        return value.get("content")
    message = value.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _units(session: Session, part: int) -> list[Unit]:
    """The conversation's rows of a part as units. Rows of one message id stay together although results lie between them."""
    units: list[Unit] = []
    groups: dict[str, Unit] = {}
    run: Unit | None = None
    for row in session.rows:
        if row.part != part or row.extra is None or (part == 0 and row.sidechain):
            continue
        if row.role == "assistant":
            key = row.extra.message_id or row.ref
            if key not in groups:
                groups[key] = Unit("assistant", [], {})
                units.append(groups[key])
                run = None
            groups[key].rows.append(row)
        elif row.role == "user" or row.extra.subtype == "local_command":
            if run is None:
                run = Unit("user", [], {})
                units.append(run)
            run.rows.append(row)
    for unit in units:
        unit.message = _made(session, unit.role, unit.rows)
    return units


def _made(session: Session, role: str, rows: list[Row]) -> dict[str, Any]:
    blocks: list[Any] = []
    for row in rows:
        content = _blocks(_content(session, row))
        if role == "user" and blocks and content and _is_text(blocks[-1]) and _is_text(content[0]):
            blocks[-1] = {**blocks[-1], "text": blocks[-1]["text"] + "\n"}
        blocks += content
    return {"role": role, "content": blocks}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _variants(session: Session, unit: Unit) -> Iterator[tuple[dict[str, Any], list[Row]]]:
    """The messages that may have been sent of a unit: whole, without thinking, and what stood in the file at an earlier time."""
    size = len(unit.rows)
    starts: Iterable[int] = range(size) if size <= LONGEST_RUN else (0,)
    for start in starts:
        for end in range(size, start, -1):
            rows = unit.rows[start:end]
            message = unit.message if len(rows) == size else _made(session, unit.role, rows)
            yield message, rows
            if unit.role == "assistant":
                spoken = [block for block in message["content"] if not is_thinking(block)]
                if spoken and len(spoken) < len(message["content"]):
                    yield {**message, "content": spoken}, rows


def _with_context(session: Session, part: int) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """A user row with the stored texts of the attachments behind it: beside it for new models, before its text for older ones."""
    params = [value.get("params") for _, value in _values(session, part, "api-request")]
    configs: list[Any] = []
    for config in (item.get("output_config") for item in params if isinstance(item, dict)):
        if config is not None and config not in configs:
            configs.append(config)
    head: Row | None = None
    context: list[Row] = []
    for row in [*(row for row in session.rows if row.part == part and row.extra is not None), None]:
        if row is not None and row.kind is RowKind.CONTEXT:
            context.append(row)
        elif row is None or row.kind in (RowKind.MESSAGE, RowKind.SYSTEM):
            if head is not None and context:
                yield from _context_messages(session, head, context, configs)
            head, context = (row if row is not None and row.role == "user" else None), []


def _context_messages(session: Session, head: Row, context: list[Row], configs: list[Any]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    beside: list[str] = []
    before: list[str] = []
    everything: list[str] = []
    beside_rows, before_rows = [], [head.ref]
    for row in context:
        value = session.value(row)
        texts = rendered_texts(value)
        everything += texts
        if value.get("renderedRole") == "system":
            beside += [text.removeprefix(OPEN).removesuffix(CLOSE) for text in texts]
            beside_rows.append(row.ref)
        elif texts:
            before += texts
            before_rows.append(row.ref)
    own = _blocks(_content(session, head))
    for texts, refs in ((before, before_rows), (everything, [head.ref, *(row.ref for row in context)])):
        if texts:
            seam = [*texts[:-1], texts[-1] + "\n"]
            yield {"role": "user", "content": [*({"type": "text", "text": text} for text in seam), *own]}, tuple(refs)
    if beside:
        system = {"role": "system", "content": "\n\n".join(beside)}
        yield system, tuple(beside_rows)
        for config in configs:
            yield {**system, "output_config": config}, tuple(beside_rows)


def rendered_texts(value: dict[str, Any]) -> list[str]:
    """Texts that an attachment row stores as already rendered: what a resume sends in place of rendering it again."""
    rendered = value.get("rendered")
    texts: list[str] = []
    for item in rendered if isinstance(rendered, list) else ():
        content = item.get("content") if isinstance(item, dict) else None
        texts += [block["text"] for block in _blocks(content) if _is_text(block)]
    return texts
