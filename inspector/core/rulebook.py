"""All rules in repair order (order is meaning), and `diagnose`."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from .findings import Finding, Severity
from .inspection import Inspection
from .rules import (
    lone_surrogate,
    missing_final_newline,
    non_object_row,
    nul_block,
    spliced_lines,
    truncated_tail,
    unparseable_row,
)

RULES: tuple[ModuleType, ...] = (
    truncated_tail,
    spliced_lines,
    nul_block,
    unparseable_row,
    non_object_row,
    lone_surrogate,
    missing_final_newline,
)
"""Bytes first, then rows, chain, messages, calls, runtime state, provider limits, and last the problems of the derived request: a later
step must not hide an earlier loss."""

ORDER = tuple(Severity)


def diagnose(inspection: Inspection) -> list[Finding]:
    """Findings of every rule, in rule order. A problem of the request that a rule has already named makes that finding no second one,
    but as severe as the problem is."""
    found: list[Finding] = []
    named: dict[tuple[str, str], int] = {}
    for rule in RULES:
        for finding in rule.find(inspection):
            same = {named[finding.code, row] for row in finding.rows if (finding.code, row) in named} if rule is request_problems else set()
            for number in same:
                found[number] = replace(found[number], severity=min(found[number].severity, finding.severity, key=ORDER.index))
            if same:
                continue
            named.update(((finding.code, row), len(found)) for row in finding.rows)
            found.append(finding)
    return found


PAGES: dict[str, str] = {code: rule.__doc__ or "" for rule in RULES for code in rule.CODES}
"""Help page (markdown) of each code."""
