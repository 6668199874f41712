"""The audit trail: entries of a session or of all, and whether the chain is whole."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from inspector.models import AuditEntry, Operation


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """Result of `verify_chain`: `bad` is the `seq` of the first entry that is wrong, or None; `why` says what is wrong with it."""

    entries: int
    bad: int | None = None
    why: str = ""


def digest(prev: str, body: str) -> str:
    """Hash of an entry: SHA-256 of the hash before, a newline and the body."""
    return hashlib.sha256(f"{prev}\n{body}".encode()).hexdigest()


def head() -> AuditEntry | None:
    """The newest entry: its hash stands for the whole trail before it."""
    return AuditEntry.objects.order_by("-seq").first()


def entries(*, session: int | None = None, before: int | None = None) -> QuerySet[AuditEntry]:
    """Entries, newest first; of one session where it is named, older than entry `before` where that is named."""
    found = AuditEntry.objects.order_by("-seq")
    if session is not None:
        found = found.filter(session=session)
    return found if before is None else found.filter(seq__lt=before)


def of_operation(operation: Operation) -> QuerySet[AuditEntry]:
    """Entries about one operation, newest first: those of its session, or made before its run had one, whose details name its key."""
    named = json.dumps(operation.key, ensure_ascii=False)
    return AuditEntry.objects.filter(Q(session=operation.run.session_id) | Q(session=None), body__contains=named).order_by("-seq")


def ticket_of(session: int, fence: int) -> tuple[AuditEntry, dict[str, Any]] | None:
    """The entry that allowed to resume a session under a lease, and its details; None where there is none."""
    for entry in AuditEntry.objects.filter(session=session, action="resume-allowed", body__contains=f'"fence":{fence},').order_by("-seq"):
        details = json.loads(entry.body)["details"]
        if details.get("fence") == fence:
            return entry, details
    return None


def verify_chain() -> ChainCheck:
    """Follow the chain from its first entry; stops at the first one that does not fit. A cut-off end can't be seen from inside."""
    prev, seq, count = "0" * 64, 1, 0
    for entry in AuditEntry.objects.order_by("seq").iterator():
        why = _fault(entry, seq, prev)
        if why:
            return ChainCheck(count, entry.seq, why)
        prev, seq, count = entry.hash, entry.seq + 1, count + 1
    return ChainCheck(count)


def _fault(entry: AuditEntry, seq: int, prev: str) -> str:
    if entry.seq != seq:
        return f"entry {seq} is missing"
    if entry.prev != prev:
        return "does not follow the entry before it"
    if entry.hash != digest(entry.prev, entry.body):
        return "its text was changed"
    body = json.loads(entry.body)
    shown = {"seq": entry.seq, "at": entry.at.isoformat(), "actor": entry.actor, "action": entry.action, "session": entry.session}
    return next((f"its field {name} was changed" for name, value in shown.items() if body.get(name) != value), "")
