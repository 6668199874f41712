"""The file probe: it compares, it stays inside its folder, and it leaves every byte alone."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from inspector.core.calls import ABSENT
from inspector.probes import Expected, Reading, Template, file_hash, run, validate
from tests.probes.targets import tree


def sha(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


KNOWN = Expected(after=sha(b"after\n"), before=sha(b"before\n"))


def look(root: Path, path: str, expected: Expected = KNOWN) -> Reading:
    return run(Template("file", "file-hash", {"root": str(root)}, {"path": r"[\s\S]+"}), {"path": path}, expected)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_bytes(b"after\n")
    (tmp_path / "root" / "src").mkdir(parents=True)
    (tmp_path / "root" / "inside.txt").write_bytes(b"after\n")
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("content", "verdict"), [(b"after\n", "applied"), (b"before\n", "not-applied"), (b"else\n", "unclear"), (b"", "unclear"), (None, "unclear")]
)
def test_the_content_decides(root: Path, content: bytes | None, verdict: str) -> None:
    if content is not None:
        (root / "src/a b.py").write_bytes(content)
    was = tree(root)
    reading = look(root, "src/a b.py")
    assert reading.verdict == verdict
    assert tree(root) == was
    assert (sha(content) if content is not None else "absent") in reading.output.decode()
    assert reading.output_sha256 == sha(reading.output)
    assert "src/a b.py" in reading.looked_at


def test_no_file_is_how_it_was_before_a_call_that_makes_one(root: Path) -> None:
    made = Expected(after=sha(b"new\n"), before=ABSENT)
    for path in ("new.txt", "no/such/folder/new.txt"):
        assert look(root, path, made).verdict == "not-applied"
    (root / "new.txt").write_bytes(b"new\n")
    assert look(root, "new.txt", made).verdict == "applied"


def test_nothing_to_compare_with_and_a_call_without_effect_stay_unclear(root: Path) -> None:
    (root / "a").write_bytes(b"after\n")
    assert look(root, "a", Expected()).verdict == "unclear"
    assert look(root, "a", Expected(after=KNOWN.after, before=KNOWN.after)).verdict == "unclear"
    assert look(root, "a", Expected(after=KNOWN.after)).verdict == "applied"


def test_a_missing_root_is_no_answer(root: Path) -> None:
    gone = Template("file", "file-hash", {"root": str(root / "gone")}, {"path": ".+"})
    assert validate(gone) == [f"`root`: there is no folder {root / 'gone'}."]
    assert run(gone, {"path": "a"}, Expected(before=ABSENT)).verdict == "failed"


def test_links_are_followed_inside_and_never_out(root: Path) -> None:
    (root / "src/a").write_bytes(b"after\n")
    (root / "inner").symlink_to("src/a")
    (root / "outer").symlink_to(root.parent / "secret.txt")
    (root / "way").symlink_to(root.parent)
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to(root.parent / "nowhere")
    assert look(root, "inner").verdict == "applied"
    for path in ("outer", "way/secret.txt", "loop", "dangling"):
        reading = look(root, path, Expected(after=KNOWN.after, before=ABSENT))
        assert (reading.verdict, reading.output) == ("failed", b""), path


@pytest.mark.parametrize(
    "path", ["../secret.txt", "src/../inside.txt", "src/../../secret.txt", "/etc/hostname", "..", "src\\..\\x", "a\0b", "a\nb", "x" * 501, ""]
)
def test_hostile_paths_are_refused(root: Path, path: str) -> None:
    reading = look(root, path, Expected(after=KNOWN.after, before=ABSENT))
    assert reading.verdict == "failed"
    assert KNOWN.after not in (reading.says, reading.output.decode())


def test_a_link_put_in_between_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the path and the opening are two moments: the second must not follow what the first did not see."""
    (root / "src/a").write_bytes(b"before\n")
    real = os.path.realpath

    def swapped(path: str, **how: bool) -> str:
        found = real(path, **how)
        if found.endswith("/a"):
            (root / "src/a").unlink()
            (root / "src/a").symlink_to(root.parent / "secret.txt")
        return found

    monkeypatch.setattr(file_hash.os.path, "realpath", swapped)
    assert look(root, "src/a").verdict == "failed"


def test_a_pipe_a_folder_and_a_huge_file_are_not_read(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with open(root / "huge", "wb") as stream:
        stream.truncate(file_hash.LARGEST + 1)
    for path in ("pipe", "src", ".", "huge"):
        reading = look(root, path, Expected(after=KNOWN.after, before=ABSENT))
        assert (reading.verdict, reading.output) == ("unclear", b""), path


def test_a_file_that_grows_while_it_is_read_is_no_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "log").write_bytes(b"before\n")
    real = os.read

    def grown(handle: int, size: int) -> bytes:
        piece = real(handle, size)
        if not piece:
            with open(root / "log", "ab") as stream:
                stream.write(b"more")
        return piece

    monkeypatch.setattr(file_hash.os, "read", grown)
    assert look(root, "log").verdict == "failed"
