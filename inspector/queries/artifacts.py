"""Stored bytes -> the Source that they were imported from."""

from __future__ import annotations

from functools import lru_cache

from django.core.files.storage import storages

from inspector.capture.frames import FramedBytes
from inspector.capture.layout import place_of, slug_of
from inspector.core.source import Buffer, Part, Source
from inspector.models import Artifact, Revision, RevisionPart

WHOLE = 1 << 20
"""Artifacts up to this size are held as bytes, so that no file stays open for them."""


def open_artifact(artifact: Artifact) -> Buffer:
    """The bytes of an artifact. Raises OSError when the store does not have them, ReadError when they are damaged."""
    data = FramedBytes(storages["artifacts"].open(artifact.key, "rb"), artifact.frames)
    if artifact.size > WHOLE:
        return data
    try:
        return data[0 : len(data)]
    finally:
        data.close()


@lru_cache(maxsize=32)
def _held(sha256: str) -> Buffer:
    return open_artifact(Artifact.objects.get(pk=sha256))


def part_bytes(*, revision: Revision, number: int) -> Buffer:
    """The bytes of one part; opened parts are held, because pages of the same session ask again and again. Raises RevisionPart.DoesNotExist."""
    return _held(revision.parts.values_list("artifact_id", flat=True).get(number=number))


def forget() -> None:
    """Drop the opened parts that are held: after an artifact was erased."""
    _held.cache_clear()


def source_of(revision: Revision) -> Source:
    """The Source of a revision, as it was imported or made, byte for byte."""
    parts = revision.parts.select_related("artifact").order_by("number")
    return Source(revision.session.name, tuple(Part(part.name, open_artifact(part.artifact)) for part in parts), dict(revision.hints))


def files_of(revision: Revision) -> list[tuple[str, RevisionPart]]:
    """(path in the client's home, part) of what is handed out, main transcript first; a registry entry is not."""
    slug = revision.session.slug or slug_of(revision.session.folder)
    parts = revision.parts.select_related("artifact").order_by("number")
    return [(place, part) for part in parts if (place := place_of(part.name, slug))]
