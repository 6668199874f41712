"""Deleting needs a permission and a reason; bytes go when nobody else uses them; the audit entry stays."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from inspector.models import Artifact, AuditEntry, Finding, IndexedRow, Revision, RevisionPart, Session
from inspector.queries import artifacts, derivation
from inspector.services.delete_session import apply_retention, delete_session
from tests.shell.sessions import OTHER, SID, bring, bring_bytes, transcript, write_home
from tests.shell.test_export import repaired

pytestmark = pytest.mark.django_db(transaction=True)


def stored(data_dir: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((data_dir / "artifacts").rglob("*")) if path.is_file())


def test_rows_and_bytes_of_all_revisions_go_and_the_entry_stays(owner: User, data_dir: Path) -> None:
    session = repaired(bring_bytes(transcript()).revision, actor=owner).session
    derivation.inspection_of(revision=session.current)
    artifacts.part_bytes(revision=session.current, number=0)
    assert stored(data_dir)
    pk = session.pk
    freed = delete_session(session=session, actor=owner, reason="  customer asked, ticket 7 ")
    assert freed > 0 and stored(data_dir) == b""
    assert not any(table.objects.exists() for table in (Session, Revision, RevisionPart, IndexedRow, Finding, Artifact))
    entry = AuditEntry.objects.order_by("-seq")[0]
    said = json.loads(entry.body)
    assert (entry.action, entry.session, entry.actor) == ("session-deleted", pk, "owner")
    assert said["details"]["reason"] == "customer asked, ticket 7" and said["details"]["native_id"] == SID
    assert artifacts._held.cache_info().currsize == 0 and not derivation._held._kept


def test_bytes_that_another_session_uses_stay(owner: User, data_dir: Path) -> None:
    first, second = bring_bytes(transcript()).session, bring_bytes(transcript(), name=f"{OTHER}.jsonl").session
    before = stored(data_dir)
    assert delete_session(session=first, actor=owner, reason="one of two") == 0
    assert stored(data_dir) == before and artifacts.source_of(second.current).parts[0].data[0:] == transcript()
    assert delete_session(session=second, actor=owner, reason="the other") > 0
    assert stored(data_dir) == b""


def test_sub_agents_go_with_their_session_and_forks_stay(owner: User, tmp_path: Path, data_dir: Path) -> None:
    bring(write_home(tmp_path))
    session = Session.objects.get(native_id=SID)
    fork = bring_bytes(transcript(turns=5), name="77777777-2222-4333-8444-555555555555.jsonl").session
    Session.objects.filter(pk=fork.pk).update(parent=session, relation="fork")
    delete_session(session=session, actor=owner, reason="gone")
    assert set(Session.objects.filter(parent=None).values_list("native_id", flat=True)) == {OTHER, fork.native_id}
    assert Session.objects.filter(relation="sub-agent").exclude(parent__native_id=OTHER).count() == 0


@pytest.mark.parametrize("reason", ["", "   "])
def test_without_a_reason_nothing_is_deleted(owner: User, reason: str) -> None:
    session = bring_bytes(transcript()).session
    with pytest.raises(ValidationError):
        delete_session(session=session, actor=owner, reason=reason)
    assert Session.objects.exists()


def test_a_stranger_deletes_nothing(stranger: User) -> None:
    session = bring_bytes(transcript()).session
    with pytest.raises(PermissionDenied):
        delete_session(session=session, actor=stranger, reason="because")
    assert Session.objects.exists()


def test_retention_deletes_what_is_older_than_the_setting_and_what_killed_imports_left(settings: Any, data_dir: Path) -> None:
    old, new = bring_bytes(transcript()).session, bring_bytes(transcript(turns=4), name=f"{OTHER}.jsonl").session
    now = timezone.now()
    Session.objects.filter(pk=old.pk).update(created=now - timedelta(days=31))
    cut = Session.objects.create(name="cut.jsonl", source_kind="file")
    Session.objects.filter(pk=cut.pk).update(created=now - timedelta(days=2))
    Session.objects.create(name="going-on.jsonl", source_kind="file")
    settings.RETENTION_DAYS = 0
    assert apply_retention() == 1 and set(Session.objects.values_list("name", flat=True)) == {old.name, new.name, "going-on.jsonl"}
    settings.RETENTION_DAYS = 30
    assert apply_retention() == 1 and set(Session.objects.values_list("name", flat=True)) == {new.name, "going-on.jsonl"}
    assert AuditEntry.objects.order_by("-seq")[0].action == "session-expired"


def test_every_import_first_deletes_what_is_past_its_time(settings: Any) -> None:
    old = bring_bytes(transcript()).session
    Session.objects.filter(pk=old.pk).update(created=timezone.now() - timedelta(days=8))
    settings.RETENTION_DAYS = 7
    new = bring_bytes(transcript()).session  # the same bytes: they come in anew and are kept
    assert list(Session.objects.values_list("pk", flat=True)) == [new.pk] and new.pk != old.pk
    assert artifacts.source_of(new.current).parts[0].data[0:] == transcript()
