"""Write the row index and the findings of a revision anew from its bytes: after a change of the rules, or damage to the index."""

from __future__ import annotations

from django.db import transaction

from inspector.models import Finding, IndexedRow, Revision
from inspector.queries.derivation import Derivation

from .append_audit import append_audit
from .write_revision import write_derived


def rebuild_index(*, revision: Revision, derivation: Derivation, why: str) -> None:
    """Replace what was derived from a revision's bytes. The bytes, parts, plan and lineage stay as they are."""
    with transaction.atomic():
        IndexedRow.objects.filter(revision=revision).delete()
        Finding.objects.filter(revision=revision).delete()
        write_derived(revision, derivation)
        append_audit(actor=None, action="index-rebuilt", session=revision.session_id, details={"revision": revision.number, "why": why})
