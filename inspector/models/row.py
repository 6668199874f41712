"""IndexedRow: one transcript row of a revision, light, with its fate in the default derivation.

A page of 200 rows is drawn from these and 200 byte slices; the whole index can be rebuilt from the artifacts.
"""

from __future__ import annotations

from django.db import models

from .revision import Revision


class IndexedRow(models.Model):
    """Text fields are cleaned of what PostgreSQL refuses: they are for showing and searching, never a source of bytes."""

    pk = models.CompositePrimaryKey("revision_id", "seq")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="indexed_rows", db_index=False)
    seq = models.PositiveIntegerField()
    """Place among the rows of all parts, from 0."""
    part = models.PositiveIntegerField()
    idx = models.PositiveIntegerField()
    """Row number within the part."""
    start = models.BigIntegerField()
    end = models.BigIntegerField()
    kind = models.CharField(max_length=10)
    type = models.CharField(max_length=80)
    uuid = models.CharField(max_length=80, blank=True)
    parent_uuid = models.CharField(max_length=80, blank=True)
    at = models.CharField(max_length=40, blank=True)
    """Timestamp as written."""
    role = models.CharField(max_length=20, blank=True)
    sidechain = models.BooleanField(default=False)
    damage = models.CharField(max_length=40, blank=True)
    faults = models.CharField(max_length=200, blank=True)
    """Space-separated oddities of a readable record's bytes."""
    blocks = models.CharField(max_length=200, blank=True)
    """Space-separated kinds of the message's content blocks."""
    calls = models.TextField(blank=True)
    """Ids of the calls made in the row, one a line."""
    results = models.TextField(blank=True)
    """Ids of the calls answered in the row, one a line."""
    tools = models.TextField(blank=True)
    """Names of the tools called, one a line."""
    on_branch = models.BooleanField(default=False)
    pointers = models.TextField(blank=True)
    """JSON pointers of the row's places in the request, one a line; blank where it has none."""
    stage = models.CharField(max_length=12, blank=True)
    """With `reason` and `because`: the row's Drop; blank where it has a place."""
    reason = models.CharField(max_length=40, blank=True)
    because = models.CharField(max_length=24, blank=True)
    screen_role = ""
    """Role of the first screen item; with `folded` and `preview` set by `queries.screen` from the row's bytes, never stored."""
    folded = False
    preview = ""

    class Meta:
        ordering = ["revision", "seq"]

    @property
    def ref(self) -> str:
        """The row's name in all four forms: `PART:ROW`."""
        return f"{self.part}:{self.idx}"

    def __str__(self) -> str:
        return self.ref
