"""Is what is stored still what was brought in? Artifacts against their hashes, row indexes against the bytes, files against the database."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import zip_longest

from django.core.files.storage import Storage, storages
from django.utils import timezone

from inspector.core.errors import ReadError
from inspector.core.source import Part
from inspector.models import Artifact, IndexedRow, Revision

from .artifacts import open_artifact
from .derivation import Derivation
from .indexing import COLUMNS, rows_of


def artifact_fault(artifact: Artifact) -> str:
    """What is wrong with an artifact's stored bytes, or blank. Reads all of them."""
    try:
        data = open_artifact(artifact)
        if len(data) != artifact.size:
            return f"its frame table says {len(data)} bytes, its entry {artifact.size}"
        if Part(artifact.pk, data).sha256() != artifact.pk:
            return "its bytes have another hash"
    except FileNotFoundError:
        return "its file is missing"
    except (OSError, ReadError, ValueError, IndexError) as error:
        return str(error)
    return ""


def index_fault(revision: Revision, derivation: Derivation) -> str:
    """The first row in which the stored index differs from a new derivation, or blank."""
    stored = IndexedRow.objects.filter(revision=revision).order_by("seq").values_list(*COLUMNS).iterator(chunk_size=2000)
    for kept, made in zip_longest(stored, rows_of(derivation)):
        if kept is None or made is None:
            return "it has another number of rows"
        if tuple(kept) != tuple(made):
            name = next(name for name, old, new in zip(COLUMNS, kept, made, strict=True) if old != new)
            return f"row {kept[1]}:{kept[2]} differs in {name}"
    return ""


def stray_files(*, older_than: timedelta) -> Iterator[tuple[str, bool]]:
    """(name, whether it is older) of stored files that no artifact names: what a killed import left behind, or one that is going on."""
    storage = storages["artifacts"]
    known = set(Artifact.objects.values_list("key", flat=True))
    limit = timezone.now() - older_than
    for name in _files(storage, ""):
        if name not in known:
            yield name, _modified(storage, name) < limit


def _modified(storage: Storage, name: str) -> datetime:
    at: datetime = storage.get_modified_time(name)
    return at if timezone.is_aware(at) else timezone.make_aware(at)


def _files(storage: Storage, folder: str) -> Iterator[str]:
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (posixpath.join(folder, file) for file in files)
    for inner in folders:
        yield from _files(storage, posixpath.join(folder, inner))
