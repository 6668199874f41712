"""What a file held before a call, by the client's own backups: rows name them, and their files lie beside the transcript.

The client backs a file up just before the first edit of a turn, under the id of the row that holds the call, and all files that it tracks at every
prompt, under the prompt's id. A backup at a prompt counts only while nothing between it and the call can have changed a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...calls import ABSENT, Call, Known
from ...session import BlockKind, Row, Session
from .calls import calls

LEAVES_FILES = frozenset(("Read", "Glob", "Grep", "LS", "NotebookRead", "LSP", "TodoWrite", "TodoRead", "WebFetch", "WebSearch", "AskUserQuestion"))
"""Tools that change no file."""
Backup = dict[str, Any]


def content_before(session: Session, row: str, call_id: str | None, path: str) -> Known:
    """The file's content right before a call: its bytes, ABSENT when there was no file, None when that is not known.

    `row` and `call_id` name the call, `path` is the file as the call names it. A backup that was not brought in is not known.
    """
    call = next((each for each in calls(session).calls if each.row.ref == row and each.id == call_id), None)
    if call is None or call.row.part != 0:
        return None
    names = names_of(session, path)
    own: Backup | None = None
    at_prompt: dict[str, Backup] = {}
    for message, update, backups in snapshots(session):
        backup = next((backups[name] for name in names if name in backups), None)
        if backup is None:
            continue
        if update and message == call.record.id:
            own = backup
        elif not update:
            at_prompt[message] = backup
    backup = own or backup_at_prompt(session, call, at_prompt)
    return content_of(session, backup) if backup else None


def names_of(session: Session, path: str) -> list[str]:
    """How a snapshot may name the path: as it is, or relative to a folder that the session worked in."""
    folders = dict.fromkeys(row.extra.cwd for row in session.main() if row.extra is not None and row.extra.cwd)
    inside = [folder.rstrip("/\\") for folder in folders]
    return [path, *(path[len(folder) + 1 :] for folder in inside if path.startswith((folder + "/", folder + "\\")))]


def snapshots(session: Session) -> Iterator[tuple[str, bool, dict[str, Backup]]]:
    """(id of the row it belongs to, whether it was made for one edit, path -> backup) of every snapshot, in file order."""
    for row in session.rows:
        if row.part or row.type not in ("file-history-snapshot", "file-history-delta"):
            continue
        value = session.record(row)
        message, snapshot = value.get("messageId"), value.get("snapshot")
        if not isinstance(message, str):
            continue
        if row.type == "file-history-delta":
            path, backup = value.get("trackingPath"), value.get("backup")
            if isinstance(path, str) and isinstance(backup, dict):
                yield message, True, {path: backup}
            continue
        backups = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
        if isinstance(backups, dict):
            yield message, value.get("isSnapshotUpdate") is True, {path: each for path, each in backups.items() if isinstance(each, dict)}


def backup_at_prompt(session: Session, call: Call, at_prompt: dict[str, Backup]) -> Backup | None:
    """The backup at the prompt that led to the call, when every other call on the way changes no file."""
    by_id = {row.id: row for row in session.main() if row.id is not None}
    row: Row | None = call.record
    seen: set[str] = set()
    while row is not None and row.id is not None and row.id not in seen:
        seen.add(row.id)
        if row.id in at_prompt:
            return at_prompt[row.id]
        others = row.blocks[: call.block] if row is call.record else row.blocks
        if any(block.kind is BlockKind.CALL and block.name not in LEAVES_FILES for block in others):
            return None
        row = by_id.get(row.parent) if row.parent else None
    return None


def content_of(session: Session, backup: Backup) -> Known:
    """The bytes of a backup; ABSENT when the client noted that there was no file."""
    if "backupFileName" in backup and backup["backupFileName"] is None:
        return ABSENT
    name = backup.get("backupFileName")
    found = [part for part in session.source.parts if "/file-history/" in f"/{part.name}" and part.name.rpartition("/")[2] == name]
    own = [part for part in found if f"/{session.id}/" in part.name]
    part = next(iter(own or found), None)
    return bytes(part.data[0 : len(part.data)]) if part else None
