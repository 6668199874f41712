"""Background work without a completion record: what the client tells the model about it at a resume."""

from __future__ import annotations

from .items import Item
from .profiles import Profile


def notifications(items: list[Item], profile: Profile) -> list[str]:
    """Texts of the notifications that a resume sends before the prompt, in order of their start."""
    if profile.notifies is None:
        return []
    blocks = [block for item in items if item.type == "user" for block in item.blocks()]
    finished = " ".join(block.get("text", "") for block in blocks if "<task-notification>" in str(block.get("text")))
    finished += " ".join(str(item.attachment.get("prompt")) for item in items if item.type == "attachment")
    texts = []
    for item in items:
        result = item.result
        if not isinstance(result, dict):
            continue
        call = next(iter(item.results()), "")
        shell, agent = result.get("backgroundTaskId"), result.get("agentId") if result.get("isAsync") else None
        if isinstance(shell, str) and f"<task-id>{shell}</task-id>" not in finished:
            texts.append(shell_text(shell, call, profile))
        elif isinstance(agent, str) and f"<task-id>{agent}</task-id>" not in finished:
            texts.append(agent_text(agent, call, result, profile))
    return texts


def shell_text(task: str, call: str, profile: Profile) -> str:
    """For a background shell command."""
    if profile.notifies == "reminder":
        return _wrapped("Background shell command didn't finish before the previous session ended")
    summary = (
        "No completion record was found for this background shell command from the previous session. It may have been stopped (via the UI, "
        "Monitor timeout, or agent teardown \u2014 these leave no transcript marker), or it may have been running when the previous Claude Code "
        "process exited. Check the output file for partial results before assuming it completed."
    )
    lines = [f"<task-id>{task}</task-id>", f"<tool-use-id>{call}</tool-use-id>", "<status>stopped</status>", f"<summary>{summary}</summary>"]
    return "\n".join(["<task-notification>", *lines, "</task-notification>"])


def agent_text(agent: str, call: str, result: dict[str, object], profile: Profile) -> str:
    """For a background agent."""
    name = result.get("description")
    if profile.notifies == "reminder":
        return _wrapped(f'Background agent "{name}" didn\'t finish before the previous session ended')
    summary = (
        f'Background agent "{name}" was running when the previous Claude Code process exited and did not complete. Its in-process state was '
        "lost. Check its worktree/output for partial work before assuming the task landed."
    )
    output = f"<output-file>{result.get('outputFile')}</output-file>"
    lines = [f"<task-id>{agent}</task-id>", output, "<status>failed</status>", f"<summary>{summary}</summary>"]
    return "\n".join(["<task-notification>", *lines, "</task-notification>"])


def _wrapped(summary: str) -> str:
    return f"<system-reminder>[SYSTEM NOTIFICATION - NOT USER INPUT]\n{summary}\n</system-reminder>"
