"""What an operation acts on: the kind of its target, and one sentence about its window of uncertainty."""

from __future__ import annotations

from typing import Any

from .effect_class import Effect, EffectClass
from .effect_tables import COMMAND_TOOLS, EDITS, ENDS, KEEPS, RUNS, SUB_AGENT, TABLES, WRITES_FILE
from .effects import script_of
from .shell import changing_commands
from .shell_git import CHANGES, DESTROYS, split
from .target_kinds import KINDS, TargetKind

BY_EFFECT: dict[Effect, str] = {WRITES_FILE: "file", EDITS: "file", SUB_AGENT: "agent", RUNS: "shell", KEEPS: "shell", ENDS: "shell"}
"""Class and reason of a tool in the tables -> kind of its target."""
BY_TOOL: dict[str, dict[str, str]] = {
    "claude-code": {
        "EnterWorktree": "git-local", "ExitWorktree": "git-local", "TaskUpdate": "shell", "CronDelete": "shell", "TeamDelete": "shell",
        "EndConversation": "shell",
    },
    "codex": {"apply_patch": "file", "image_generation": "file", "wait": "shell", "close_agent": "agent", "interrupt_agent": "agent"},
    "gemini-cli": {"save_memory": "file"},
    "openai-agents": {"apply_patch": "file"},
}  # fmt: skip
"""Tools whose reason alone does not tell."""
SERVICES = frozenset("curl wget http https xh gh glab aws gcloud az kubectl helm terraform stripe".split())
"""Programs whose work is done by the service that they ask."""
UNSENT = frozenset(("proposed", "approved", "waiting-approval"))
NEVER_SENT = frozenset(("cancelled", "expired", "not-started"))
SETTLED = {
    "dispatched": "it is under way, so wait for the answer",
    "confirmed": "the answer was saved, so it is closed",
    "failed": "the target refused and did nothing, so it is closed",
    "resolved": "a person settled it from evidence, so it is closed",
}
"""State of an operation -> the end of its sentence."""

__all__ = ["KINDS", "TargetKind", "kind_of", "window_line"]


def kind_of(tool: str, effect: str, arguments: Any, client: str, declared_kind: str = "") -> str:
    """Name of the kind of target, a key of KINDS. `declared_kind` is that of the target which an operator declared for the call, if any.

    A call that acts on several kinds at once has the one whose help covers them all. Raises KeyError for a declared kind that there is not.
    """
    declared = KINDS[declared_kind] if declared_kind else None
    if effect == EffectClass.READ_ONLY:
        return "none"
    if declared is not None:
        return declared.name
    if tool in COMMAND_TOOLS.get(client, {}):
        return _of_script(script_of(client, tool, arguments) or "")
    named = BY_TOOL.get(client, {}).get(tool)
    known = TABLES.get(client, {}).get(tool)
    return named or (BY_EFFECT.get(known, "http-service") if known else "http-service")


def window_line(kind: str, state: str) -> str:
    """One sentence for an operation in this state, recorded or live: when its window opened, what closes it, and what that means now."""
    target = KINDS[kind]
    if kind == "none":
        return "There is no window: the call only reads."
    if state in UNSENT:
        return f"The window has not opened yet: it opens when {target.opens}."
    if state in NEVER_SENT:
        return "The window never opened: nothing was sent."
    end = SETTLED.get(state, f"it is still open, so {target.check}")
    return f"The window opens when {target.opens} and closes when {target.closes}: {end}."


def _of_script(script: str) -> str:
    """`git-remote`, `git-local` or `http-service` where every command that changes something is of that kind; else `shell`."""
    kinds = {_of_command(words) for words in changing_commands(script) or ()}
    if kinds == {"git-local", "git-remote"}:
        return "git-remote"
    return kinds.pop() if len(kinds) == 1 else "shell"


def _of_command(words: tuple[str, ...]) -> str:
    if words[:1] == ("git",):
        rest = split(words[1:])[1]
        if rest[:1] == ["push"]:
            return "git-remote"
        return "git-local" if rest and (rest[0] in CHANGES | DESTROYS or rest[0] == "fetch") else "shell"
    return "http-service" if words and words[0] in SERVICES else "shell"
