"""Hand out a revision: its exact bytes, in the folder layout that the client expects, with the command that resumes it."""

from __future__ import annotations

import hashlib
import shlex
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.capture.store_export import exported as file_of
from inspector.core import reading
from inspector.core.jsonspans import lines
from inspector.core.masking import mask_bytes
from inspector.core.source import Part, Source
from inspector.models import Revision, RevisionPart
from inspector.models.roles import HANDLE
from inspector.queries.artifacts import files_of, open_artifact, source_of

from .append_audit import append_audit
from .permit import permit

CHUNK = 1 << 20
OLDEST = (1980, 1, 1, 0, 0, 0)
"""Time of every zip member: the same revision gives the same zip, but for its comment, which names the audit entry of the export."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was handed out. `sha256` and `size` are those of the main transcript as it was written; `files` are paths in the client's home."""

    name: str
    sha256: str
    size: int
    files: tuple[str, ...]
    masked: bool
    resume: str
    """Shell command that resumes the session once the files lie in the client's home folder; blank where no client is known for it."""
    audit: str
    """Number and hash of the trail's newest entry, which is that of this export: kept elsewhere, it shows later if the trail was cut or rewritten."""


def export_zip(*, revision: Revision, actor: AbstractBaseUser | None, mask_secrets: bool = False) -> tuple[Exported, IO[bytes]]:
    """A zip in a temporary file, at its start, to be unpacked into the client's home folder. Raises PermissionDenied, OSError, ReadError."""
    permit(actor, HANDLE)
    out = tempfile.TemporaryFile()
    try:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
            written = []
            for place, part in _places(revision, mask_secrets):
                member = zipfile.ZipInfo(place, OLDEST)
                member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                with packed.open(member, "w", force_zip64=len(part.data) > 1 << 30) as stream:
                    written.append((place, *_copy(part, stream, mask_secrets)))
            exported = _said(revision, written, mask_secrets, actor)
            packed.comment = f"Audit trail: {exported.audit}".encode()
    except BaseException:
        out.close()
        raise
    out.seek(0)
    return exported, out


def export_file(*, revision: Revision, path: Path, actor: AbstractBaseUser | None, mask_secrets: bool = False) -> Exported:
    """The main transcript alone, to a path that must not exist.

    Raises PermissionDenied, FileExistsError, OSError, ReadError; then no file is left.
    """
    permit(actor, HANDLE)
    place, part = _places(revision, mask_secrets)[0]
    with _fresh(path) as stream:
        written = [(place, *_copy(part, stream, mask_secrets))]
    return _said(revision, written, mask_secrets, actor)


def export_folder(*, revision: Revision, path: Path, actor: AbstractBaseUser | None, mask_secrets: bool = False) -> Exported:
    """All files below a folder laid out as the client's home; no file in it is ever replaced.

    Raises PermissionDenied, FileExistsError, OSError, ReadError.
    """
    permit(actor, HANDLE)
    places = _places(revision, mask_secrets)
    taken = next((path / place for place, _ in places if (path / place).exists()), None)
    if taken:
        raise FileExistsError(f"{taken} exists already; nothing was written")
    with ExitStack() as made:
        written = []
        for place, part in places:
            (path / place).parent.mkdir(parents=True, exist_ok=True)
            stream = made.enter_context(_fresh(path / place))
            written.append((place, *_copy(part, stream, mask_secrets)))
            stream.close()
    return _said(revision, written, mask_secrets, actor)


def export_part(*, revision: Revision, number: int, actor: AbstractBaseUser | None) -> tuple[RevisionPart, Iterator[bytes]]:
    """One file as stored, and its exact bytes in pieces. Raises PermissionDenied, RevisionPart.DoesNotExist, OSError, ReadError."""
    permit(actor, HANDLE)
    found = next((part for _, part in files_of(revision) if part.number == number), None)
    if found is None:
        raise RevisionPart.DoesNotExist
    pieces = _plain(Part(found.name, open_artifact(found.artifact)))
    details = {"revision": revision.number, "part": number, "sha256": found.artifact_id, "size": found.artifact.size, "files": 1, "masked": False}
    with transaction.atomic():
        append_audit(actor=actor, action="session-exported", session=revision.session_id, details=details)
    return found, pieces


@contextmanager
def _fresh(path: Path) -> Iterator[IO[bytes]]:
    """A file opened only if there is none; removed again when the work on it, or on those after it, fails."""
    with path.open("xb") as stream:
        try:
            yield stream
        except BaseException:
            path.unlink()
            raise


def _places(revision: Revision, masked: bool) -> list[tuple[str, Part]]:
    """(path in the client's home, part), main transcript first. A thread of a store is one file that its framework loads; masked, it is only to be
    read, and stays in lines."""
    made = file_of(source_of(revision)) if "store" in revision.hints and not masked else None
    if made is not None:
        return [(made[0], Part(*made))]
    return [(place, Part(part.name, open_artifact(part.artifact))) for place, part in files_of(revision)]


def _copy(part: Part, out: IO[bytes], mask_secrets: bool) -> tuple[str, int]:
    """Write a part; returns SHA-256 and size of what was written."""
    digest, size = hashlib.sha256(), 0
    for chunk in _masked(part) if mask_secrets else _plain(part):
        out.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _plain(part: Part) -> Iterator[bytes]:
    for start in range(0, len(part.data), CHUNK):
        yield part.data[start : start + CHUNK]


def _masked(part: Part) -> Iterator[bytes]:
    # A transcript's secret lies within its line; in other files a private key goes over many.
    if part.name.endswith(".jsonl"):
        for _, _, line in lines(part.data):
            yield mask_bytes(line)
        return
    data = bytes(part.data[0 : len(part.data)])
    source = Source(part.name, (Part(part.name, data),))
    document = reading.read(source).documents.get(0) if reading.sniff(source) != "raw" else None
    if document is not None and document.whole:  # a secret may stand in a value that is stored as base64
        masked = {number: mask_bytes(piece.body) for number, piece in enumerate(document.pieces) if piece.kind in ("member", "element")}
        data, _ = document.rebuilt({number: body for number, body in masked.items() if body != document.pieces[number].body}, {})
    yield mask_bytes(data)


def _said(revision: Revision, written: list[tuple[str, str, int]], masked: bool, actor: AbstractBaseUser | None) -> Exported:
    """What was handed out, and its audit entry."""
    place, sha256, size = written[0]
    details = {"revision": revision.number, "sha256": sha256, "size": size, "files": len(written), "masked": masked}
    with transaction.atomic():
        entry = append_audit(actor=actor, action="session-exported", session=revision.session_id, details=details)
    names = tuple(name for name, _, _ in written)
    return Exported(place.rpartition("/")[2], sha256, size, names, masked, resume_command(revision), f"entry {entry.seq}, {entry.hash}")


def resume_command(revision: Revision) -> str:
    """The shell command that resumes a revision's session, or blank."""
    session = revision.session
    if session.client != "claude-code" or not session.native_id:
        return ""
    command = f"claude --resume {shlex.quote(session.native_id)}"
    return f"cd {shlex.quote(session.folder)} && {command}" if session.folder else command
