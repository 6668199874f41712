"""Facts on work and context that outlives a process: queue, skills, hooks, background tasks, compaction, replacements, stored context."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ...session import Row
from ...state import Fact, Restored, ResumeAs
from .gathered import BUT_PATH, EVERY, NEVER, Gathered, fact, not_recorded, refs, text_of
from .outside import stored_system_prompt
from .recorded import rendered_texts
from .restores import Restores

TASK_ID = re.compile(r"<task-id>([^<]{1,100})</task-id>")
MOST_FILES = 200
COLLAPSE_COMMITS = ("context-collapse-commit", "marble-origami-commit")
COLLAPSE_SNAPSHOTS = ("context-collapse-snapshot", "marble-origami-snapshot")


def work_facts(held: Gathered, resume_as: ResumeAs, restores: Restores) -> list[Fact]:
    """What the session was in the middle of, and what of it comes back."""
    return [
        queued_prompts(held),
        background_tasks(held),
        invoked_skills(held),
        compaction(held),
        content_replacements(held, resume_as, restores),
        context_collapse(held, resume_as),
        attribution(held),
        read_file_state(held),
        caches(),
        hooks(held),
        system_prompt(held, restores),
        stored_context(held, restores),
        tools_used(held),
    ]


def queued_prompts(held: Gathered) -> Fact:
    """Prompts that were typed while the client worked and never left the queue."""
    waiting: list[tuple[str, Row]] = []
    for row in held.rows("queue-operation"):
        value = held.value(row)
        operation, content = value.get("operation"), text_of(value.get("content"))
        if operation == "enqueue":
            waiting.append((content or "", row))
        elif operation == "popAll":
            waiting.clear()
        elif operation in ("dequeue", "remove") and waiting:
            same = [number for number, (text, _) in enumerate(waiting) if operation == "remove" and text == content]
            waiting.pop(same[0] if same else 0)
    note = "Lost on every resume: the client does not read the queue back." if waiting else "Nothing waits in the queue."
    return fact("queued-prompts", [text[:500] for text, _ in waiting], refs([row for _, row in waiting]), NEVER, note)


def background_tasks(held: Gathered) -> Fact:
    """Background commands and agents whose completion no row records."""
    started: dict[str, tuple[str, Row]] = {}
    for needle in (b'"backgroundTaskId"', b'"isAsync"'):
        for row in held.holding(needle):
            result = held.value(row).get("toolUseResult")
            if not isinstance(result, dict):
                continue
            shell, agent = text_of(result.get("backgroundTaskId")), text_of(result.get("agentId")) if result.get("isAsync") is True else None
            if shell:
                started[shell] = ("command", row)
            elif agent:
                started[agent] = ("agent", row)
    if started:
        for row in held.holding(b"<task-id>"):
            for task in TASK_ID.findall(held.session.bytes_of(row).decode("utf-8", "replace")):
                started.pop(task, None)
    value = [{"task": task, "kind": kind} for task, (kind, _) in started.items()]
    note = (
        "They may have ended before, with or after the client; a resume does not start them again." if value else "None without a completion record."
    )
    return fact("background-tasks", value, refs([row for _, row in started.values()]), NEVER, note)


def invoked_skills(held: Gathered) -> Fact:
    """Skills that the model was given. They are read from all rows before clean-up, so that a compaction does not lose them."""
    rows = held.attachments("invoked_skills")
    names: dict[str, dict[str, Any]] = {}
    on_branch = {row.ref for row in held.branch}
    for row in rows:
        attachment = held.value(row).get("attachment")
        skills = attachment.get("skills") if isinstance(attachment, dict) else None
        for skill in skills if isinstance(skills, list) else ():
            if isinstance(skill, dict) and text_of(skill.get("name")):
                names[skill["name"]] = {"name": skill["name"], "path": skill.get("path"), "row": row.ref, "row_survives": row.ref in on_branch}
    if not names:
        return not_recorded("invoked-skills", "No row names a skill that was invoked.", EVERY)
    note = "Read before clean-up: a skill stays known although its row is dropped, and is written again at the next compaction."
    return fact("invoked-skills", list(names.values()), refs(rows), EVERY, note)


def compaction(held: Gathered) -> Fact:
    """Compactions of the conversation."""
    rows = held.rows("system/compact_boundary")
    if not rows:
        return fact("compaction", [], (), EVERY, "The conversation was never compacted.")
    value = []
    for row in rows:
        data = held.value(row).get("compactMetadata")
        data = data if isinstance(data, dict) else {}
        value.append({"row": row.ref, "trigger": data.get("trigger"), "tokens_before": data.get("preTokens"), "tokens_after": data.get("postTokens")})
    return fact(
        "compaction", value[-100:], refs(rows), EVERY, "Only what follows the last boundary, its summary and the part that it preserved are sent."
    )


def content_replacements(held: Gathered, resume_as: ResumeAs, restores: Restores) -> Fact:
    """Stored short forms of large tool results."""
    rows = held.rows("content-replacement")
    entries = []
    for row in rows:
        replacements = held.value(row).get("replacements")
        for entry in replacements if isinstance(replacements, list) else ():
            if isinstance(entry, dict):
                short = text_of(entry.get("replacement")) or ""
                entries.append({"call": entry.get("toolUseId"), "kind": entry.get("kind"), "length": len(short), "row": row.ref})
    restored = Restored(normal=True, fork=True, path=restores.by_path, switch=True)
    if not rows:
        return fact("content-replacements", [], (), restored, "No result was replaced.")
    if resume_as.gate("content-replacement"):
        note = "Applied: the gate is on."
    else:
        note = "Loaded, and copied by a fork, but not applied: observed clients sent the full results. The gate content-replacement applies them."
    return fact("content-replacements", entries[-500:], refs(rows), restored, note)


def context_collapse(held: Gathered, resume_as: ResumeAs) -> Fact:
    """Inputs of a context collapse. How they are replayed is not known, so the request never shows it."""
    commits, snapshots = held.rows(*COLLAPSE_COMMITS), held.rows(*COLLAPSE_SNAPSHOTS)
    rows = [*commits, *snapshots[-1:]]
    if not rows:
        return not_recorded("context-collapse", "No commit entry and no staged snapshot.")
    value: dict[str, Any] = {"commits": len(commits), "staged_snapshot": bool(snapshots)}
    if not resume_as.gate("context-collapse"):
        return fact("context-collapse", value, refs(rows), NEVER, "Not looked at: the gate context-collapse is off.")
    value["inputs"] = [{"row": row.ref, "record": held.value(row)} for row in rows[-50:]]
    return fact(
        "context-collapse",
        value,
        refs(rows),
        BUT_PATH,
        "Commit entries in order, then the staged snapshot: inputs only. Their replay is not known and is not derived.",
    )


def attribution(held: Gathered) -> Fact:
    """Snapshots of which text the model wrote."""
    last = held.last("attribution-snapshot")
    if last is None:
        return not_recorded("attribution", "No attribution snapshot.", BUT_PATH)
    row, value = last
    files = value.get("fileStates")
    kept = {"snapshots": len(held.rows("attribution-snapshot")), "files": len(files) if isinstance(files, dict) else None}
    return fact("attribution", kept, (row.ref,), BUT_PATH, "The last snapshot counts.")


def read_file_state(held: Gathered) -> Fact:
    """Files that the client would count as read: what the branch's Read, Write and Edit calls name, newest first."""
    files: dict[str, Row] = {}
    for row in reversed(held.branch):
        if len(files) >= MOST_FILES:
            break
        if not any(block.name in ("Read", "Write", "Edit", "NotebookEdit") for block in row.blocks):
            continue
        message = held.value(row).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            given = block.get("input") if isinstance(block, dict) and block.get("name") in ("Read", "Write", "Edit", "NotebookEdit") else None
            path = text_of(given.get("file_path") or given.get("notebook_path")) if isinstance(given, dict) else None
            if path:
                files.setdefault(path, row)
    note = "Not stored: rebuilt from these calls. A file that changed since then counts as not read until it is read again."
    return fact("read-file-state", list(files), refs(list(files.values())), EVERY, note if files else "Empty: no call of the branch names a file.")


