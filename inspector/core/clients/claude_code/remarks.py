"""What else a Claude Code session holds of a call: decisions about permission, what the terminal showed, live clients, names of used tools.

Read only for the calls whose evidence somebody asks for. A call with a real result needs no more support than the decision to run it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ... import registry
from ...calls import Answer, Call, Evidence, Outcome
from ...session import Row, Session
from ...symptoms import interruption
from ...wording import blocks_of, short
from .screen import Shown, may_show, screen_items

EDITING = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
ASKING = EDITING | {"Bash", "PowerShell", "WebFetch", "Skill", "SlashCommand"}
"""Tools that ask for permission where no rule allows the call."""
ASKS = {"default": ASKING, "plan": ASKING, "acceptEdits": ASKING - EDITING}
"""Permission mode -> tools that ask first. In every other mode nothing waits for a person."""
SHOWN = frozenset(("error", "notice", "result"))
STOPPED_WITHIN = 12
"""Rows behind a result in which the client's note of an interruption stands."""
LONGEST_TURN = 20_000
"""Rows looked back for the permission mode that a call ran in."""


class Remarks:
    """Called with a call and its answers, the best one first; gives the evidence."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __call__(self, call: Call, answers: list[Answer]) -> Iterator[Evidence]:
        yield from self._decisions(answers)
        if answers and answers[0].outcome is Outcome.RESULT:
            return
        if call.whole and call.record is call.row:
            yield from self._screen(call, answers)
        if not answers:
            yield from self._asks_first(call)
            yield from self._named_as_used(call)
        yield from self._stopped(answers)
        yield from self.processes

    def _decisions(self, answers: list[Answer]) -> Iterator[Evidence]:
        for answer in answers:
            if answer.record is not answer.row:
                continue
            record = self.session.record(answer.row)
            decision = record.get("permissionDecision")
            if isinstance(decision, dict) and isinstance(decision.get("decision"), str):
                by = ", ".join(short(decision[name], 40) for name in ("source", "reasonType") if isinstance(decision.get(name), str))
                allowed = decision["decision"] == "accept"
                says = f"The row records the decision about permission: {short(decision['decision'], 20)} ({by})."
                said = " It was allowed to run." if allowed else " It was not allowed to run." if decision["decision"] == "reject" else ""
                yield Evidence("permission", says + said, answer.row.ref, "strong" if answer.outcome is Outcome.DENIED else "weak")
            denial = answer.record.extra.denial
            if denial and answer.outcome is Outcome.REJECTED:
                says = f"The row records the denial `{short(denial, 40)}`, but not that it came before the run, as rows of calls that never began do."
                yield Evidence("denial", says, answer.row.ref)

    def _screen(self, call: Call, answers: list[Answer]) -> Iterator[Evidence]:
        """What the terminal showed of the call and of what came of it. Runs without a terminal, and agents, showed nothing."""
        row = call.row
        value = self.session.record(row)
        if row.part != 0 or not may_show(row) or str(value.get("entrypoint", "cli")) != "cli":
            return
        block = blocks_of(value)[call.block]
        yield Evidence("screen", f"The terminal showed the call: `{short(Shown(self.session, row).call(block), 80)}`.", row.ref)
        for answer in answers:
            if answer.record is answer.row and sum(block.id is not None for block in answer.row.blocks) == 1:
                for item in screen_items(self.session, [answer.row]):
                    if item.role in SHOWN and not item.folded:
                        yield Evidence("screen", f"The terminal showed of its result: `{short(item.text, 80)}`.", answer.row.ref)

    def _asks_first(self, call: Call) -> Iterator[Evidence]:
        """Whether the call may have waited for a person when the process ended: by the permission mode and the tool, in a terminal."""
        noted = self._mode_at(call.row)
        mode = noted.extra.permission_mode if noted else None
        asks = call.tool in ASKS.get(str(mode), ()) or (mode in ASKS and call.tool.startswith("mcp__"))
        if noted is None or not asks or str(self.session.record(call.row).get("entrypoint", "cli")) != "cli":
            return
        says = f"In the permission mode `{mode}` this tool asks first unless a rule allows the call: it may have been waiting for permission."
        yield Evidence("asks-first", says, noted.ref)

    def _mode_at(self, row: Row) -> Row | None:
        """The row that names the permission mode in which the main transcript stood at a row."""
        rows = self.session.rows
        at = bisect_right(rows, (row.part, row.index), key=lambda each: (each.part, each.index))
        if row.part != 0:
            at = bisect_right(rows, 0, key=lambda each: each.part)
        for number in range(at - 1, max(-1, at - LONGEST_TURN), -1):
            if getattr(rows[number].extra, "permission_mode", None):
                return rows[number]
        return None

    def _named_as_used(self, call: Call) -> Iterator[Evidence]:
        row = self._used.get(call.tool)
        if row is not None:
            says = "The client notes the tool as used. It does so when a call arrives, also where the call then never ran."
            yield Evidence("tools-used", says, row.ref, "none")

    @cached_property
    def _used(self) -> dict[str, Row]:
        """Tool -> the first row that names it as used."""
        found: dict[str, Row] = {}
        for row in self.session.of_type("tools-used", part=0):
            listed: Any = self.session.record(row).get("tools")
            for name in listed if isinstance(listed, list) else ():
                if isinstance(name, str):
                    found.setdefault(name, row)
        return found

    def _stopped(self, answers: list[Answer]) -> Iterator[Evidence]:
        """The client's note that a person stopped the turn, behind a result that only says that the call was stopped."""
        rejected = next((answer.row for answer in answers if answer.outcome is Outcome.REJECTED), None)
        if rejected is None:
            return
        rows = self.session.rows
        at = bisect_right(rows, (rejected.part, rejected.index), key=lambda each: (each.part, each.index))
        for row in rows[at : at + STOPPED_WITHIN]:
            if row.part == rejected.part and interruption(getattr(row.extra, "text", None)):
                yield Evidence("interrupted", "The client notes that a person stopped the turn here.", row.ref)
                return

    @cached_property
    def processes(self) -> list[Evidence]:
        """Records of clients that had this session open. One is removed when its client ends well, and stays behind when it was killed."""
        found = registry.read(self.session)
        return [
            Evidence("process", f"A client is recorded as open on this session{status(each)}: it runs still, or was killed.", each.row)
            for each in found.processes
            if each.session == self.session.id and (found.own is None or each.row != found.own[1])
        ]


def status(process: registry.Process) -> str:
    """The client's own word for what it does, in brackets, or nothing."""
    return f" ({short(process.status, 20)})" if process.status else ""
