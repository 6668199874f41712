"""verify_store finds what is wrong with stored bytes, row indexes, files and the audit chain, and mends the index from the bytes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from inspector.models import Artifact, AuditEntry, Finding, IndexedRow, Revision, Session
from inspector.services.append_audit import append_audit
from tests.shell.sessions import DAMAGED, OTHER, SID, bring, bring_bytes, transcript, write_home
from tests.shell.test_audit_trail import guard_off
from tests.shell.test_export import repaired

pytestmark = pytest.mark.django_db


def verify(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    try:
        call_command("verify_store")
    except SystemExit as left:
        return int(str(left.code)), capsys.readouterr().out
    return 0, capsys.readouterr().out


def stored_file(data_dir: Path) -> Path:
    return next(path for path in (data_dir / "artifacts").rglob("*") if path.is_file())


def test_a_good_store_is_good(tmp_path: Path, owner: User, capsys: pytest.CaptureFixture[str]) -> None:
    bring(write_home(tmp_path))
    for name, data in DAMAGED.items():
        bring_bytes(data, name=f"{name}.jsonl")
    repaired(Session.objects.get(native_id=SID, name=f"{SID}.jsonl").current, actor=owner)  # type: ignore[arg-type]
    code, said = verify(capsys)
    assert (code, f"{Artifact.objects.count()} artifacts, 0 damaged" in said) == (0, True)
    assert f"{Revision.objects.count()} row indexes, 0 differed" in said and "the chain is whole" in said


@pytest.mark.parametrize("where", [10, -10])
def test_a_changed_byte_of_a_stored_file_is_found(data_dir: Path, where: int, capsys: pytest.CaptureFixture[str]) -> None:
    bring_bytes(transcript(turns=50))
    file = stored_file(data_dir)
    data = bytearray(file.read_bytes())
    data[where] ^= 1
    file.write_bytes(data)
    code, said = verify(capsys)
    assert code == 1 and f"artifact {Artifact.objects.get().pk}: " in said and "1 artifacts, 1 damaged" in said


def test_a_file_that_holds_other_bytes_of_the_same_shape_is_found(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bring_bytes(transcript(turns=5))
    other = bring_bytes(transcript(turns=5).replace(b"done", b"gone"), name=f"{OTHER}.jsonl").revision.parts.get().artifact
    mine = Artifact.objects.exclude(pk=other.pk).get()
    Artifact.objects.filter(pk=mine.pk).update(frames=other.frames)
    files = {path.name[:64]: path for path in (data_dir / "artifacts").rglob("*") if path.is_file()}
    files[mine.pk].write_bytes(files[other.pk].read_bytes())
    code, said = verify(capsys)
    assert code == 1 and f"artifact {mine.pk}: its bytes have another hash" in said


def test_a_missing_file_is_found(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bring_bytes(transcript())
    stored_file(data_dir).unlink()
    code, said = verify(capsys)
    assert code == 1 and "its file is missing" in said


@pytest.mark.parametrize("damage", ["row changed", "row gone", "row added"])
def test_an_index_that_differs_is_said_and_written_anew_from_the_bytes(damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    revision = bring_bytes(DAMAGED["spliced"]).revision
    before = list(IndexedRow.objects.values_list()), list(Finding.objects.values_list("code", "rows")), revision.counts
    rows = IndexedRow.objects.filter(revision=revision)
    if damage == "row changed":
        rows.filter(seq=1).update(pointers="/messages/99")
    elif damage == "row gone":
        rows.filter(seq=rows.count() - 1).delete()
    else:
        IndexedRow.objects.create(revision=revision, seq=999, part=0, idx=999, start=0, end=0, kind="message", type="user")
    code, said = verify(capsys)
    assert code == 1 and "the index was written anew" in said and ("row 0:1 differs in pointers" in said) == (damage == "row changed")
    revision.refresh_from_db()
    assert (list(IndexedRow.objects.values_list()), list(Finding.objects.values_list("code", "rows")), revision.counts) == before
    assert AuditEntry.objects.order_by("-seq")[0].action == "index-rebuilt"
    assert verify(capsys)[0] == 0


def test_a_file_that_no_artifact_names_is_removed_when_it_is_old(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bring_bytes(transcript())
    kept = stored_file(data_dir)
    young, old = kept.with_name("young.zst"), kept.with_name("old.zst")
    young.write_bytes(b"x")
    old.write_bytes(b"x")
    os.utime(old, (time.time() - 2 * 86400,) * 2)
    code, said = verify(capsys)
    assert code == 1 and "old.zst: no artifact names it; removed" in said and "young.zst: no artifact names it; left" in said
    assert (kept.exists(), young.exists(), old.exists()) == (True, True, False)


def test_a_broken_chain_names_its_first_bad_entry(owner: User, capsys: pytest.CaptureFixture[str]) -> None:
    entry = [append_audit(actor=owner, action="looked") for _ in range(3)][1]
    with guard_off():
        AuditEntry.objects.filter(pk=entry.pk).update(actor="nobody")
    code, said = verify(capsys)
    assert code == 1 and f"audit entry {entry.seq}, the first that does not fit: its field actor was changed" in said
