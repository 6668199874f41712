"""Judge again what a new policy touches: sessions, and the open operations of the ledger. Nothing is settled by it.

An operation that nobody knows the end of stays so, whatever class it gets: it may have run while it was judged a change, and only people settle it.
Where the new policy says that it only reads, that is kept as evidence, with which two persons can say “No longer needed”.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.urls import reverse

from inspector.core.canonical import digest
from inspector.core.effects import Effect, EffectClass, effect_of, policy_version
from inspector.core.errors import CoreError
from inspector.core.inspection import Inspection
from inspector.core.policy import Policy
from inspector.core.targets import kind_of
from inspector.models import Evidence, Operation, Session, Target
from inspector.models.clock import DatabaseNow
from inspector.models.text import clean
from inspector.queries import ledger
from inspector.queries.derivation import inspection_of
from inspector.queries.policies import touched_sessions

from .append_audit import append_audit
from .rejudge import rejudge_session
from .sync_ledger import KEY, sync_ledger

log = logging.getLogger(__name__)
State, Origin = Operation.State, Operation.Origin


@dataclass(slots=True)
class Applied:
    """What judging again came to."""

    sessions: int = 0
    judged: list[str] = field(default_factory=list)
    """Keys of open operations whose class or reason is another one now."""
    reads: list[str] = field(default_factory=list)
    """Of those, the ones that nobody knows the end of and that only read by the new policy: they stay open."""
    found: int = 0
    """Operations that are uncertain now and were none of a person's business before."""
    failed: list[int] = field(default_factory=list)
    """Sessions whose bytes could not be read: they keep what was said of them."""
    left: int = 0
    """Sessions for which there was no time: `manage.py judge_again` goes on. The gate does not let them pass meanwhile."""


def apply_policy(*, before: Policy, after: Policy, actor: AbstractBaseUser | None, seconds: float | None = None) -> Applied:
    """Judge again, for at most so many seconds. Each session is a transaction of its own; one entry of the trail says what came of all."""
    done, began = Applied(), time.monotonic()
    _registered(after, actor, done)
    for session in touched_sessions(before, after):
        if seconds is not None and time.monotonic() - began > seconds:
            done.left += 1
            continue
        try:
            _session(session, after, actor, done)
        except (CoreError, OSError):
            log.exception("session %s could not be judged again", session.pk)
            done.failed.append(session.pk)
    with transaction.atomic():
        details = {
            "policy": after.version, "sessions": done.sessions, "operations": done.judged, "read_only": done.reads, "newly_uncertain": done.found,
            "failed": done.failed, "left": done.left,
        }  # fmt: skip
        append_audit(actor=actor, action="policy-applied", details=details)
    return done


def _registered(policy: Policy, actor: AbstractBaseUser | None, done: Applied) -> None:
    """Operations that applications registered: an approver is shown the new class. An approval that was given already counts no more."""
    live = Operation.objects.filter(origin=Origin.LIVE, state__in=(State.PROPOSED, State.UNCERTAIN)).select_related("target", "run__session")
    for operation in live:
        effect = effect_of(operation.client, operation.tool, operation.arguments, policy)
        with transaction.atomic():
            _judge(operation, effect, operation.target, policy, actor, done)


def _session(session: Session, policy: Policy, actor: AbstractBaseUser | None, done: Applied) -> None:
    revision = session.current
    if revision is None:
        return
    revision.session = session
    inspection = inspection_of(revision=revision).inspection
    with transaction.atomic():
        waiting = list(session.ledger.filter(origin=Origin.RECORDED, state=State.UNCERTAIN).select_related("target", "run__session"))
        sync_ledger(session=session, revision=revision, inspection=inspection, actor=actor)
        done.found += session.ledger.filter(origin=Origin.RECORDED, state=State.UNCERTAIN).exclude(pk__in=[each.pk for each in waiting]).count()
        _recorded(waiting, inspection, policy, actor, done)
        rejudge_session(session)
    done.sessions += 1


def _recorded(waiting: list[Operation], inspection: Inspection, policy: Policy, actor: AbstractBaseUser | None, done: Applied) -> None:
    kept = {each.key: each for each in waiting}
    calls = {each.call_id for each in waiting}
    targets = {each.name: each for each in Target.objects.filter(active=True)} if waiting else {}
    for derived in inspection.operations if waiting else ():
        operation = kept.get(clean(derived.key, KEY)) if (derived.call_id or "") in calls else None
        if operation is not None:
            effect = Effect(EffectClass(derived.effect), derived.why_effect)
            _judge(operation, effect, targets.get(derived.declared_target), policy, actor, done)


def _judge(
    operation: Operation, effect: Effect, target: Target | None, policy: Policy, actor: AbstractBaseUser | None, done: Applied
) -> None:  # fmt: skip
    """Write class, reason and target as they are now, if nobody moved the operation meanwhile."""
    name, why = str(effect.name), clean(effect.why)
    before = operation.effect
    other = (before, operation.why_effect, operation.target) != (name, why, target)
    lowered = operation.state == State.UNCERTAIN and effect.name is EffectClass.READ_ONLY and before != name
    kind = kind_of(operation.tool, name, operation.arguments, operation.client, target.kind if target else "")
    changes: dict[str, Any] = {"effect": name, "why_effect": why, "target": target, "target_kind": kind, "policy": clean(policy_version(policy), 80)}
    for field_name, value in changes.items():
        setattr(operation, field_name, value)
    changes["digest"] = ledger.digest_of(operation, policy.version)
    if not Operation.objects.filter(pk=operation.pk, state=operation.state).update(changed=DatabaseNow(), **changes) or not other:
        return
    done.judged.append(operation.key)
    said = {"operation": operation.key, "tool": operation.tool, "policy": policy.version, "effect": [before, name], "why": why}
    append_audit(actor=actor, action="operation-judged", session=operation.run.session_id, details=said)
    if lowered:
        done.reads.append(operation.key)
        Evidence.objects.create(
            operation=operation, kind=Evidence.Kind.LINK, by=actor, url=reverse("policy-version", args=[policy.version]),
            says=f"Policy version {policy.version} says that it only reads: {why}.", sha256=digest(policy.to_json()),
        )  # fmt: skip
