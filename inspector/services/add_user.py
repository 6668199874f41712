"""Add a person of team mode, with a password and roles."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Group
from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from inspector.models.roles import ADMINISTER

from .append_audit import append_audit
from .permit import permit


def add_user(*, name: str, password: str, roles: Sequence[str], actor: AbstractUser | None = None) -> AbstractUser:
    """The new user. `roles` are names of `models.roles.ROLES`; without any, the person can sign in and see nothing.

    Raises PermissionDenied, or ValidationError for a taken or ill-formed name, or a weak password; then nobody is added.
    """
    permit(actor, ADMINISTER)
    with transaction.atomic():
        user: AbstractUser = get_user_model()(username=name)
        user.full_clean(exclude=["password"])
        validate_password(password, user)
        user.set_password(password)
        user.save()
        user.groups.set(Group.objects.filter(name__in=roles))
        append_audit(actor=actor, action="add-user", details={"name": name, "roles": sorted(set(roles))})
    return user
