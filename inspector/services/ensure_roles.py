"""The four roles as groups, after every migration: one that has permissions already stays as an administrator made it."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, Permission

from inspector.models.roles import ROLES


def ensure_roles(**_: Any) -> None:
    """Make missing groups, and fill those that are empty."""
    for name, permissions in ROLES.items():
        group, _made = Group.objects.get_or_create(name=name)
        if not group.permissions.exists():
            names = [permission.partition(".")[2] for permission in permissions]
            group.permissions.set(Permission.objects.filter(content_type__app_label="inspector", codename__in=names))
