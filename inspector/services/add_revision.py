"""Keep the result of a repair as a new revision, or of a fork as a new session. The base is never changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.core.source import Source
from inspector.models import Revision, Session
from inspector.models.text import clean
from inspector.queries import ledger
from inspector.queries.derivation import derive

from .append_audit import append_audit
from .artifacts import Incoming, kept
from .write_revision import write_revision


def add_revision(
    *, base: Revision, source: Source, plan: Any, lineage: dict[str, str], actor: AbstractBaseUser | None, note: str = "",
    details: dict[str, Any] | None = None,
) -> Revision:  # fmt: skip
    """The repaired `source` as the next revision of the base's session. `plan` is the plan as applied, as JSON; `lineage` new ref -> ref in base.

    `details` is what the audit entry says besides.
    """
    return _write(base.session, Revision.Kind.REPAIRED, base, source, plan, lineage, actor, note, details)


def add_fork(*, base: Revision, source: Source, plan: Any, lineage: dict[str, str], actor: AbstractBaseUser | None, note: str = "") -> Revision:
    """The forked `source` as revision 1 of a new session, which names the base's session as its parent."""
    origin = base.session
    name = source.hints.get("thread") or source.name
    session = Session(
        client=origin.client, native_id=clean(name.removesuffix(".jsonl"), 200), name=clean(name, 255), slug=origin.slug, imported_by=actor,
        source_kind=Session.SourceKind.FORK, parent=origin, relation=Session.Relation.FORK,
    )  # fmt: skip
    return _write(session, Revision.Kind.FORKED, base, source, plan, lineage, actor, note)


def _write(
    session: Session, kind: str, base: Revision, source: Source, plan: Any, lineage: dict[str, str], actor: AbstractBaseUser | None, note: str,
    more: dict[str, Any] | None = None,
) -> Revision:  # fmt: skip
    source = replace(source, hints={name: hint for name, hint in source.hints.items() if name != "live"})
    known = kept(part.sha256() for part in source.parts)
    with Incoming() as incoming:
        hashes = incoming.take(source.parts, known)
        derivation = derive(source=source, client=base.session.client, kept=ledger.kept_of(base.session))
        with transaction.atomic():
            incoming.save()
            if session.pk is None:
                session.save()
            else:
                # Whoever comes second waits here, and takes the next number.
                session = Session.objects.select_for_update().get(pk=session.pk)
            revision = write_revision(
                session=session, kind=kind, derivation=derivation, hashes=hashes, parent=base, plan=plan, lineage=lineage, author=actor, note=note
            )
            details = {"revision": revision.number, "base": [base.session_id, base.number], "sha256": hashes[0][0], "note": note}
            details |= more or {}
            append_audit(actor=actor, action=f"session-{kind}", session=session.pk, details=details)
    return revision
