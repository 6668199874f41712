"""Vendored scripts are the published bytes: each has its hash, and no file is without one."""

from __future__ import annotations

import hashlib
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"


def test_every_vendored_file_has_the_hash_that_is_written_down() -> None:
    lists = list(VENDOR.glob("*/SHA256SUMS"))
    assert lists
    written = {file.parent / name: digest for file in lists for digest, name in (line.split() for line in file.read_text().splitlines())}
    present = {file for file in VENDOR.rglob("*") if file.is_file() and file.name not in ("SHA256SUMS", "README.md")}
    assert written == {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in present}
