"""Edits of a repair: small values that become splices. Bytes that no edit names stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class InsertRow:
    """New line(s) after row `row` (or before the first row of part 0 when None). `data` ends with a newline."""

    row: str | None
    data: bytes
    ref: str = ""
    """`+1`, `+2`, … as shown on the review page."""
    kind: str = "insert-row"


@dataclass(frozen=True, slots=True)
class ReplaceRow:
    """The row's bytes become `data` (newline included where the row had one)."""

    row: str
    data: bytes
    kind: str = "replace-row"


@dataclass(frozen=True, slots=True)
class DropRow:
    """The row's bytes are left out of the new revision."""

    row: str
    kind: str = "drop-row"


@dataclass(frozen=True, slots=True)
class CutBytes:
    """Bytes `start` to `end`, counted from the row's first byte, are left out."""

    row: str
    start: int
    end: int
    kind: str = "cut-bytes"


@dataclass(frozen=True, slots=True)
class SplitRow:
    """A newline goes in at each offset of `at`, counted from the row's first byte."""

    row: str
    at: tuple[int, ...]
    kind: str = "split-row"


Edit = InsertRow | ReplaceRow | DropRow | CutBytes | SplitRow


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan: a finding, what is done about it, why, and what else a person may choose."""

    id: str
    finding: str
    rows: tuple[str, ...]
    edits: tuple[Edit, ...]
    why: str
    choices: tuple[str, ...] = ()
    chosen: str | None = None
    waits_for: str | None = None
    """Key of the uncertain operation that this step's text depends on."""
    details: dict[str, str] = field(default_factory=dict)
