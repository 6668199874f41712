"""Write one entry of the audit trail: called inside the transaction of the deed itself, so that neither exists without the other."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import connection, transaction
from django.utils import timezone

from inspector.core.canonical import canonical
from inspector.models import AuditEntry
from inspector.models.text import clean, clean_json
from inspector.queries.audit import digest

START = "0" * 64
LOCK = 0x61756469
"""Key of the PostgreSQL advisory lock that makes writers of the chain wait for each other; SQLite has one writer anyway."""


def lock_trail() -> None:
    """Write the trail alone until the transaction ends. Asked for before rows are locked that others lock too: so nobody waits in a circle."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def append_audit(*, actor: AbstractBaseUser | None, action: str, session: int | None = None, details: dict[str, Any] | None = None) -> AuditEntry:
    """Append an entry. `actor` None is the system itself; `details` is JSON without secrets. Must run inside a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("an audit entry belongs into the transaction of its deed")
    with transaction.atomic():
        lock_trail()
        last = AuditEntry.objects.order_by("-seq").values_list("seq", "hash").first()
        seq, prev = (last[0] + 1, last[1]) if last else (1, START)
        now = timezone.now()
        name = clean(actor.get_username(), 150) if actor else "system"
        body = canonical(
            {"seq": seq, "at": now.isoformat(), "actor": name, "action": action, "session": session, "details": clean_json(details or {})}
        )
        return AuditEntry.objects.create(seq=seq, prev=prev, hash=digest(prev, body), body=body, at=now, actor=name, action=action, session=session)
