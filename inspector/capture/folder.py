"""A path on disk -> Source: a transcript file with its sibling folder, or a folder that holds one session."""

from __future__ import annotations

from pathlib import Path

from inspector.core.errors import ReadError
from inspector.core.source import Part, Source


def session_files(path: Path) -> list[Path]:
    """Main transcripts at `path`: the file itself, or the `*.jsonl` files directly in the folder."""
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(child for child in path.iterdir() if child.suffix == ".jsonl" and child.is_file())
    raise ReadError(f"{path}: no such file or folder", hint="Check the path")


def source_of(transcript: Path) -> Source:
    """The session of a main transcript: the file, and what lies in the folder named after it."""
    parts = [Part(transcript.name, transcript.read_bytes())]
    folder = transcript.with_suffix("")
    if folder.is_dir():
        files = sorted(child for child in folder.rglob("*") if child.is_file())
        parts += [Part(child.relative_to(folder.parent).as_posix(), child.read_bytes()) for child in files]
    return Source(transcript.name, tuple(parts))
