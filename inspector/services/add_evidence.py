"""Add evidence about an operation: a note, a link, or a file that is stored with its hash. It is never changed or deleted."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.core.validators import URLValidator
from django.db import transaction

from inspector.models import Evidence, Operation
from inspector.models.roles import HANDLE
from inspector.models.text import clean

from .append_audit import append_audit
from .permit import permit

LARGEST = 20_000_000
"""Bytes of a file."""
LONGEST = 10_000
"""Characters of a note."""
LONGEST_LINK = 2000
web_address = URLValidator(schemes=["http", "https"])


def add_evidence(*, operation: Operation, actor: AbstractBaseUser, says: str = "", url: str = "", file: File[bytes] | None = None) -> Evidence:
    """One piece of evidence: with `file` a file, with `url` a link, else a note. Raises PermissionDenied, ValidationError."""
    permit(actor, HANDLE)
    says, url = says.strip(), url.strip()
    if not (says or url or file):
        raise ValidationError("Evidence is missing: write what you looked at and what it showed, or give a link or a file.")
    if len(says) > LONGEST:
        raise ValidationError(f"The note has {len(says):,} characters; {LONGEST:,} are the limit. Attach a file instead.")
    if url:
        if len(url) > LONGEST_LINK:
            raise ValidationError(f"The link has {len(url):,} characters; {LONGEST_LINK:,} are the limit.")
        web_address(url)
    evidence = Evidence(operation=operation, kind=Evidence.Kind.TEXT, says=clean(says), url=clean(url), by=actor)
    if url:
        evidence.kind = Evidence.Kind.LINK
    if file is not None:
        if (file.size or 0) > LARGEST:
            raise ValidationError(f"The file has {file.size:,} bytes; {LARGEST:,} are the limit.")
        evidence.kind, evidence.file_name = Evidence.Kind.FILE, clean(file.name or "file", 255)
        hashed = hashlib.sha256()
        for chunk in file.chunks():
            hashed.update(chunk)
        evidence.sha256 = hashed.hexdigest()
        file.seek(0)
        evidence.file.save(f"{evidence.sha256}.bin", file, save=False)
    with transaction.atomic():
        evidence.save()
        append_audit(
            actor=actor, action="evidence-added", session=operation.run.session_id,
            details={"operation": operation.key, "evidence": evidence.pk, "kind": evidence.kind, "sha256": evidence.sha256},
        )  # fmt: skip
    return evidence
