"""Add a person of team mode, with a password and what they may do beyond reading, importing and repairing."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Permission
from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from inspector.models import Session

from .append_audit import append_audit

EXTRA: tuple[str, ...] = tuple(name for name, _ in Session._meta.permissions)
"""Permissions that a person does not have by signing in alone."""


def add_user(*, name: str, password: str, may: Sequence[str] = (), actor: AbstractUser | None = None) -> AbstractUser:
    """The new user. `may` holds names of EXTRA. Raises ValidationError for a taken or ill-formed name, or a weak password; then nobody is added."""
    with transaction.atomic():
        user: AbstractUser = get_user_model()(username=name)
        user.full_clean(exclude=["password"])
        validate_password(password, user)
        user.set_password(password)
        user.save()
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="inspector", codename__in=may))
        append_audit(actor=actor, action="add-user", details={"name": name, "may": sorted(may)})
    return user
