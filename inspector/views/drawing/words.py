"""The words and marks that people read: verdicts, severities, states of operations, ways of resuming."""

from __future__ import annotations

VERDICTS = {
    "ready": ("ok", "Ready to resume"),
    "needs-repair": ("warn", "Needs repair"),
    "needs-reconciliation": ("danger", "Something may have happened"),
    "live": ("live", "Live"),
    "blocked": ("blocked", "Can't be resumed"),
    "finished": ("plain", "Finished"),
    "": ("plain", "Being read"),
}
"""Verdict -> (chip class, words)."""

SEVERITIES = {"fatal": "danger", "error": "danger", "warning": "warn", "info": "info"}
"""Severity -> chip class."""

OPERATION_STATES = {
    "confirmed": ("ok", "Done according to the transcript", "We did not check the target."),
    "failed": ("plain", "Refused by the target", "It did not happen. It may be tried again."),
    "uncertain": ("danger", "We don't know if this happened", "The request was made; no result was saved. Do not repeat it. Check the target first."),
    "resolved": ("ok", "Resolved", "A person decided it from evidence."),
    "waiting-approval": ("warn", "Waiting for approval", "Nothing was sent."),
    "not-started": ("plain", "Not started", "The transcript says that it was not run."),
}
"""State of an operation -> (chip class, badge, sentence)."""

EFFECTS = {
    "read-only": "only reads",
    "idempotent": "a change; the same call again adds nothing",
    "mutating": "changes something",
    "destructive": "changes something beyond recall",
    "unknown": "unknown effect: we can't tell what this changes, so we treat it as a change",
}

HOWS = {"normal": "normal (by session id)", "fork": "as a fork", "path": "from a file path", "switch": "switch inside a running client"}
"""Way of resuming -> words."""

ROLES = {"user": "User", "assistant": "Assistant", "thinking": "Assistant · thinking", "tool": "Tool call", "result": "Tool result", "error": "Error", "notice": "Notice"}
"""Role of a screen item -> words."""

ADDED = {
    "continuation": "continuation",
    "sentinel": "sentinel",
    "interrupted-result": "result for an interrupted call",
    "notification": "task notification",
    "prompt": "next prompt",
}
"""Why a resume adds a row -> words."""
