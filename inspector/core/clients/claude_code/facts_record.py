"""Facts that rows of the transcript name: identity, folder, model, mode, title, cost, and what would be written without a prompt."""

from __future__ import annotations

from typing import Any

from ...state import Fact, Restored, ResumeAs
from .gathered import BUT_FORK, EVERY, NEVER, Gathered, fact, not_recorded, refs, text_of
from .read import Light
from .restores import Restores

MODES = frozenset("default acceptEdits auto bypassPermissions dontAsk plan manual".split())
"""Permission modes that any observed release knows."""
WRITTEN_AGAIN = ("custom-title", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode", "pr-link", "cost-state")
"""Rows that the client writes again when it leaves, in its order."""


def record_facts(held: Gathered, resume_as: ResumeAs, restores: Restores, model: str | None) -> list[Fact]:
    """Identity first, then what the client was set to."""
    metadata = Restored(normal=True, fork=True, path=restores.by_path, switch=True)
    return [
        session_id(held, resume_as),
        write_target(held, resume_as),
        working_folder(held, restores),
        git_branch(held),
        worktree(held, resume_as, restores),
        written_by(held, "version", "version", "Client that wrote the newest row of the branch; a resume uses whatever release is installed."),
        written_by(held, "entrypoint", "entrypoint", "How that client was started (cli, sdk-cli, …)."),
        model_fact(held, resume_as, model),
        permission_mode(held, restores),
        title(held, metadata),
        last_row(held, "tag", ("tag",), "tag", metadata),
        agent(held, metadata),
        last_row(held, "pull-request", ("pr-link",), "prUrl", metadata),
        last_row(held, "mode", ("mode",), "mode", metadata),
        cost(held, restores, metadata),
        tokens(held),
        exit_without_prompt(held, resume_as),
    ]


def session_id(held: Gathered, resume_as: ResumeAs) -> Fact:
    """Adopted or new; the file's name counts, not what rows say."""
    own = held.session.id
    foreign = [row for row in held.chain if isinstance(row.extra, Light) and row.extra.session not in (None, own)]
    note = "A fork gets a new id." if resume_as.how == "fork" else "The file's name counts, not the id inside the rows."
    if foreign:
        note += f" {len(foreign)} rows name another session."
    if own is None:
        return not_recorded("session-id", note, BUT_FORK)
    value = {"id": own, "after": "new" if resume_as.how == "fork" else "adopted", "foreign_rows": len(foreign)}
    return fact("session-id", value, refs(foreign), BUT_FORK, note)


def write_target(held: Gathered, resume_as: ResumeAs) -> Fact:
    """The file that rows are appended to from now on."""
    name = held.session.source.parts[0].name
    if resume_as.how == "fork":
        return fact(
            "write-target",
            "a new file",
            (),
            BUT_FORK,
            f"{name} is not adopted and stays as it is; the new file stands in the folder of the current project.",
        )
    return fact("write-target", name, (), BUT_FORK, "Adopted: even an exit without a prompt appends to it.")


def working_folder(held: Gathered, restores: Restores) -> Fact:
    """The last folder a row names. The client works in the one that it is started in."""
    found = held.newest("cwd")
    where = (
        "The session is found from any folder."
        if restores.from_other_folders
        else "By id it is found only from the project's own folder; by path from any."
    )
    note = f"Not restored: the client works in the folder that it is started in. {where}"
    if found is None:
        return not_recorded("working-folder", note)
    row, value = found
    return fact("working-folder", value, (row.ref,), NEVER, note)


def git_branch(held: Gathered) -> Fact:
    """The last branch a row names."""
    found = held.newest("gitBranch")
    note = "Information only: the client reads the branch that is checked out."
    return not_recorded("branch", note) if found is None else fact("branch", found[1], (found[0].ref,), NEVER, note)


def worktree(held: Gathered, resume_as: ResumeAs, restores: Restores) -> Fact:
    """The session's worktree and who would own it."""
    restored = Restored(normal=restores.worktree, path=restores.worktree and restores.by_path, switch=restores.worktree)
    last = held.last("worktree-state")
    if last is None:
        return not_recorded("worktree", "The session used no worktree that a row names.", restored)
    row, value = last
    state = value.get("worktreeSession")
    if not isinstance(state, dict):
        return fact("worktree", None, (row.ref,), restored, "The session had left its worktree.")
    owner = "nobody new: a fork neither goes back into it nor owns it" if resume_as.how == "fork" else "the resumed session"
    if not restores.worktree:
        owner = "the resumed session by its rows, though this release works in the folder that it is started in"
    kept = {
        key: state.get(key)
        for key in ("worktreePath", "worktreeName", "worktreeBranch", "originalCwd", "originalBranch", "originalHeadCommit", "sessionId")
    }
    note = f"Owner after the resume: {owner}. Whether the folder still exists is not recorded; the owner may offer to remove it at exit."
    return fact("worktree", kept, (row.ref,), restored, note)


def written_by(held: Gathered, name: str, key: str, note: str) -> Fact:
    """A field of the newest row of the branch."""
    found = held.newest(key)
    return not_recorded(name, note) if found is None else fact(name, found[1], (found[0].ref,), NEVER, note)


def model_fact(held: Gathered, resume_as: ResumeAs, model: str | None) -> Fact:
    """The model of the next request, and the row that it comes from."""
    named = next(((row, row.extra.model) for row in reversed(held.branch) if _real_model(row.extra)), None)
    if resume_as.model is not None:
        return fact("model", model, (), EVERY, "Asked for on the command line.")
    if named is not None and named[1] == model:
        return fact("model", model, (named[0].ref,), EVERY, "Model of the last assistant row on the branch.")
    note = "The client's default."
    if named is not None:
        note += f" The last assistant row names {named[1]}."
    return fact("model", model, (named[0].ref,) if named else (), NEVER, note)


def _real_model(extra: Any) -> bool:
    return isinstance(extra, Light) and extra.model is not None and extra.model != "<synthetic>"


def permission_mode(held: Gathered, restores: Restores) -> Fact:
    """The stored mode. It is untrusted: anybody who can write the file can set it."""
    last = held.last("permission-mode")
    if last is not None:
        row, value = last[0], last[1].get("permissionMode")
    else:
        found = next(((r, held.value(r)["permissionMode"]) for r in reversed(held.branch[-200:]) if "permissionMode" in held.value(r)), None)
        if found is None:
            return not_recorded("permission-mode", "No row names a mode; the client starts in its default.")
        row, value = found
    if not isinstance(value, str) or value not in MODES:
        return fact("permission-mode", value, (row.ref,), NEVER, "Not a mode that any observed release knows; the client ignores it.")
    if last is None:
        return fact("permission-mode", value, (row.ref,), NEVER, "Mode of the last prompt; without a row of its own it is not known to come back.")
    back = restores.permission_mode and value != "bypassPermissions"
    notes = {
        "bypassPermissions": "Never restored by itself: a person must ask for it.",
        "acceptEdits": "The interactive client restores it silently: edits run without asking.",
    }
    note = notes.get(value, "") if restores.permission_mode or value == "bypassPermissions" else "This release starts in its default mode."
    return fact("permission-mode", value, (row.ref,), Restored(normal=back, fork=back, path=back, switch=back), note)


def title(held: Gathered, restored: Restored) -> Fact:
    """The title a person gave, else the one the client made up."""
    for kind, key, note in (("custom-title", "customTitle", "Given by a person."), ("ai-title", "aiTitle", "Made by the client.")):
        last = held.last(kind)
        if last and text_of(last[1].get(key)):
            return fact("title", last[1][key], (last[0].ref,), restored, note)
    return not_recorded("title", "No row names a title; lists show the first prompt.", restored)


def agent(held: Gathered, restored: Restored) -> Fact:
    """The agent that the session was started as, with its name and colour."""
    named = (("agent-setting", "agentSetting", "agent"), ("agent-name", "agentName", "name"), ("agent-color", "agentColor", "color"))
    found = {label: (last[0], last[1].get(key)) for kind, key, label in named if (last := held.last(kind))}
    if not found:
        return not_recorded("agent", "The session was not started as an agent that a row names.", restored)
    note = (
        "The agent brings its model and its tools; they come from today's settings, not from the transcript."
        if "agent" in found
        else "Only the session's display name."
    )
    return fact("agent", {label: value for label, (_, value) in found.items()}, tuple(row.ref for row, _ in found.values()), restored, note)


def last_row(held: Gathered, name: str, kinds: tuple[str, ...], key: str, restored: Restored) -> Fact:
    """One field of the last row of a type."""
    last = held.last(*kinds)
    return not_recorded(name, "No row names one.", restored) if last is None else fact(name, last[1].get(key), (last[0].ref,), restored)


def cost(held: Gathered, restores: Restores, metadata: Restored) -> Fact:
    """Cost so far, where the client keeps it in the transcript."""
    last = held.last("cost-state")
    if last is None:
        return not_recorded("cost", "No row records cost; older releases keep it in the user's settings.")
    row, value = last
    kept = {
        key: value.get(key)
        for key in ("totalCostUSD", "totalAPIDuration", "totalToolDuration", "totalDuration", "totalLinesAdded", "totalLinesRemoved")
    }
    note = "Written when the client leaves: a killed session misses its last run." if restores.cost else "This release does not read it."
    return fact("cost", kept, (row.ref,), metadata if restores.cost else NEVER, note)


def tokens(held: Gathered) -> Fact:
    """Size of the context at the last answer, and totals by model where recorded."""
    last = held.last("cost-state")
    by_model = last[1].get("modelUsage") if last else None
    for row in reversed(held.branch):
        if row.type == "assistant" and _real_model(row.extra):
            message = held.value(row).get("message")
            usage = message.get("usage") if isinstance(message, dict) else None
            if isinstance(usage, dict):
                counted = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
                numbers = {key: usage[key] for key in counted if isinstance(usage.get(key), int)}
                value = {"context": sum(numbers.values()), "usage": numbers, "by_model": by_model}
                return fact("tokens", value, (row.ref,), EVERY, "As the provider counted them for the last answer on the branch.")
    return not_recorded("tokens", "No answer on the branch records its usage.")


def exit_without_prompt(held: Gathered, resume_as: ResumeAs) -> Fact:
    """What leaving at once would append to the adopted file."""
    lasts = [(kind, last[0]) for kind in WRITTEN_AGAIN if (last := held.last(kind))]
    if resume_as.how == "fork":
        return fact("exit-without-prompt", [], (), NEVER, "Nothing: a fork has not adopted the file, and its own is written at the first prompt.")
    note = "These rows are written again at the end of the file, so that it changes although nobody asked anything."
    return fact(
        "exit-without-prompt", [kind for kind, _ in lasts], tuple(row.ref for _, row in lasts), BUT_FORK, note if lasts else "Nothing to write again."
    )
