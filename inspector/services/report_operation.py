"""Report that something may have been done of which no row and no application tells: the gate waits for it like for any other."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from inspector.core.canonical import digest
from inspector.core.effects import policy_version
from inspector.models import Operation, Session
from inspector.models.roles import HANDLE
from inspector.models.text import clean
from inspector.queries import ledger

from .append_audit import append_audit
from .permit import permit
from .register_run import run_of
from .rejudge import rejudge


def report_operation(*, session: Session, actor: AbstractBaseUser, tool: str, what: str, target: str = "") -> Operation:
    """The uncertain operation. Raises PermissionDenied, ValidationError without a word on what may have happened."""
    permit(actor, HANDLE)
    tool, what = clean(tool.strip(), 200) or "unknown tool", clean(what.strip(), 2000)
    if not what:
        raise ValidationError("Say what may have happened, and why you think so.")
    now = timezone.now()
    with transaction.atomic():
        run = run_of(session)
        key = "reported-" + digest([run.pk, tool, what, now.isoformat()])[:20]
        operation = Operation(
            run=run, origin=Operation.Origin.REPORTED, key=key, intent=key, client=session.client, tool=tool, target_text=clean(target.strip(), 2000),
            target_kind="http-service", effect="unknown", why_effect="reported by a person", policy=policy_version(ledger.policy()),
            state=Operation.State.UNCERTAIN, proposer=actor, reason=what, send_by=max(session.last_activity or now, now),
        )  # fmt: skip
        operation.digest = ledger.digest_of(operation)
        operation.save(force_insert=True)
        operation.sessions.add(session, *_forks(session))
        append_audit(
            actor=actor, action="operation-reported", session=session.pk,
            details={"operation": key, "tool": tool, "to": operation.state, "run": run.pk, "target": operation.target_text},
        )  # fmt: skip
    rejudge(operation)
    return operation


def _forks(session: Session) -> list[Session]:
    """Forks of it, and of these: nobody knows whether it was before they were made."""
    found = list(Session.objects.filter(parent=session, relation=Session.Relation.FORK))
    return [each for fork in found for each in (fork, *_forks(fork))]
