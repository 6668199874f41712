"""What may come in, at most: one value with every limit, and the error that names the one that was passed."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.core.errors import ReadError
from inspector.core.source import Buffer

SLICE = 256 << 10


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of one import. Bytes are counted unpacked. The settings (`LIMITS`) have the same keys."""

    bytes: int = 2_000_000_000
    """All files of one import together."""
    rows: int = 2_000_000
    """Lines of one transcript."""
    row_bytes: int = 64_000_000
    """One line."""
    members: int = 20_000
    """Files of one import."""
    compression_ratio: int = 200
    """Unpacked bytes per packed byte of an archive member, once it is larger than 1 MiB."""
    nesting: int = 32
    """Depth of folders."""


class LimitError(ReadError):
    """A limit was passed. `limit` is the field of `Limits`."""

    def __init__(self, limit: str, what: str, found: int, allowed: int) -> None:
        super().__init__(
            f"Over the limit {limit}: {what} has {found:,}, allowed are {allowed:,}",
            hint=f"If you trust the source, raise INSPECTOR_LIMIT_{limit.upper()}",
        )
        self.limit = limit


class Refused(ReadError):
    """The source is not safe to take in: a name that climbs out, an encrypted or broken archive. Nothing of it is kept."""


def check(limits: Limits, limit: str, what: str, found: int) -> None:
    """Raise LimitError when `found` is over the named limit."""
    allowed: int = getattr(limits, limit)
    if found > allowed:
        raise LimitError(limit, what, found, allowed)


def check_rows(limits: Limits, name: str, data: Buffer) -> None:
    """Raise LimitError when a transcript has too many lines or one that is too long. One pass over slices; keeps nothing."""
    rows = begin = 0
    for base in range(0, len(data), SLICE):
        chunk = data[base : base + SLICE]
        at = 0
        # `find` and not `count`, which looks at each byte on its own.
        while cut := chunk.find(b"\n", at) + 1:
            if base + cut - begin > limits.row_bytes:
                check(limits, "row_bytes", f"a line of {name}", base + cut - begin)
            rows, begin, at = rows + 1, base + cut, cut
        check(limits, "rows", name, rows)
        check(limits, "row_bytes", f"a line of {name}", base + len(chunk) - begin)
