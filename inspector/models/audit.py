"""AuditEntry: what was done, by whom; append-only and hash-chained, kept so by triggers of both databases."""

from __future__ import annotations

from django.db import models


class AuditEntry(models.Model):
    """One deed. `hash` is the SHA-256 of `prev`, a newline and `body`; each entry's `prev` is the hash of the one before.

    The table is made by the migrations but not "managed": a flush of the database leaves the trail alone.
    """

    seq = models.BigIntegerField(primary_key=True)
    prev = models.CharField(max_length=64, unique=True)
    """Hash of the entry before; 64 zeros for the first. Unique: the chain can't branch."""
    hash = models.CharField(max_length=64, unique=True)
    body = models.TextField()
    """Canonical JSON (sorted keys, no spaces): `seq`, `at`, `actor`, `action`, `session`, `details`. The only field that the hash covers."""
    at = models.DateTimeField()
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    session = models.BigIntegerField(null=True, db_index=True)
    """Number of the session that it is about; no foreign key, because the entry outlives the session."""

    class Meta:
        managed = False
        db_table = "inspector_auditentry"
        ordering = ["seq"]

    def __str__(self) -> str:
        return f"{self.seq} {self.actor} {self.action}"
