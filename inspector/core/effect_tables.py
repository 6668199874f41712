"""The built-in tables: each tool of the clients -> its class, by its name or by its arguments.

Sources: the tools that the clients declared in recorded requests, and their public lists: code.claude.com/docs/en/tools-reference,
`codex-rs/core/src/tools` of openai/codex, `packages/core/src/tools` of google-gemini/gemini-cli. A tool that is known and still UNKNOWN has its
reason here. A tool that is missing here is unknown too, whatever its name promises.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .effect_class import Effect, destructive, mutating, read_only, unknown

VERSION = "3"
"""Raised with every change of the tables or of the shell analysis that can give a call another class."""

READS = read_only("only reads")
SEARCHES = read_only("only searches")
WAITS = read_only("only waits")
ASKS = read_only("only asks the person")
SHOWS = read_only("only shows the person something")
ANSWERS = read_only("only hands over the agent's own answer")
THIRD_PARTY = read_only("only reads, but a third party sees the request")
OWN_LIST = read_only("changes only the list of the session itself")
WRITES_FILE = mutating("writes a whole file; the same only while the file is as it was before or after")
EDITS = mutating("edits a file; a second run fails or edits again")
KEEPS = mutating("changes what the client keeps on disk")
ENDS = mutating("ends a process")
SENDS = mutating("sends something to other people")
SUB_AGENT = unknown("starts an agent, which may do anything")
RUNS = unknown("runs a command that the tables do not read")
MCP_SERVER = unknown("asks an MCP server, which may do anything")
ELSEWHERE = unknown("may read or change something outside this machine")


def _table(*groups: tuple[str, Effect]) -> dict[str, Effect]:
    return {tool: effect for tools, effect in groups for tool in tools.split()}


TABLES: dict[str, dict[str, Effect]] = {
    "claude-code": _table(
        ("Read LS NotebookRead LSP BashOutput AgentOutputTool TaskOutput ListAgents CronList TaskGet TaskList TodoRead", READS),
        ("ToolSearch DeferredToolPlaceholder", READS),
        ("Glob Grep", SEARCHES),
        ("Sleep WaitForMcpServers", WAITS),
        ("AskUserQuestion EnterPlanMode ExitPlanMode exit_plan_mode", ASKS),
        ("ReportFindings SendUserMessage", SHOWS),
        ("StructuredOutput", ANSWERS),
        ("WebFetch WebSearch", THIRD_PARTY),
        ("TodoWrite", OWN_LIST),
        ("Write", WRITES_FILE),
        ("Edit MultiEdit NotebookEdit", EDITS),
        ("TaskCreate CronCreate ScheduleWakeup EnterWorktree TeamCreate Config", KEEPS),
        ("KillShell KillBash TaskStop", ENDS),
        ("EndConversation", mutating("ends the conversation")),
        ("PushNotification SendUserFile SendFeedback ShareOnboardingGuide Artifact", SENDS),
        ("CronDelete", destructive("removes a scheduled prompt")),
        ("TeamDelete", destructive("removes a team of agents and what the client keeps of it")),
        ("Task Agent Skill SlashCommand Workflow SendMessage", SUB_AGENT),
        ("Monitor PowerShell REPL", RUNS),
        ("ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool", MCP_SERVER),
        ("RemoteTrigger DesignSync ArtifactComments ArtifactData", ELSEWHERE),
    ),
    "codex": _table(
        ("read_file list_dir view_image tool_search list_agents clock current_time get_goal list_available_plugins_to_install", READS),
        ("grep_files", SEARCHES),
        ("wait_agent sleep test_sync_tool", WAITS),
        ("request_user_input request_user_input_async request_permissions", ASKS),
        ("send_message_to_user_async", SHOWS),
        ("web_search", THIRD_PARTY),
        ("update_plan", read_only("changes only the plan of the session itself")),
        ("create_goal update_goal report_agent_job_result", KEEPS),
        ("image_generation", mutating("saves a picture that a third party makes")),
        ("request_plugin_install", mutating("installs a plugin once the person agrees")),
        ("close_agent interrupt_agent", mutating("ends what an agent is doing")),
        ("spawn_agent spawn_agents_on_csv send_input send_message followup_task resume_agent", SUB_AGENT),
        ("exec write_stdin js_repl", RUNS),
        ("list_mcp_resources list_mcp_resource_templates read_mcp_resource", MCP_SERVER),
    ),
    "gemini-cli": _table(
        ("read_file read_many_files list_directory get_internal_docs tracker_get_task tracker_list_tasks tracker_visualize", READS),
        ("list_background_processes read_background_output", READS),
        ("glob search_file_content grep_search", SEARCHES),
        ("ask_user enter_plan_mode exit_plan_mode", ASKS),
        ("update_topic", SHOWS),
        ("complete_task", ANSWERS),
        ("web_fetch google_web_search", THIRD_PARTY),
        ("write_todos", OWN_LIST),
        ("write_file", WRITES_FILE),
        ("replace", EDITS),
        ("save_memory", mutating("adds to a memory file")),
        ("tracker_create_task tracker_update_task tracker_add_dependency", KEEPS),
        ("activate_skill delegate_to_agent invoke_agent codebase_investigator cli_help generalist", SUB_AGENT),
        ("list_mcp_resources read_mcp_resource", MCP_SERVER),
    ),
    "openai-agents": _table(("tool_search", READS), ("computer", ELSEWHERE)),
}

COMMAND_TOOLS: dict[str, dict[str, str]] = {
    "claude-code": {"Bash": "command"},
    "codex": {"shell": "command", "exec_command": "cmd", "shell_command": "command", "local_shell": "command", "container.exec": "command"},
    "gemini-cli": {"run_shell_command": "command"},
    "openai-agents": {"shell": "command", "local_shell": "command"},
}
"""Client -> tool -> the argument that holds the command: a script, or a list of words."""


def _patch(arguments: Any) -> Effect:
    if arguments is None:
        return destructive("may delete a file: the patch was not saved whole")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return destructive("the patch deletes a file") if "*** Delete File" in text or '"delete_file"' in text else mutating("the patch changes files")


def _exit_worktree(arguments: Any) -> Effect:
    if isinstance(arguments, dict) and arguments.get("action") == "keep":
        return mutating("leaves the worktree and keeps it")
    return destructive("may remove the worktree")


def _task_update(arguments: Any) -> Effect:
    return KEEPS if isinstance(arguments, dict) and arguments.get("status") != "deleted" else destructive("may delete a task")


def _wait(arguments: Any) -> Effect:
    """Codex's `wait` may also end what it waits for."""
    return WAITS if isinstance(arguments, dict) and arguments.get("terminate", False) in (None, False) else ENDS


BY_ARGUMENTS: dict[str, dict[str, Callable[[Any], Effect]]] = {
    "claude-code": {"ExitWorktree": _exit_worktree, "TaskUpdate": _task_update},
    "codex": {"apply_patch": _patch, "wait": _wait},
    "gemini-cli": {},
    "openai-agents": {"apply_patch": _patch},
}
"""Client -> tool -> what its arguments make of it; where they are not known, the worst that it can be."""
