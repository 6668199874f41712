"""Drafted rows -> bytes as Claude Code writes them: its key order, compact separators, and the fields that it copies from row to row.

Every row written here carries `sessionInspector`, a key that the client keeps and ignores and that says who wrote the row and why.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...jsonspans import NotJson, loads
from ...session import Row, Session
from ...symptoms import stand_in
from .resume import CONTINUATION, SENTINEL

MARK = "sessionInspector"
"""Key of the machine-readable mark on every row that a repair or a fork adds, and on rows whose message it rewrites."""

NOTE = "session-inspector"
"""Type of the rows that hold a note of this project and nothing of the client's: the client ignores types that it does not know."""
LEFT_OUT = "left-out"
"""Kind of the note that keeps in mind a call that a repair left out and of which nobody knows whether it ran."""

CARRIED = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "agentId")
"""Fields that each chain row repeats, in the client's order."""

NO_CONTENT = "(no content)"
SURROGATES = re.compile("[\ud800-\udfff]")


def dumps(value: Any) -> bytes:
    """JSON as this client writes it: no spaces, characters as they are, a lone surrogate as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def line(value: Any) -> bytes:
    """One row with its newline."""
    return dumps(value) + b"\n"


def carried(session: Session, near: Row) -> dict[str, Any]:
    """The repeated fields as the row `near` has them, with the session's own id."""
    value = session.value(near) or {}
    fields = {key: value[key] for key in CARRIED if key in value}
    if near.part == 0 and session.id and "sessionId" in fields:
        fields["sessionId"] = session.id
    return fields


def prompt_id(session: Session, near: Row) -> dict[str, Any]:
    """`promptId` of the nearest user row before `near` in the file, or nothing where rows have none."""
    for row in reversed([row for row in session.rows if row.part == near.part and row.index <= near.index]):
        found = (session.value(row) or {}).get("promptId") if row.type == "user" else None
        if isinstance(found, str):
            return {"promptId": found}
    return {}


def result_row(
    session: Session, call: Row, call_id: str, text: str, *, error: bool, interrupted: bool, id: str, at: str, mark: dict[str, Any]
) -> bytes:
    """A user row that answers one call with `text`; its parent is the row of the call."""
    block = {"type": "tool_result", "content": text, "is_error": error, "tool_use_id": call_id}
    return line(
        {
            "parentUuid": call.id,
            "isSidechain": (session.value(call) or {}).get("isSidechain") is True,
            **prompt_id(session, call),
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "uuid": id,
            "timestamp": at,
            "toolUseResult": text,
            **({"toolDenialKind": "interrupted"} if interrupted else {}),
            "sourceToolAssistantUUID": call.id,
            **carried(session, call),
            MARK: mark,
        }
    )


def continuation_row(session: Session, near: Row, parent: str, *, id: str, message_id: str, at: str, mark: dict[str, Any]) -> bytes:
    """The note with which releases before 2.1.281 ask the model to go on; `message_id` is not used by user rows."""
    return line(
        {
            "parentUuid": parent,
            "isSidechain": False,
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": CONTINUATION}]},
            "isMeta": True,
            "uuid": id,
            "timestamp": at,
            **carried(session, near),
            MARK: mark,
        }
    )


def sentinel_row(session: Session, near: Row, parent: str, *, id: str, message_id: str, at: str, mark: dict[str, Any]) -> bytes:
    """The assistant row that this client puts behind an unanswered user message when it resumes."""
    usage = {
        "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": None,
    }  # fmt: skip
    message = {
        "id": message_id, "container": None, "model": "<synthetic>", "role": "assistant", "stop_reason": "stop_sequence", "stop_sequence": "",
        "type": "message", "usage": usage, "content": [{"type": "text", "text": SENTINEL}], "context_management": None,
    }  # fmt: skip
    return line(
        {
            "parentUuid": parent,
            "isSidechain": False,
            "type": "assistant",
            "uuid": id,
            "timestamp": at,
            "message": message,
            "isApiErrorMessage": False,
            **carried(session, near),
            MARK: mark,
        }
    )


def mark_of(value: dict[str, Any]) -> dict[str, Any]:
    """The mark that a repair left on a row; empty for others."""
    found = value.get(MARK)
    return found if isinstance(found, dict) else {}


def with_result(value: dict[str, Any], block: int, text: str, error: bool, mark: dict[str, Any]) -> dict[str, Any]:
    """The row of a result with what a person found out: in the place of a stand-in's or a repair's text, behind a tool's own."""
    content = list(value["message"]["content"])
    old = content[block].get("content")
    ours = "resolution" in mark_of(value) or (isinstance(old, str) and stand_in(old))
    if ours:
        content[block] = {**content[block], "content": text, "is_error": error}
    elif isinstance(old, list):
        content[block] = {**content[block], "content": [*old, {"type": "text", "text": text}]}
    else:
        content[block] = {**content[block], "content": f"{old}\n\n{text}" if old else text}
    changed = {**value, "message": {**value["message"], "content": content}, MARK: mark}
    if ours:
        changed.pop("toolDenialKind", None)
        changed["toolUseResult"] = text
    return changed


def last_prompt_row(session: Session, leaf: str, mark: dict[str, Any]) -> bytes:
    """The record that tells this client at which row to go on."""
    return line({"type": "last-prompt", "leafUuid": leaf, "explicit": True, "sessionId": session.id, MARK: mark})


