"""The few exceptions of core. Each says what, where and what to do next, in one line."""

from __future__ import annotations

from .source import Span


class CoreError(Exception):
    """Base: `message` for a person, `span` where it happened (or None), `hint` what to do next."""

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint

    def __str__(self) -> str:
        where = f" (part {self.span.part}, byte {self.span.start})" if self.span else ""
        return f"{self.message}{where}" + (f". {self.hint}" if self.hint else "")


class ReadError(CoreError):
    """The bytes can't be read as a session."""


class PlanError(CoreError):
    """A repair or a fork can't be planned as asked."""


class ApplyError(CoreError):
    """A plan no longer fits the bytes that it was made for."""


class PolicyError(CoreError):
    """A text is no policy of effects. `where` is a JSON pointer to what is wrong in it, blank for the whole."""

    def __init__(self, message: str, where: str, hint: str) -> None:
        super().__init__(message, None, hint)
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {super().__str__()}" if self.where else super().__str__()
