"""The whole pure flow on one page: Source -> Session -> RuntimeState -> Request, joined with screen and operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import reading
from .kept import Kept
from .operations import Operation, operations_of
from .policy import BUILT_IN, Policy
from .recorded import RecordedRequest
from .request import Request, derive
from .screen import ScreenItem
from .session import Row, Session
from .source import Source
from .state import ResumeAs, RuntimeState


@dataclass(slots=True)
class Inspection:
    """A session in its four forms. Findings are added by `rulebook.diagnose`."""

    session: Session
    resume_as: ResumeAs
    state: RuntimeState
    request: Request | None
    operations: list[Operation]
    recorded: RecordedRequest | None
    policy: Policy = BUILT_IN
    """By which the effects of the operations were judged."""
    kept: tuple[Kept, ...] = ()
    """What the kept ledger said of the operations."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What rules work out once and share (`index.of`)."""
    shown: list[ScreenItem] | None = field(default=None, repr=False)
    """The screen, once it was asked for."""

    @property
    def screen(self) -> list[ScreenItem]:
        """What a person saw. Worked out when first asked for, because it parses every row that shows something."""
        if self.shown is None:
            self.shown = reading.CLIENTS[self.session.client].screen(self.session)
        return self.shown

    def operations_open(self) -> list[str]:
        """Keys of the operations of which nobody knows whether they happened."""
        return [operation.key for operation in self.operations if operation.state == "uncertain"]

    def row(self, ref: str) -> Row:
        return self.session.row(ref)


def inspect(
    source: Source, resume_as: ResumeAs = ResumeAs(), client: str | None = None, policy: Policy = BUILT_IN, kept: tuple[Kept, ...] = ()
) -> Inspection:
    """Read a source and derive what a resume would do. Raises ReadError for bytes that no reader takes."""
    session = reading.read(source, client)
    reader = reading.CLIENTS[session.client]
    state = reader.resume(session, resume_as)
    return Inspection(
        session=session,
        resume_as=resume_as,
        state=state,
        request=derive(state),
        operations=operations_of(session, state, reader.calls(session), reader.arguments, policy, kept),
        recorded=reader.recorded_request(session, state),
        policy=policy,
        kept=kept,
    )
