"""Recorded cases that are kept in archives and unpacked when a test asks; what the real library said of each is in its `expected.json`."""

from __future__ import annotations

import functools
import json
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar


@functools.cache
def unpacked(archives: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder with what all archives in a folder hold; gone with the process."""
    folder = tempfile.TemporaryDirectory(prefix="recorded-")
    for archive in sorted(archives.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder.name, filter="data")
    return folder


@dataclass(frozen=True)
class Packed:
    """One recorded case: `name` of `system`, in one of the archives in `ARCHIVES`."""

    ARCHIVES: ClassVar[Path]
    system: str
    name: str

    @property
    def folder(self) -> Path:
        return Path(unpacked(self.ARCHIVES).name, self.system, self.name)

    @property
    def expected(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
        return found
