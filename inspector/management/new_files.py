"""Files that a command writes: always new ones, never over an existing file."""

from __future__ import annotations

from pathlib import Path

from inspector.core.source import Buffer, Source

SLICE = 1 << 20


def free(paths: list[Path]) -> None:
    """Raises FileExistsError for the first path that is taken."""
    for path in paths:
        if path.exists() or path.is_symlink():
            raise FileExistsError(f"{path} exists already. Choose another place: nothing is ever written over")


def write(path: Path, data: Buffer) -> None:
    """Write one new file, its folders included. Raises FileExistsError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        for start in range(0, len(data), SLICE):
            file.write(data[start : start + SLICE])


def beside(source: Source, transcript: Path) -> dict[Path, Buffer]:
    """Where the parts in the session's own folder go when its transcript is written to `transcript`: into the folder of the same name."""
    stem = source.parts[0].name.rpartition("/")[2].removesuffix(".jsonl")
    inside = f"{stem}/"
    return {
        transcript.with_suffix("") / part.name.removeprefix(inside): part.data
        for part in source.parts[1:]
        if part.name.startswith(inside)
    }  # fmt: skip
