"""Declare a target, or change what is declared of it: from then on its contract counts for operations on it."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from inspector.models import Target
from inspector.models.roles import ADMINISTER

from .append_audit import append_audit
from .permit import permit


def save_target(*, actor: AbstractBaseUser, target: Target) -> Target:
    """Save a new or changed target. Its name stays: rules and applications call it by that.

    Raises PermissionDenied, ValidationError with the field of what is wrong.
    """
    permit(actor, ADMINISTER)
    target.full_clean()
    before = Target.objects.filter(pk=target.pk).first() if target.pk else None
    if before is not None and before.name != target.name:
        raise ValidationError({"name": "The name of a target stays: rules and applications call it by this name. Declare another one."})
    if target.kind == Target.Kind.KEY and not target.key_valid_seconds:
        raise ValidationError({"key_valid_seconds": "Say how long it knows a key after it was first sent; its documentation does."})
    if target.kind != Target.Kind.KEY and target.key_valid_seconds:
        raise ValidationError({"key_valid_seconds": "Only a target of the kind that knows keys has this; else it is 0."})
    if target.probe is not None and not target.probe.active:
        raise ValidationError({"probe": "This probe is switched off."})
    with transaction.atomic():
        target.save()
        append_audit(actor=actor, action="target-saved" if before else "target-added", details=_said(target) | _changed(before, target))
    return target


def _said(target: Target) -> dict[str, object]:
    return {
        "target": target.name, "kind": target.kind, "contract": target.contract, "key_valid_seconds": target.key_valid_seconds,
        "quiet_seconds": target.quiet_seconds, "probe": target.probe.name if target.probe else None,
        "probe_max_age_seconds": target.probe_max_age_seconds, "active": target.active,
    }  # fmt: skip


def _changed(before: Target | None, target: Target) -> dict[str, object]:
    """Which of that is new."""
    if before is None:
        return {}
    old = _said(before)
    return {"changed": [name for name, value in _said(target).items() if old[name] != value]}
