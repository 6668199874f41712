"""The audit trail can only grow: both databases refuse changes, and a change made around them is found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from inspector.models import AuditEntry
from inspector.queries import audit
from inspector.services.append_audit import append_audit

pytestmark = pytest.mark.django_db


@pytest.fixture
def entries(owner: User) -> list[AuditEntry]:
    return [append_audit(actor=owner, action="looked", session=7, details={"n": number, "text": "ü\0\ud800"}) for number in range(4)]


def test_entries_follow_each_other_and_the_chain_is_whole(entries: list[AuditEntry]) -> None:
    assert [entry.prev for entry in entries[1:]] == [entry.hash for entry in entries[:-1]]
    assert [entry.seq for entry in entries] == list(range(entries[0].seq, entries[0].seq + 4))
    check = audit.verify_chain()
    assert check.bad is None and check.entries == AuditEntry.objects.count() >= 4
    assert list(audit.entries(session=7, before=entries[2].seq))[:2] == [entries[1], entries[0]]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE inspector_auditentry SET actor = 'nobody'",
        "UPDATE inspector_auditentry SET body = body WHERE seq = (SELECT max(seq) FROM inspector_auditentry)",
        "DELETE FROM inspector_auditentry",
        "TRUNCATE inspector_auditentry",
    ],
)
def test_the_database_itself_refuses_changes(entries: list[AuditEntry], statement: str) -> None:
    if statement.startswith("TRUNCATE") and connection.vendor != "postgresql":
        statement = "REPLACE INTO inspector_auditentry SELECT seq, prev, hash, '{}', at, 'x', action, session FROM inspector_auditentry"
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert audit.verify_chain().bad is None


@contextmanager
def guard_off() -> Iterator[None]:
    """What somebody with full rights on the database could do."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE inspector_auditentry DISABLE TRIGGER USER")
        else:
            kept = cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'inspector_auditentry'").fetchall()
            for name, _ in kept:
                cursor.execute(f"DROP TRIGGER {name}")
    yield
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE inspector_auditentry ENABLE TRIGGER USER")
        else:
            for _, sql in kept:
                cursor.execute(sql)


@pytest.mark.parametrize(
    ("change", "which", "why"),
    [
        ({"body": '{"actor":"owner"}'}, 1, "its text was changed"),
        ({"actor": "nobody"}, 2, "its field actor was changed"),
        ({"action": "deleted"}, 0, "its field action was changed"),
        ({"session": None}, 3, "its field session was changed"),
        ({"hash": "f" * 64}, 2, "its text was changed"),
        ({"prev": "e" * 64}, 1, "does not follow the entry before it"),
    ],
)
def test_a_change_around_the_guard_names_the_first_bad_entry(entries: list[AuditEntry], change: dict[str, object], which: int, why: str) -> None:
    with guard_off():
        AuditEntry.objects.filter(pk=entries[which].pk).update(**change)
    check = audit.verify_chain()
    assert (check.bad, check.why) == (entries[which].seq, why)


def test_a_missing_entry_is_noticed(entries: list[AuditEntry]) -> None:
    with guard_off():
        AuditEntry.objects.filter(pk=entries[1].pk).delete()
    check = audit.verify_chain()
    assert (check.bad, check.why) == (entries[2].seq, f"entry {entries[1].seq} is missing")


@pytest.mark.django_db(transaction=True)
def test_an_entry_needs_the_transaction_of_its_deed() -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(RuntimeError, match="transaction of its deed"):
        append_audit(actor=None, action="looked")
    assert AuditEntry.objects.count() == before


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_make_one_chain() -> None:
    before = AuditEntry.objects.count()

    def write() -> None:
        try:
            for _ in range(5):
                with transaction.atomic():
                    append_audit(actor=None, action="raced")
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AuditEntry.objects.count() == before + 20 and audit.verify_chain().bad is None


@pytest.mark.django_db(transaction=True)
def test_a_flush_leaves_the_trail_alone() -> None:
    with transaction.atomic():
        entry = append_audit(actor=None, action="kept")
    call_command("flush", interactive=False, verbosity=0)
    assert AuditEntry.objects.filter(pk=entry.pk).exists()
