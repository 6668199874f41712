"""Facts that live in files beside the transcript: file history, persisted tool outputs, tasks, plans, the live-process registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...session import Session
from ...state import Fact, Restored
from .gathered import BUT_PATH, EVERY, NEVER, Gathered, fact, not_recorded, part_json, refs, text_of

SAVED_TO = re.compile(r"Full output saved to: (.+)")
NOT_HERE = "These files were not brought in with the transcript."


def file_facts(held: Gathered) -> list[Fact]:
    """What the transcript points to, and whether it is here."""
    return [file_history(held), persisted_outputs(held), tasks(held), plan_file(held), live_process(held)]


def parts_in(session: Session, folder: str) -> Iterator[tuple[int, str]]:
    """(part number, name) of the parts that lie in a folder of this name, at any depth."""
    for number, name in enumerate(session.source.names()):
        if f"/{folder}/" in f"/{name}":
            yield number, name


def file_history(held: Gathered) -> Fact:
    """Backups of edited files that a rewind would use, and which of them are missing."""
    rows = held.rows("file-history-snapshot", "file-history-delta")
    tracked: dict[str, dict[str, Any]] = {}
    for row in rows:
        value = held.value(row)
        snapshot = value.get("snapshot")
        backups = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
        named = list(backups.items()) if isinstance(backups, dict) else []
        if text_of(value.get("trackingPath")) and isinstance(value.get("backup"), dict):
            named.append((value["trackingPath"], value["backup"]))
        for path, backup in named:
            if isinstance(backup, dict):
                key = f"{path}@{backup.get('version')}"
                tracked[key] = {"path": path, "version": backup.get("version"), "backup": text_of(backup.get("backupFileName"))}
    if not rows:
        return not_recorded("file-history", "No snapshot: sessions without a terminal write none.", BUT_PATH)
    here = {name.rsplit("/", 1)[-1] for _, name in parts_in(held.session, "file-history")}
    missing = [item["backup"] for item in tracked.values() if item["backup"] and item["backup"] not in here]
    value = {"snapshots": len(rows), "files": list(tracked.values())[-200:], "backups_here": bool(here), "missing": missing[-200:]}
    note = "A fork gets the backups as links under its new id."
    if missing:
        note += " Missing backups cannot be rewound to." if here else f" {NOT_HERE}"
    return fact("file-history", value, refs(rows), BUT_PATH, note)


def persisted_outputs(held: Gathered) -> Fact:
    """Tool outputs that were too large to keep in their row, and whether their files are here."""
    here = {name.rsplit("/", 1)[-1] for _, name in parts_in(held.session, "tool-results")}
    found, rows = [], []
    for row in held.holding(b"<persisted-output>"):
        path = _persisted_path(held.value(row))
        if path is not None:
            rows.append(row)
            found.append({"row": row.ref, "path": path, "here": re.split(r"[/\\]", path)[-1] in here})
    if not found:
        return fact("persisted-outputs", [], (), EVERY, "No output was put into a file of its own.")
    missing = sum(not item["here"] for item in found)
    note = f"{missing} of {len(found)} files are missing; the model would find only the preview. " if missing else "All files are here. "
    return fact("persisted-outputs", found[-200:], refs(rows), EVERY, note + "A fork's text keeps pointing to the original session's folder.")


def _persisted_path(value: dict[str, Any]) -> str | None:
    result = value.get("toolUseResult")
    if isinstance(result, dict) and text_of(result.get("persistedOutputPath")):
        return str(result["persistedOutputPath"])
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        text = text_of(block.get("content")) if isinstance(block, dict) and block.get("type") == "tool_result" else None
        if text and text.startswith("<persisted-output>") and (match := SAVED_TO.search(text)):
            return match[1].strip()
    return None


def tasks(held: Gathered) -> Fact:
    """The task list, which the client keeps beside the transcript under the session's id."""
    restored = Restored(normal=True, fork=False, path=True, switch=True)
    found = []
    for number, name in parts_in(held.session, "tasks"):
        if name.endswith(".json") and f"/{held.session.id}/" in f"/{name}":
            value = part_json(held.session, number)
            found.append({key: value.get(key) for key in ("id", "subject", "status", "blockedBy")} | {"part": name})
    if not found:
        return not_recorded(
            "tasks", "Kept outside the transcript under the session's id; no task file was brought in. A fork starts without tasks.", restored
        )
    return fact("tasks", found, (), restored, "Found by session id; a fork starts without tasks unless they are copied.")


def plan_file(held: Gathered) -> Fact:
    """The plan that the session worked by: named by its rows, kept outside the transcript."""
    restored = BUT_PATH
    named: tuple[str, str] | None = None
    for row in held.rows("attachment/plan_file_reference", "attachment/plan_mode", "attachment/plan_mode_reentry"):
        attachment = held.value(row).get("attachment")
        path = text_of(attachment.get("planFilePath")) if isinstance(attachment, dict) else None
        if path:
            named = (path, row.ref)
    if named is None and (found := held.newest("slug")) is not None and text_of(found[1]):
        named = (f"plans/{found[1]}.md", found[0].ref)
    if named is None:
        return not_recorded("plan-file", "No row names a plan.", restored)
    base = re.split(r"[/\\]", named[0])[-1]
    here = any(name.rsplit("/", 1)[-1] == base for _, name in parts_in(held.session, "plans"))
    note = "Copied by a fork." if here else f"Not here: it was never written, or it was not brought in. {NOT_HERE}"
    return fact("plan-file", {"path": named[0], "here": here}, (named[1],), restored, note)


def live_process(held: Gathered) -> Fact:
    """Signs that a client is running this session right now. The client itself takes no lock."""
    live, found = held.session.source.hints.get("live"), registry_entries(held.session)
    if live or found:
        note = "A second client would write between the first one's rows. An entry stays behind when a client is killed."
        return fact("live-process", {"entries": found, "source": live}, (), NEVER, note)
    return not_recorded("live-process", "No registry entry names this session; the transcript itself cannot tell.")


def registry_entries(session: Session) -> list[dict[str, Any]]:
    """Entries of the process registry, brought in with the session, that name it."""
    found = []
    for number, name in parts_in(session, "sessions"):
        if re.search(r"/\d+\.json$", f"/{name}"):
            value = part_json(session, number)
            if session.id is not None and value.get("sessionId") == session.id:
                found.append({key: value.get(key) for key in ("pid", "kind", "entrypoint", "status", "version", "startedAt", "cwd")} | {"part": name})
    return found