def caches() -> Fact:
    """What a new process starts without."""
    return not_recorded(
        "caches", "Prompt cache, shell snapshots and the state of running tools are not in a transcript; a new process starts without them."
    )


def hooks(held: Gathered) -> Fact:
    """Hook output that is stored, by hook. Session hooks run again at a resume."""
    rows = [row for name in held.by_type if name.startswith("attachment/") and "hook_" in name for row in held.by_type[name]]
    rows.sort(key=lambda row: row.index)
    counts: Counter[str] = Counter()
    for row in rows[-500:]:
        attachment = held.value(row).get("attachment")
        counts[text_of(attachment.get("hookName")) or "unnamed" if isinstance(attachment, dict) else "unnamed"] += 1
    note = "SessionStart hooks run again with source `resume`; what they will add is not recorded."
    return fact("hooks", dict(counts), refs(rows), NEVER, note) if rows else not_recorded("hooks", f"No hook output is stored. {note}")


def system_prompt(held: Gathered, restores: Restores) -> Fact:
    """The system prompt that the transcript itself holds."""
    stored = stored_system_prompt(held.session, held.branch)
    if stored is None:
        return not_recorded("system-prompt", "The branch stores none; the client makes its own.")
    row, text = stored
    value = {"length": len(text), "begins": text.strip()[:300]}
    if restores.reads_rendered:
        return fact("system-prompt", value, (row.ref,), EVERY, "Sent as it stands: whoever can write this file can set the system prompt.")
    return fact("system-prompt", value, (row.ref,), NEVER, "This release makes its own and does not read it.")


def stored_context(held: Gathered, restores: Restores) -> Fact:
    """Context texts that were stored in the form in which they were sent."""
    rows, length = [], 0
    for row in held.branch:
        if row.type == "attachment" and (texts := rendered_texts(held.value(row))):
            rows.append(row)
            length += sum(map(len, texts))
    if not rows:
        return not_recorded("stored-context", "No context of the branch is stored as sent.")
    note = (
        "Sent as stored, not made anew: an edit of the attachment changes nothing."
        if restores.reads_rendered
        else "This release makes the texts anew."
    )
    return fact("stored-context", {"rows": len(rows), "characters": length}, refs(rows), EVERY if restores.reads_rendered else NEVER, note)


def tools_used(held: Gathered) -> Fact:
    """The set of tools that the client noted as used; it is written before their rows are."""
    last = held.last("tools-used")
    if last is None:
        return not_recorded("tools-used", "No row notes the tools that were used.")
    return fact(
        "tools-used",
        last[1].get("tools"),
        (last[0].ref,),
        EVERY,
        "Written before the calls' own rows: a tool named here without any call may have run.",
    )
