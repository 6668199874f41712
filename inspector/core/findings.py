"""Findings are values: what a rule saw, how bad it is, where, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Worst first."""

    FATAL = "fatal"
    """The client would not resume."""
    ERROR = "error"
    """The provider would refuse, history would be lost, or something may have happened in the world."""
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. `code` is stable (one help page each); `rows` are refs."""

    code: str
    severity: Severity
    rows: tuple[str, ...]
    message: str
    repairable: bool = False
    operation: str | None = None
    """Key of the operation that it is about, where there is one."""


def above_info(findings: list[Finding]) -> list[Finding]:
    """Those that are worse than a note."""
    return [finding for finding in findings if finding.severity is not Severity.INFO]
