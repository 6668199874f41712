"""Runtime state: what the client holds after it resumed, and on whose behalf the question is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .verdicts import Drop

How = Literal["normal", "fork", "path", "switch"]
CLEAN_SESSION = "clean-session"
"""Apple workflows: the transcript is not restored, although it can be."""
GATES = ("content-replacement", "context-collapse", "resume-interrupted-turn", CLEAN_SESSION)
"""Switches of the client that are off unless a person asks for them to be on."""


@dataclass(frozen=True, slots=True)
class ResumeAs:
    """How the resume is done. Values come from a person or a script, never from the transcript."""

    how: How = "normal"
    version: str | None = None
    """Client version to simulate; None: the newest observed profile."""
    model: str | None = None
    """Model asked for on the command line; None: what the client would pick."""
    prompt: str | None = None
    """New user message that follows the resume; None: none is sent yet."""
    gates: tuple[tuple[str, bool], ...] = ()

    def gate(self, name: str) -> bool:
        """Whether a named gate is on (default off)."""
        return dict(self.gates).get(name, False)


@dataclass(frozen=True, slots=True)
class Restored:
    """Which ways of resuming bring a fact back."""

    normal: bool = False
    fork: bool = False
    path: bool = False
    switch: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the runtime state. `known` False: the transcript does not record it; `value` is then None or says what is missing."""

    name: str
    value: Any
    known: bool = True
    rows: tuple[str, ...] = ()
    restored: Restored = Restored()
    note: str = ""
    """One sentence for a person, where the value alone is not plain."""


@dataclass(slots=True)
class StateMessage:
    """One message as the provider would get it, with the row of each block."""

    role: str
    content: str | list[Any]
    rows: list[str]
    """Ref of the row that each block came from (one entry for string content). Several blocks may share a row."""
    riders: list[tuple[int, str]] = field(default_factory=list)
    """(block number, ref) of rows whose text was written into the block of another row."""


@dataclass(frozen=True, slots=True)
class AddedRow:
    """A row that the resume itself would write: `+1`, `+2`, …"""

    ref: str
    why: str
    """continuation | sentinel | interrupted-result | notification | prompt"""
    value: dict[str, Any]
    parent: str | None = None
    """Ref of the row that it hangs from."""


@dataclass(slots=True)
class RuntimeState:
    """What the client would hold, ready to be sent. With `refused` set there are no messages."""

    client: str
    version: str
    """Version of the profile that was simulated."""
    model: str | None
    dialect: str
    messages: list[StateMessage] = field(default_factory=list)
    added: list[AddedRow] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)
    branch: list[str] = field(default_factory=list)
    """Refs of the rows on the continued branch, oldest first (recovered siblings included), before clean-up."""
    leaf: str | None = None
    rehung: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Ref of a row -> (ref of the parent that the client takes instead of the written one, why: bridge | preserved)."""
    facts_from: Callable[[], list[Fact]] = list
    """Works the facts out: they are wanted on pages and in answers, not where only a verdict is."""
    _facts: list[Fact] | None = None
    refused: str | None = None
    around: dict[str, Any] | None = None
    """What stands around the messages in the body, where the transcript itself has the body's form."""
    paused: bool = False
    """Refused because the run waits for a person's answer: it is not broken."""
    answered: frozenset[str] = frozenset()
    """Calls without a result that the resume itself answers before it asks the model: by running them, or with a person's rejection."""
    added_at_send: list[str] = field(default_factory=list)
    system: list[str] | None = None
    """System prompt that the transcript itself would inject, where it does."""
    system_row: str | None = None
    """Row that holds it."""
    runs_first: list[dict[str, Any]] | None = None
    """Frameworks only: tasks that would run again before the request (`name`, `id`, `status`, `calls`, `row`)."""
    finished: bool = False
    """Frameworks only: nothing is left to do, a resume without new input does nothing (a workflow that is done is refused as well)."""
    tools: list[Any] | None = None
    """Tool schemas of the last recorded request, where recorded."""

    @property
    def facts(self) -> list[Fact]:
        """The facts of this state, worked out when first asked for."""
        if self._facts is None:
            self._facts = self.facts_from()
        return self._facts
