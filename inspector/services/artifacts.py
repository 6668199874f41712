"""Write and erase stored bytes so that the store and the database agree, whatever fails in between."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import tempfile
from collections.abc import Iterable
from functools import partial

from django.core.files.base import File
from django.core.files.storage import storages
from django.db import transaction

from inspector.capture import frames
from inspector.core.source import Part
from inspector.models import Artifact
from inspector.queries import artifacts as stored
from inspector.queries import derivation

log = logging.getLogger(__name__)
IN_MEMORY = 8 << 20


class Incoming:
    """Bytes on their way into the store. Used as a context: when it is left by an error, every file that it wrote is gone.

    `save` must run inside the one that also makes the rows that use the artifacts.
    """

    def __init__(self) -> None:
        self._written: dict[str, Artifact] = {}
        self._parts: dict[str, Part] = {}
        self._ours: set[str] = set()

    def __enter__(self) -> Incoming:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for sha256, artifact in self._written.items():
            if kind is not None or sha256 not in self._ours:
                delete_file(artifact.key)

    def missing(self, hashes: dict[str, Part]) -> list[str]:
        """Note the parts (by SHA-256) that will be used; returns those whose bytes the store does not have yet."""
        self._parts |= hashes
        known = set(Artifact.objects.filter(pk__in=list(hashes)).values_list("pk", flat=True))
        return [sha256 for sha256 in hashes if sha256 not in known]

    def write(self, sha256s: Iterable[str]) -> None:
        """Write the bytes of noted parts. Uses no database connection: it may run in a thread. Raises OSError, ReadError."""
        for sha256 in sha256s:
            self._write(sha256)

    def _write(self, sha256: str) -> None:
        part = self._parts[sha256]
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as packed:
            table = frames.pack(part.data, packed)
            size = packed.tell()
            packed.seek(0)
            key = storages["artifacts"].save(f"{sha256[:2]}/{sha256}-{secrets.token_hex(4)}.zst", File(packed))
        self._written[sha256] = Artifact(sha256=sha256, size=len(part.data), stored_size=size, key=key, frames=table)

    def save(self) -> None:
        """Make the artifact rows. Where another writer was first, its bytes are used and ours go."""
        wanted = list(self._parts)
        Artifact.objects.bulk_create(self._written.values(), ignore_conflicts=True)
        # Locked until the commit: an eraser waits, and then sees that they are used.
        there = dict(Artifact.objects.select_for_update().filter(pk__in=wanted).values_list("pk", "key"))
        for sha256 in set(wanted) - there.keys():  # erased since `write` looked
            self._write(sha256)
            self._written[sha256].save(force_insert=True)
            there[sha256] = self._written[sha256].key
        self._ours = {sha256 for sha256, artifact in self._written.items() if there[sha256] == artifact.key}


def delete_file(key: str) -> None:
    """Delete a stored file; one that can't be deleted is left for `verify_store` to report."""
    with contextlib.suppress(FileNotFoundError):
        try:
            storages["artifacts"].delete(key)
        except OSError:
            log.exception("a stored file could not be deleted: %s", key)


def erase_unused(sha256s: Iterable[str]) -> int:
    """Erase those of the artifacts that no revision uses any more; returns their stored bytes. The files go when the transaction commits."""
    wanted = list(set(sha256s))
    list(Artifact.objects.select_for_update().filter(pk__in=wanted).values_list("pk", flat=True))
    unused = list(Artifact.objects.filter(pk__in=wanted, uses__isnull=True))
    Artifact.objects.filter(pk__in=[artifact.pk for artifact in unused]).delete()
    for artifact in unused:
        transaction.on_commit(partial(delete_file, artifact.key))
    transaction.on_commit(stored.forget)
    transaction.on_commit(derivation.forget)
    return sum(artifact.stored_size for artifact in unused)


def hashed(parts: Iterable[Part]) -> list[tuple[str, Part]]:
    """(SHA-256, part) in order."""
    return [(part.sha256(), part) for part in parts]


def digest_of(hashes: Iterable[tuple[str, Part]]) -> str:
    """One hash over names and bytes of all parts."""
    return hashlib.sha256("\n".join(f"{sha256} {part.name}" for sha256, part in hashes).encode("utf-8", "surrogatepass")).hexdigest()
