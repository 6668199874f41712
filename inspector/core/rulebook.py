"""All rules in repair order (order is meaning), and `diagnose`."""

from __future__ import annotations

from types import ModuleType

from .findings import Finding
from .inspection import Inspection

RULES: tuple[ModuleType, ...] = ()
"""Bytes first, then rows, chain, messages, calls, provider limits: a later step must not hide an earlier loss."""


def diagnose(inspection: Inspection) -> list[Finding]:
    """Findings of every rule, in rule order."""
    return [finding for rule in RULES for finding in rule.find(inspection)]
