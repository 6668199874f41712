"""Which calls mean the same act: same tool and same arguments, whatever key a client or a model made up for the attempt."""

from __future__ import annotations

import re
from typing import Any

from . import index
from .inspection import Inspection
from .operations import Operation, key_of

LOOKED_AHEAD = 300
"""Later operations that are searched for one of the same intent."""
KEY_NAMES = re.compile(
    r"x?idempoten\w*|dedup\w*|x?(?:client)?request(?:id|uuid|token|key)|clienttoken|nonce|x?correlation(?:id|token)?|x?trace(?:id)?|attempt\w*|retry\w*"
)
"""Names of arguments, in lower case without marks, that name an attempt and not the act."""
KEY_IN_TEXT = re.compile(r"((?:idempotency|request)[-_ ]?(?:key|id)['\"]?\s*[:= ]\s*['\"]?)[\w.:-]+", re.IGNORECASE)
ABOUT_A_COMMAND = frozenset(("description", "timeout", "run_in_background"))
"""Arguments beside a command that do not change what it does."""
NESTED = 4
"""Levels of nested arguments in which keys are looked for."""
DID_NOT_RUN = frozenset(("not-started", "failed", "waiting-approval"))


def intent_of(tool: str, arguments: Any) -> str | None:
    """A name that equal acts share; None where the arguments are not known."""
    return None if arguments is None else key_of(None, tool, _act(arguments, NESTED))


def _act(given: Any, levels: int) -> Any:
    if isinstance(given, str):
        return KEY_IN_TEXT.sub(r"\1", given)
    if not isinstance(given, dict) or levels == 0:
        return given
    beside = ABOUT_A_COMMAND if "command" in given else frozenset()
    return {
        name: _act(value, levels - 1) for name, value in given.items()
        if name not in beside and not KEY_NAMES.fullmatch(re.sub(r"[^a-z]", "", str(name).lower()))
    }  # fmt: skip


def retries(inspection: Inspection) -> list[tuple[Operation, Operation]]:
    """(first, second): the second call means the same as the first and was made while no result told what had become of it.

    Calls of one message are no retries, nor is one that did not run. Only the next such call is named, within the same part.
    """
    if "retries" not in inspection.memo:
        inspection.memo["retries"] = list(_retries(inspection))
    found: list[tuple[Operation, Operation]] = inspection.memo["retries"]
    return found


def _retries(inspection: Inspection) -> list[tuple[Operation, Operation]]:
    listed = [operation for operation in inspection.operations if operation.call is not None and operation.call_id is not None]
    found = []
    for number, first in enumerate(listed):
        known = _known_from(inspection, first)
        row = inspection.row(first.call or "")
        for second in listed[number + 1 : number + 1 + LOOKED_AHEAD]:
            later = inspection.row(second.call or "")
            if later.part != row.part or (known is not None and later.index > known):
                break
            if second.tool != first.tool or second.state in DID_NOT_RUN or index.message_of(later) == index.message_of(row):
                continue
            intent = intent_of(first.tool, first.arguments)
            if intent is not None and intent == intent_of(second.tool, second.arguments) and first.effect != "read-only":
                found.append((first, second))
                break
    return found


def _known_from(inspection: Inspection, operation: Operation) -> int | None:
    """Number of the row from which it is known what became of a call: its own where nothing was ever open; None while it is uncertain."""
    if operation.state == "uncertain":
        return None
    if operation.state not in ("confirmed", "failed") or operation.result is None:
        return inspection.row(operation.call or "").index
    return inspection.row(operation.result).index
