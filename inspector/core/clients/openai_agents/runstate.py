"""A RunState as JSON: what it waits for, what a person has decided, and what it notes about each call. As fresh as its last save, and no fresher."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ...session import Row, RowKind, Session
from .held import Held, items_of
from .items import NOT_APPROVED, OUTPUT_OF, OUTPUTS, call_id_of, kind_of, tool_of
from .read import SCHEMA

NEWEST = (1, 21)
"""Newest `$schemaVersion` that release 0.24.0 reads; it refuses every other one."""
SCHEMA_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)
Decision = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that the run stopped at."""

    call_id: str
    tool: str
    item: dict[str, Any]
    decision: Decision | None
    message: str
    """What the model is told of a rejected call."""


@dataclass(slots=True)
class RunState:
    """The members of the document that decisions need, with their rows."""

    session: Session
    members: dict[str, Row]
    _read: dict[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """A member's value; None for one that is missing or damaged."""
        if name not in self._read:
            row = self.members.get(name)
            value = self.session.value(row) if row is not None else None
            self._read[name] = value.get(name) if isinstance(value, dict) else None
        return self._read[name]

    def ref(self, *names: str) -> str | None:
        """The row of the first of these members that there is."""
        return next((self.members[name].ref for name in names if name in self.members), None)

    @property
    def context(self) -> dict[str, Any]:
        found = self.get("context")
        return found if isinstance(found, dict) else {}

    @property
    def schema(self) -> str:
        return str(self.get(SCHEMA))

    @property
    def readable(self) -> bool:
        """Whether the observed release reads this version of the schema."""
        found = SCHEMA_VERSION.fullmatch(self.schema)
        return found is not None and (1, 0) <= (int(found[1]), int(found[2])) <= NEWEST

    @property
    def invocations(self) -> dict[str, dict[str, Any]]:
        """Call id -> what the run noted of it: `executed`, set before the tool's code begins, and `completed`."""
        found = self.context.get("tool_invocations")
        return {id: each for id, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}

    def entries(self) -> Iterator[Row]:
        """Rows of the items that the run has generated."""
        return (row for row in self.session.main() if isinstance(row.extra, Held) and row.extra.form == "run-item" and row.kind is RowKind.MESSAGE)

    def pending(self) -> list[Pending]:
        """The calls that the saved run stopped at, with what a person had decided about each when it was saved."""
        step = self.get("current_step")
        held = step.get("data", step) if isinstance(step, dict) and step.get("type") == "next_step_interruption" else {}
        stopped = held.get("interruptions") if isinstance(held, dict) else None
        found = []
        for entry in stopped if isinstance(stopped, list) else ():
            item = entry.get("raw_item") if isinstance(entry, dict) else None
            id = call_id_of(item) or item.get("id") if isinstance(item, dict) else None
            if isinstance(item, dict) and isinstance(id, str):
                tool = str(entry.get("tool_name") or tool_of(item))
                found.append(Pending(id, tool, item, *self._decided(id, tool)))
        return found

    def _decided(self, call_id: str, tool: str) -> tuple[Decision | None, str]:
        """The decision about a call: about this one, else about its tool for good."""
        standing: tuple[Decision | None, str] = (None, "")
        for decision in self._decisions(tool):
            messages = decision.get("rejection_messages")
            said = messages.get(call_id) if isinstance(messages, dict) else None
            for word in ("rejected", "approved"):
                given = decision.get(word)
                text = str(said or decision.get("sticky_rejection_message") or NOT_APPROVED) if word == "rejected" else ""
                if isinstance(given, list) and call_id in given:
                    return ("rejected" if word == "rejected" else "approved"), text
                # A decision for good is about one make of the tool: the call has to be of the same.
                if given is True and decision.get("sticky_scope") == self.invocations.get(call_id, {}).get("approval_scope"):
                    standing = ("rejected" if word == "rejected" else "approved"), text
        return standing

    def _decisions(self, tool: str) -> Iterator[dict[str, Any]]:
        listed = self.context.get("function_tool_approvals")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict) and each.get("tool_key") == tool and isinstance(each.get("decision"), dict):
                yield each["decision"]
        named = self.context.get("approvals")
        for key, each in named.items() if isinstance(named, dict) else ():
            if key == tool and isinstance(each, dict):
                yield each

    def unfinished(self) -> list[tuple[str, Row]]:
        """Calls that had begun when the state was saved, and have no output in it: the SDK refuses to go on with such a state."""
        answered, calls = set(), {}
        for row in self.entries():
            for item in items_of(self.session, row):
                if kind_of(item) in OUTPUTS:
                    answered.add(call_id_of(item))
                elif kind_of(item) in OUTPUT_OF and call_id_of(item) is not None:
                    calls[str(call_id_of(item))] = row
        begun = {id for id, each in self.invocations.items() if each.get("executed") is True and each.get("completed") is not True}
        return [(id, row) for id, row in calls.items() if id in begun and id not in answered]


def run_state_of(session: Session) -> RunState | None:
    """The RunState that a session's document is; None for every other form."""
    members = {row.type: row for row in session.main() if row.kind is not RowKind.FRAME and row.type not in ("tool_approval_item",)}
    if 0 not in session.documents or SCHEMA not in members:
        return None
    return RunState(session, members)
