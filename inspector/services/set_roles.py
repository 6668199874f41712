"""Give a person of team mode other roles, or none: from the next request on they may do what these say, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Group
from django.core.exceptions import ValidationError
from django.db import transaction

from inspector.models.roles import ADMINISTER

from .append_audit import append_audit
from .permit import permit


def set_roles(*, name: str, roles: Sequence[str], actor: AbstractUser | None = None) -> AbstractUser:
    """The person with exactly these `roles` (names of `models.roles.ROLES`); permissions given to the person alone are taken away.

    Approvals and claims of somebody who lost the role count no more where they are checked. Raises PermissionDenied, or ValidationError for a
    name that nobody has and for a superuser, whom no role bounds.
    """
    permit(actor, ADMINISTER)
    with transaction.atomic():
        user: AbstractUser | None = get_user_model().objects.filter(username=name).first()
        if user is None:
            raise ValidationError("Nobody has this name.")
        if user.is_superuser:
            raise ValidationError("A superuser may do everything, whatever the roles.")
        before = sorted(user.groups.values_list("name", flat=True))
        user.groups.set(Group.objects.filter(name__in=roles))
        user.user_permissions.clear()
        append_audit(actor=actor, action="set-roles", details={"name": name, "roles": sorted(set(roles)), "before": before})
    return user
