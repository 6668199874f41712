"""Revision: one immutable state of a session's bytes, with where it came from and what was found in it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .artifact import Artifact
from .session import Session


class Revision(models.Model):
    """Number 1 is the import. A repair, a fork or a later import of the grown file adds the next one."""

    class Kind(models.TextChoices):
        IMPORTED = "imported", "Imported"
        REPAIRED = "repaired", "Repaired"
        FORKED = "forked", "Forked"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    """For a fork: the revision of the other session that it was made from."""
    kind = models.CharField(max_length=10, choices=Kind.choices)
    digest = models.CharField(max_length=64, db_index=True)
    """SHA-256 over names and hashes of all parts: the same digest is the same bytes under the same names."""
    hints = models.JSONField(default=dict)
    """The Source's hints (`slug`, `live`, …)."""
    plan = models.JSONField(null=True)
    """The plan as applied, for a repair or a fork."""
    lineage = models.JSONField(default=dict)
    """New ref -> ref in the parent revision."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    note = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    verdict = models.CharField(max_length=24, choices=Session.Verdict.choices, blank=True)
    summary = models.TextField(blank=True)
    profile = models.CharField(max_length=40, blank=True)
    """Client version whose behaviour was simulated for the stored row index."""
    leaf = models.CharField(max_length=24, blank=True)
    """Ref of the leaf that the resume continues."""
    refused = models.TextField(blank=True)
    """Why the client would not resume; blank where it would."""
    added = models.JSONField(default=list)
    """Rows that a resume would add: objects with `ref`, `why`, `parent`, `text`, `pointers`."""
    counts = models.JSONField(default=dict)
    """rows, messages, on_branch, reached, open_operations, fatal, errors, warnings, infos, size, problems, sent (messages of the next request)."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="revision_number")]
        ordering = ["session", "number"]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"


class RevisionPart(models.Model):
    """One named part of a revision. Part 0 is the main transcript."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=1000)
    """As in `core.source.Part`: relative, with `/`."""
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="uses")
    first_row = models.PositiveIntegerField(default=0)
    """`seq` of the part's row 0: ref `P:R` is the indexed row `first_row + R`."""
    rows = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "number"], name="part_number")]
        ordering = ["revision", "number"]

    def __str__(self) -> str:
        return self.name


class Finding(models.Model):
    """A finding of the default derivation, as `core.findings.Finding`, in rule order."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="findings")
    number = models.PositiveIntegerField()
    code = models.CharField(max_length=80)
    severity = models.CharField(max_length=10)
    rows = models.JSONField(default=list)
    message = models.TextField()
    repairable = models.BooleanField(default=False)
    operation = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["revision", "number"], name="finding_order"), models.Index(fields=["code"], name="finding_code")]
        ordering = ["revision", "number"]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
