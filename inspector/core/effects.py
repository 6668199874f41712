"""Tool call -> class of its effect, with the reason. The class sorts work for people; it never permits anything.

Order: the operator's rules, the annotations of MCP servers that the operator trusts, the built-in table of the client, shell analysis for tools
that run a command, unknown. A tool of any other MCP server is unknown: a transcript holds nothing that such a server says of itself. A tool's
name may raise it to destructive, never lower it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .effect_class import Effect, EffectClass, destructive, idempotent, mutating, read_only, unknown, worst
from .policy import BUILT_IN, Annotations, Policy
from .shell import script_effect

POLICY = "1"
"""Version of the tables and of the shell analysis; raised with every change that can give a call another class."""

READS = "only reads"
THIRD_PARTY = "only reads, but a third party sees the request"
ASKS = "only asks the person"
SEARCHES = "only searches"
EDITS = "edits a file; a second run fails or edits again"
SUB_AGENT = "starts an agent, which may do anything"
RUNS = "runs a command that the tables do not read"

_CLAUDE_CODE: dict[str, Effect] = {
    **dict.fromkeys(("Read", "LS", "NotebookRead", "LSP", "BashOutput", "AgentOutputTool", "TaskOutput", "ListAgents", "CronList"), read_only(READS)),
    **dict.fromkeys(("TaskGet", "TaskList", "TodoRead", "ToolSearch", "DeferredToolPlaceholder", "ReportFindings"), read_only(READS)),
    **dict.fromkeys(("Glob", "Grep"), read_only(SEARCHES)),
    **dict.fromkeys(("WebFetch", "WebSearch"), read_only(THIRD_PARTY)),
    "TodoWrite": read_only("changes only the list of the session itself"),
    **dict.fromkeys(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "exit_plan_mode"), read_only(ASKS)),
    "Write": mutating("writes a whole file; the same only while the file is as it was before or after"),
    **dict.fromkeys(("Edit", "MultiEdit", "NotebookEdit"), mutating(EDITS)),
    **dict.fromkeys(("TaskCreate", "TaskUpdate", "CronCreate", "ScheduleWakeup", "EnterWorktree"), mutating("changes what the client keeps on disk")),
    **dict.fromkeys(("KillShell", "KillBash", "TaskStop"), mutating("ends a process")),
    "CronDelete": destructive("removes a scheduled prompt"),
    **dict.fromkeys(("Task", "Agent", "Skill", "SlashCommand", "Workflow", "SendMessage"), unknown(SUB_AGENT)),
    **dict.fromkeys(("Monitor", "PowerShell", "REPL"), unknown(RUNS)),
    **dict.fromkeys(("ListMcpResourcesTool", "ReadMcpResourceTool"), unknown("asks an MCP server, which may do anything")),
}
_CODEX: dict[str, Effect] = {
    **dict.fromkeys(("read_file", "list_dir", "view_image", "tool_search", "wait", "wait_agent", "list_agents", "clock"), read_only(READS)),
    "grep_files": read_only(SEARCHES),
    "web_search": read_only(THIRD_PARTY),
    "update_plan": read_only("changes only the plan of the session itself"),
    "request_user_input": read_only(ASKS),
    "close_agent": mutating("ends an agent"),
    **dict.fromkeys(("spawn_agent", "send_input", "resume_agent"), unknown(SUB_AGENT)),
    **dict.fromkeys(("exec", "write_stdin", "js_repl"), unknown(RUNS)),
    **dict.fromkeys(("list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"), unknown("asks an MCP server, which may do anything")),
}
_GEMINI_CLI: dict[str, Effect] = {
    **dict.fromkeys(("read_file", "read_many_files", "list_directory", "get_internal_docs"), read_only(READS)),
    **dict.fromkeys(("glob", "search_file_content", "grep_search"), read_only(SEARCHES)),
    **dict.fromkeys(("web_fetch", "google_web_search"), read_only(THIRD_PARTY)),
    "write_todos": read_only("changes only the list of the session itself"),
    **dict.fromkeys(("ask_user", "enter_plan_mode", "exit_plan_mode"), read_only(ASKS)),
    "write_file": mutating("writes a whole file; the same only while the file is as it was before or after"),
    "replace": mutating(EDITS),
    "save_memory": mutating("adds to a memory file"),
    **dict.fromkeys(("activate_skill", "delegate_to_agent", "codebase_investigator"), unknown(SUB_AGENT)),
}
TABLES = {"claude-code": _CLAUDE_CODE, "codex": _CODEX, "gemini-cli": _GEMINI_CLI}

COMMAND_TOOLS: dict[str, dict[str, str]] = {
    "claude-code": {"Bash": "command"},
    "codex": {"shell": "command", "exec_command": "cmd", "shell_command": "command", "local_shell": "command", "container.exec": "command"},
    "gemini-cli": {"run_shell_command": "command"},
}
"""Client -> tool -> the argument that holds the command: a script, or a list of words."""

TAKES_AWAY = frozenset("delete remove drop destroy purge prune terminate wipe erase truncate uninstall revoke".split())


def policy_version(policy: Policy) -> str:
    """By what a class was judged: changes whenever another class could come out."""
    return f"tables {POLICY}, policy {policy.version}"


def effect_of(client: str, tool: str, arguments: Any, policy: Policy = BUILT_IN) -> Effect:
    """Effect of one call. `arguments` is the parsed JSON of the call, or None where it is not recorded whole."""
    ruled = policy.rule_for(client, tool, arguments)
    if ruled is not None:
        number, rule = ruled
        return Effect(rule.effect, f"{rule.why} (rule {number} of policy version {policy.version})")
    trusted = policy.trusted(client, tool)
    if trusted is not None:
        return worst([_annotated(*trusted, policy.version), *_named(tool)])
    key = COMMAND_TOOLS.get(client, {}).get(tool)
    if key is not None:
        return _command(arguments, key)
    if client == "codex" and tool == "apply_patch":
        return _patch(arguments)
    if client == "claude-code" and tool == "ExitWorktree":
        return _exit_worktree(arguments)
    known = TABLES.get(client, {}).get(tool)
    if known is not None:
        return known
    return worst([unknown("a tool of an MCP server" if "__" in tool or tool.startswith("mcp_") else "not a tool of the client's own"), *_named(tool)])


def _annotated(server: str, said: Annotations, version: int) -> Effect:
    """The class that a trusted server's annotations give. The last two hints only mean something for a tool that changes something."""
    who = f"the server {server}, which policy version {version} trusts, says"
    if said.read_only:
        return read_only(f"{who} that it only reads" + (", outside the server too" if said.open_world else ""))
    if said.destructive:
        return destructive(f"{who} that it may take something away, or does not say that it never does")
    return idempotent(f"{who} that the same call again adds nothing") if said.idempotent else mutating(f"{who} that it only adds")


def _named(tool: str) -> list[Effect]:
    """What the tool's name alone says: destructive, or nothing."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    return [destructive(f"the name of the tool says {word}") for word in words if word in TAKES_AWAY][:1]


def _command(arguments: Any, key: str) -> Effect:
    command = arguments.get(key) if isinstance(arguments, dict) else None
    if isinstance(command, str):
        return script_effect(command)
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return _argument_vector(command)
    return unknown("no command was recorded")


def _argument_vector(words: list[str]) -> Effect:
    """`["bash", "-lc", SCRIPT]` is the script; any other list is one plain command."""
    if len(words) == 3 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc"):
        return script_effect(words[2])
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    return script_effect(quoted)


def _patch(arguments: Any) -> Effect:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return destructive("the patch deletes a file") if "*** Delete File" in text else mutating("the patch changes files")


def _exit_worktree(arguments: Any) -> Effect:
    action = arguments.get("action") if isinstance(arguments, dict) else None
    if action == "keep":
        return mutating("leaves the worktree and keeps it")
    return destructive("may remove the worktree")


__all__ = ["POLICY", "TABLES", "Effect", "EffectClass", "effect_of", "policy_version", "worst"]