def left_out_row(
    session: Session, key: str, call_id: str | None, tool: str, arguments: Any, *, resolution: dict[str, str], at: str, mark: dict[str, Any]
) -> bytes:
    """The note about a call that is no longer in the conversation; `resolution` holds what a person said of it (`resolution`, `says`), or nothing."""
    note = {
        "type": NOTE, "kind": LEFT_OUT, "operation": key, "callId": call_id, "tool": tool,
        "arguments": arguments, "sessionId": session.id, "at": at, **resolution, MARK: mark,
    }  # fmt: skip
    return line(note)


def rewritten(raw: bytes, value: dict[str, Any]) -> bytes:
    """The row's new bytes for a changed value: line end and byte order mark as they were."""
    body = raw.rstrip(b"\r\n")
    bom = b"\xef\xbb\xbf" if body.startswith(b"\xef\xbb\xbf") else b""
    return bom + dumps(value) + raw[len(body) :]


def with_fields(raw: bytes, value: dict[str, Any], changes: dict[str, Any]) -> bytes:
    """The row's bytes with top-level fields changed or added, and every other byte kept where the row's form allows it.

    A field that the row lacks is added at its end. Falls back on writing the whole value anew.
    """
    changed = {**value, **changes}
    candidate = raw
    for key, new in changes.items():
        if key in value:
            name = re.escape(dumps(key))
            spots = list(re.finditer(name + rb'\s*:\s*("(?:[^"\\]|\\.)*"|null|true|false|-?\d+)', candidate))
            found = next((spot for spot in spots if _reads_as(spot[1], value[key])), None)
            if found is not None:
                candidate = candidate[: found.start(1)] + dumps(new) + candidate[found.end(1) :]
        else:
            body = candidate.rstrip()
            if body.endswith(b"}"):
                candidate = body[:-1] + b"," + dumps(key) + b":" + dumps(new) + b"}" + candidate[len(body) :]
    return candidate if _reads_as(candidate, changed) else rewritten(raw, changed)


def _reads_as(data: bytes, value: Any) -> bool:
    try:
        return bool(loads(data) == value)
    except NotJson:
        return False


RECORDED_REQUESTS = frozenset(("api-request", "api-request-shape", "api-request-blob", "tools-used", "atis-latch", "cost-state"))
LEFT_BEHIND = {
    "queue-operation": "prompts that wait belong to the session that was left",
    "worktree-state": "the worktree belongs to the session that was left",
    "last-prompt": "the fork has its own place to go on",
    "speculation-accept": "a record of the client's own work",
    "progress": "progress display only",
    **dict.fromkeys(RECORDED_REQUESTS, "a record of the requests and costs of the session that was left"),
}
"""Record types that a fork does not take over, with the reason."""


def kept_by_compaction(session: Session, row: Row) -> list[str]:
    """Uuids of the rows before a compaction's boundary that stay part of the conversation; empty for other rows."""
    if row.type != "system/compact_boundary":
        return []
    found = (session.value(row) or {}).get("compactMetadata")
    metadata = found if isinstance(found, dict) else {}
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    named = messages.get("allUuids") or messages.get("uuids") if isinstance(messages, dict) else None
    if isinstance(named, list):
        return [uuid for uuid in named if isinstance(uuid, str)]
    if not isinstance(segment, dict):
        return []
    by_id = {other.id: other for other in session.main() if other.id}
    head, at = segment.get("headUuid"), by_id.get(str(segment.get("tailUuid")))
    kept: list[str] = []
    while at is not None and at.id not in kept:
        kept.append(at.id or "")
        at = None if at.id == head else by_id.get(at.parent or "")
    return kept if head in kept else []


def worktree(session: Session) -> dict[str, Any]:
    """The session's last worktree record, or nothing."""
    for row in reversed(list(session.main())):
        if row.type == "worktree-state":
            found = (session.value(row) or {}).get("worktreeSession")
            return found if isinstance(found, dict) else {}
    return {}


def forked(session: Session, row: Row, *, new_id: str, new_prompt_id: Any, slug: str | None, tree: dict[str, Any]) -> bytes:
    """The row as it stands in a fork: new session id, its own prompt ids, the main checkout for a worktree; same uuid, with its lineage."""
    raw, old_id = session.bytes_of(row), session.id or ""
    value = session.value(row)
    if row.type == "user" and old_id:
        moved = raw.replace(f"/{old_id}/tool-results/".encode(), f"/{new_id}/tool-results/".encode())
        if moved != raw:
            raw, value = moved, loads(moved)
    changes: dict[str, Any] = {}
    if "sessionId" in value:
        changes["sessionId"] = new_id
    if "session_id" in value:
        changes["session_id"] = new_id
    if isinstance(value.get("promptId"), str):
        changes["promptId"] = new_prompt_id(value["promptId"])
    if slug and "slug" in value:
        changes["slug"] = slug
    if tree and isinstance(value.get("cwd"), str) and value["cwd"].startswith(str(tree.get("worktreePath") or "\0")):
        changes["cwd"] = tree.get("originalCwd") or value["cwd"]
        if tree.get("originalBranch") and value.get("gitBranch") == tree.get("worktreeBranch"):
            changes["gitBranch"] = tree["originalBranch"]
    if row.id and value.get("uuid"):
        changes["forkedFrom"] = {"sessionId": old_id, "messageUuid": row.id}
        if "requestRef" in value:
            changes.setdefault("requestSessionId", value.get("requestSessionId") or old_id)
    return with_fields(raw, value, changes)
