"""Who may do it: every service that writes asks here first."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied

from inspector.models.roles import ROLES, WORDS, may


def permit(actor: AbstractBaseUser | None, permission: str) -> None:
    """Raises PermissionDenied, with the role to ask for, unless the actor may. None is the system itself (a command of this machine's owner)."""
    if actor is None or may(actor, permission):
        return
    role = next(name for name, permissions in ROLES.items() if permission in permissions)
    raise PermissionDenied(f"You may not {WORDS[permission]}. Ask an administrator for the role “{role}”.")
