"""Whether a session of this machine is still being written: asked of the live-process registry that lies beside it."""

from __future__ import annotations

import os


def running(entries: list[dict[str, object]]) -> str | None:
    """Why a session counts as live (one sentence), or None. An entry whose process is gone was left behind by a kill."""
    for entry in entries:
        pid = entry.get("pid")
        if isinstance(pid, int) and pid > 0 and alive(pid):
            return f"process {pid} of the client is registered for this session and still runs"
    return None


def alive(pid: int) -> bool:
    """Whether a process with this number exists here (signal 0 asks and sends nothing)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
