"""Outside bytes become Sources: by name and place, whatever they come in, and nothing unsafe gets through."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from inspector.capture import archive, folder, layout, live
from inspector.capture.limits import LimitError, Limits, Refused, check_rows
from inspector.core.errors import ReadError
from tests.shell.sessions import OTHER, PARTS_OF_OTHER, PARTS_OF_SID, SID, packed, transcript, uploaded, write_home


def names(candidate: layout.Candidate) -> list[str]:
    return list(candidate.source().names())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_home(tmp_path)


@pytest.mark.parametrize("place", [".", "projects", "projects/-home-dev-shop"])
def test_a_home_a_tree_and_a_project_give_each_session_its_own_parts(home: Path, place: str) -> None:
    found = {candidate.id: candidate for candidate in folder.candidates(home / place)}
    assert set(found) == {SID, OTHER}
    assert names(found[SID]) == PARTS_OF_SID
    assert names(found[OTHER]) == PARTS_OF_OTHER
    assert {candidate.slug for candidate in found.values()} == {"-home-dev-shop"}


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_an_archive_gives_the_same_as_the_folder(home: Path, kind: str) -> None:
    with archive.tree_of(packed(home, kind), "home") as tree:
        found = {candidate.id: candidate for candidate in layout.sessions_of(tree)}
        assert {sid: names(candidate) for sid, candidate in found.items()} == {SID: PARTS_OF_SID, OTHER: PARTS_OF_OTHER}
        source = found[SID].source()
        assert [bytes(part.data[0 : len(part.data)]) for part in source.parts] == [
            bytes(part.data[0 : len(part.data)]) for part in folder.source_of(home / f"projects/-home-dev-shop/{SID}.jsonl").parts
        ]


def test_one_file_brings_what_the_home_keeps_for_it(home: Path) -> None:
    source = folder.source_of(home / f"projects/-home-dev-shop/{SID}.jsonl")
    assert list(source.names()) == PARTS_OF_SID
    assert source.hints == {"slug": "-home-dev-shop"}


def test_a_session_folder_is_one_session(tmp_path: Path) -> None:
    (tmp_path / SID / "subagents").mkdir(parents=True)
    (tmp_path / f"{SID}.jsonl").write_bytes(transcript())
    (tmp_path / SID / "subagents" / "agent-a.jsonl").write_bytes(transcript())
    (found,) = folder.candidates(tmp_path)
    assert names(found) == [f"{SID}.jsonl", f"{SID}/subagents/agent-a.jsonl"]


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{SID}.jsonl").write_bytes(transcript())
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "in" / SID).mkdir()
    (tmp_path / "in" / SID / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "in" / SID / "folder").symlink_to(tmp_path, target_is_directory=True)
    assert names(folder.candidates(tmp_path / "in")[0]) == [f"{SID}.jsonl"]


def test_a_dropped_folder_comes_with_its_paths() -> None:
    found = uploaded((f"shop/{SID}.jsonl", transcript()), (f"shop/{SID}/tool-results/t.txt", b"x"), ("shop/readme.txt", b"y"))
    assert [names(candidate) for candidate in found] == [[f"{SID}.jsonl", f"{SID}/tool-results/t.txt"]]


def test_a_single_file_of_any_name_is_a_session_and_a_folder_without_transcripts_is_none(tmp_path: Path) -> None:
    assert [candidate.name for candidate in uploaded(("notes.txt", b"hello"))] == ["notes.txt"]
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ReadError, match="no transcript"):
        folder.candidates(tmp_path)


def test_a_registry_entry_counts_as_live_only_while_its_process_runs(home: Path) -> None:
    assert live.running([{"pid": 2**22 + 1, "sessionId": OTHER}]) is None
    assert "still runs" in str(live.running([{"pid": os.getpid(), "sessionId": OTHER}]))
    entry = home / "sessions" / f"{os.getpid()}.json"
    entry.write_text(f'{{"pid": {os.getpid()}, "sessionId": "{SID}"}}')
    assert "still runs" in folder.source_of(home / f"projects/-home-dev-shop/{SID}.jsonl").hints["live"]


@pytest.mark.parametrize("name", ["../evil.jsonl", "/etc/evil.jsonl", "a/../../evil.jsonl", "..\\evil.jsonl", "C:\\evil.jsonl", ""])
def test_names_that_climb_out_refuse_the_whole_archive(name: str) -> None:
    with pytest.raises(Refused, match="unsafe name"):
        archive.safe_name(name, Limits())
    if name:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as made:
            for member in (f"{SID}.jsonl", name):
                info = tarfile.TarInfo(member)
                info.size = 2
                made.addfile(info, io.BytesIO(b"{}"))
        with pytest.raises(Refused, match="unsafe name"):
            archive.tree_of(out, "evil.tar")


def test_links_and_devices_in_an_archive_are_left_out() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        info = tarfile.TarInfo(f"{SID}.jsonl")
        info.size = len(transcript())
        made.addfile(info, io.BytesIO(transcript()))
        for number, kind in enumerate((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)):
            link = tarfile.TarInfo(f"{SID}/member{number}")
            link.type, link.linkname = kind, "/etc/passwd"
            made.addfile(link)
    with archive.tree_of(out, "links.tar") as tree:
        assert list(tree.files) == [f"{SID}.jsonl"]
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as packed_zip:
        packed_zip.writestr(f"{SID}.jsonl", transcript())
        symlink = zipfile.ZipInfo(f"{SID}/link")
        symlink.external_attr = 0o120777 << 16
        packed_zip.writestr(symlink, "/etc/passwd")
    with archive.tree_of(zipped, "links.zip") as tree:
        assert list(tree.files) == [f"{SID}.jsonl"]


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_bomb_is_stopped_by_its_ratio_long_before_it_is_unpacked(tmp_path: Path, kind: str) -> None:
    (tmp_path / "bomb").mkdir()
    (tmp_path / "bomb" / f"{SID}.jsonl").write_bytes(b"\0" * 60_000_000)
    with pytest.raises(LimitError) as caught:
        archive.tree_of(packed(tmp_path / "bomb", kind), f"bomb.{kind}", Limits(bytes=1 << 40))
    assert caught.value.limit == "compression_ratio"


def test_a_zip_that_lies_about_sizes_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(f"{SID}.jsonl", transcript(turns=50))
    lying = bytearray(out.getvalue())
    at = lying.rfind(b"PK\x01\x02") + 24
    lying[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(Refused, match="can't be read"):
        archive.tree_of(io.BytesIO(bytes(lying)), "lying.zip")


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_a_cut_archive_is_refused_in_one_line(home: Path, kind: str) -> None:
    whole = packed(home, kind).getvalue()
    with pytest.raises(ReadError) as caught:
        archive.tree_of(io.BytesIO(whole[: len(whole) // 2]), f"cut.{kind}")
    assert "\n" not in str(caught.value) and "cut." in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (Limits(bytes=1000), "bytes"),
        (Limits(members=3), "members"),
        (Limits(nesting=2), "nesting"),
    ],
)
def test_the_limits_of_trees_name_themselves(home: Path, limits: Limits, limit: str) -> None:
    for kind in ("zip", "tar", "tar.gz"):
        with pytest.raises(LimitError, match=f"Over the limit {limit}") as caught:
            archive.tree_of(packed(home, kind), "home", limits)
        assert caught.value.limit == limit and f"INSPECTOR_LIMIT_{limit.upper()}" in str(caught.value)
    if limit != "bytes":  # for folders the import itself asks, once the sessions are chosen
        with pytest.raises(LimitError, match=f"Over the limit {limit}"):
            folder.candidates(home, limits)
    else:
        assert folder.tree_of(home).size > 1000


@pytest.mark.parametrize("data", [transcript(turns=20), b"x" * 3_000_000, b"\n" * 50, b"a\n" + b"y" * 2_500_000 + b"\nb"])
def test_rows_and_their_length_are_counted_exactly(data: bytes) -> None:
    longest = max(map(len, data.split(b"\n"))) + (b"\n" in data)
    check_rows(Limits(rows=data.count(b"\n"), row_bytes=longest), "x", data)
    if data.count(b"\n"):
        with pytest.raises(LimitError, match="limit rows"):
            check_rows(Limits(rows=data.count(b"\n") - 1), "x", data)
    with pytest.raises(LimitError, match="limit row_bytes"):
        check_rows(Limits(row_bytes=longest - 2), "x", data)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("keep", [0, 1, 4, 9])
def test_a_spoiled_member_refuses_the_archive(packing: int, keep: int) -> None:
    """Whatever a member is packed with: its damage is said, and never a crash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive_file:
        archive_file.writestr("a.jsonl", transcript())
        at = archive_file.infolist()[0].header_offset + 30 + len("a.jsonl") + keep
    data = bytearray(packed.getvalue())
    data[at : at + 12] = b"\xff" * 12
    with pytest.raises(Refused):
        archive.tree_of(io.BytesIO(bytes(data)), "a.zip")
