"""Which calls mean the same act: same tool and same arguments, whatever key a client or a model made up for the attempt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import index
from .inspection import Inspection
from .operations import Operation, key_of
from .session import Row

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


def _retries(inspection: Inspection) -> Iterator[tuple[Operation, Operation]]:
    listed = [
        (operation, inspection.row(operation.call)) for operation in inspection.operations
        if operation.call is not None and operation.call_id is not None
    ]  # fmt: skip
    next_message = _of_another_message([row for _, row in listed])
    newest: dict[str, int] = {}
    waiting: dict[tuple[int, str, str | None], _Attempt] = {}
    for number, (operation, row) in enumerate(listed):
        known = _known_from(inspection, operation)
        following = next_message[number]
        opens = known is None or (following is not None and following.part == row.part and following.index < known)
        if not opens and number - newest.get(operation.tool, -LOOKED_AHEAD) >= LOOKED_AHEAD:
            continue
        act = (row.part, operation.tool, intent_of(operation.tool, operation.arguments))
        first = waiting.get(act)
        if first is not None and first.precedes(number, row) and operation.state not in DID_NOT_RUN and first.operation.effect != "read-only":
            yield first.operation, operation
            del waiting[act]
        if opens and act[2] is not None and (first is None or index.message_of(first.row) != index.message_of(row)):
            newest[operation.tool] = number
            waiting[act] = _Attempt(number, operation, row, known)


def _of_another_message(rows: list[Row]) -> list[Row | None]:
    """For each call's row that of the next call that is not of the same message: calls beside each other are no attempts of one act."""
    found: list[Row | None] = [None] * len(rows)
    for number in range(len(rows) - 2, -1, -1):
        later = rows[number + 1]
        found[number] = later if index.message_of(later) != index.message_of(rows[number]) else found[number + 1]
    return found


class _Attempt(NamedTuple):
    """A call of which nothing is known up to a row."""

    number: int
    operation: Operation
    row: Row
    known: int | None

    def precedes(self, number: int, row: Row) -> bool:
        """Whether a later call was made while nothing was known of this one."""
        open_ = self.known is None or row.index <= self.known
        return open_ and number - self.number <= LOOKED_AHEAD and index.message_of(self.row) != index.message_of(row)


def _known_from(inspection: Inspection, operation: Operation) -> int | None:
    """Number of the row from which it is known what became of a call: its own where nothing was ever open; None while it is uncertain."""
    if operation.state == "uncertain":
        return None
    if operation.state not in ("confirmed", "failed") or operation.result is None:
        return inspection.row(operation.call or "").index
    return inspection.row(operation.result).index
