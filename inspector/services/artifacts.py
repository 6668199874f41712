"""Write and erase stored bytes so that the store and the database agree, whatever fails in between."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import tempfile
from collections.abc import Collection, Iterable
from functools import partial

from django.core.files.base import File
from django.core.files.storage import storages
from django.db import transaction

from inspector.capture import frames
from inspector.core.errors import ReadError
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

    def take(self, parts: Iterable[Part], known: Collection[str] = ()) -> list[tuple[str, Part]]:
        """Write the bytes of the parts, but for those that the store has already; returns (SHA-256, part) in order.

        Uses no database connection: it may run in a thread. Raises OSError; ReadError when a part changes while it is read.
        """
        taken = []
        for part in parts:
            sha256 = part.sha256() if known else None
            if sha256 is None or sha256 not in known:
                sha256 = self._write(part, sha256)
            self._parts[sha256] = part
            taken.append((sha256, part))
        return taken

    def _write(self, part: Part, expected: str | None = None) -> str:
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as packed:
            table, sha256 = frames.pack(part.data, packed)
            if expected not in (None, sha256):
                raise ReadError(f"{part.name} changed while it was read", hint="Import it again")
            if sha256 not in self._written:
                size = packed.tell()
                packed.seek(0)
                key = storages["artifacts"].save(f"{sha256[:2]}/{sha256}-{secrets.token_hex(4)}.zst", File(packed))
                self._written[sha256] = Artifact(sha256=sha256, size=len(part.data), stored_size=size, key=key, frames=table)
        return sha256

    def save(self) -> None:
        """Make the artifact rows. Where another writer was first, its bytes are used and ours go."""
        wanted = list(self._parts)
        Artifact.objects.bulk_create(self._written.values(), ignore_conflicts=True)
        # Locked until the commit: an eraser waits, and then sees that they are used.
        there = dict(Artifact.objects.select_for_update().filter(pk__in=wanted).values_list("pk", "key"))
        for sha256 in set(wanted) - there.keys():  # erased since we looked
            self._write(self._parts[sha256], sha256)
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


def kept(sha256s: Iterable[str]) -> set[str]:
    """Those of the hashes whose bytes the store has."""
    return set(Artifact.objects.filter(pk__in=list(sha256s)).values_list("pk", flat=True))


def digest_of(hashes: Iterable[tuple[str, Part]]) -> str:
    """One hash over names and bytes of all parts."""
    return hashlib.sha256("\n".join(f"{sha256} {part.name}" for sha256, part in hashes).encode("utf-8", "surrogatepass")).hexdigest()
