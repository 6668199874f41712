"""Artifact: bytes by SHA-256, written once, kept through Django's Storage API as zstd frames that end at row ends."""

from __future__ import annotations

from django.db import models


class Artifact(models.Model):
    """Bytes that one or more revisions use. Written once and never changed; erased when the last revision that uses them goes."""

    class Codec(models.TextChoices):
        ZSTD_FRAMES = "zstd-frames", "zstd frames that end at row ends"

    sha256 = models.CharField(max_length=64, primary_key=True)
    """Hex SHA-256 of the bytes as imported."""
    size = models.BigIntegerField(db_index=True)
    """Bytes as imported."""
    stored_size = models.BigIntegerField()
    codec = models.CharField(max_length=16, choices=Codec.choices, default=Codec.ZSTD_FRAMES)
    key = models.CharField(max_length=120, unique=True)
    """Name in the `artifacts` storage. Holds a random part, so that a writer that loses a race never deletes the winner's file."""
    frames = models.BinaryField()
    """Frame table: for each frame two little-endian uint64, the end of its bytes as imported and the end of its bytes as stored."""
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256
