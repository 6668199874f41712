"""A provider rule that a request breaks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`rule` is the stable id of a provider rule (A1, R3, G2); `pointer` the place in the body; `rows` the rows behind it."""

    rule: str
    pointer: str
    rows: tuple[str, ...]
    message: str
    blocking: bool = True
    """False for rules that no look-up confirmed: a warning, never a reason to refuse."""
    call: str | None = None
    """Id of the call that lacks its result, for a problem of that kind."""


CODE_OF: dict[str, str] = {
    "A1": "unresolved-call",
    "A2": "orphan-result",
    "A3": "duplicate-call-id",
    "A4": "duplicate-result",
    "A5": "result-not-adjacent",
    "A6": "content-after-call",
    "A7": "thinking-edited",
    "A8": "thinking-only",
    "A9": "thinking-missing",
    "A10": "thinking-unsigned",
    "A11": "empty-text",
    "A12": "stored-cache-control",
    "A13": "assistant-tail",
    "A14": "trailing-space",
    "A15": "oversized-image",
    "A16": "long-tool-name",
    "A17": "bad-tool-input",
    "A18": "lone-surrogate",
    "A19": "split-server-tool-pair",
    "A22": "malformed-request",
    "R0": "malformed-request",
    "R1": "unresolved-call",
    "R2": "unresolved-call",
    "R3": "orphan-result",
    "R5": "orphan-reasoning",
    "R6": "orphan-reasoning",
    "R7": "duplicate-item-id",
    "R11": "malformed-request",
    "R13": "malformed-request",
    "R14": "malformed-request",
    "R16": "truncated-arguments",
    "R17": "duplicate-call-id",
    "R18": "duplicate-result",
    "L1": "unresolved-call",
    "L2": "orphan-result",
    "L3": "duplicate-result",
    **dict.fromkeys(("F1", "F2", "F3", "F4", "F5", "F6"), "transcript-undecodable"),
    "F7": "unresolved-call",
    "F8": "orphan-result",
    "F9": "duplicate-call-id",
    "F10": "duplicate-result",
}
"""Provider rule -> code of the finding that its problems become, and of its help page. A20 and A21 permit; nothing breaks them."""
