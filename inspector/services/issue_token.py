"""Give a program an access token of a person. It is shown once; only its SHA-256 is kept."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from inspector.models import ApiToken
from inspector.models.roles import ADMINISTER, VIEW
from inspector.models.text import clean
from inspector.queries import tokens

from .append_audit import append_audit
from .permit import permit

PREFIX = "inspector_"
"""So that a token which leaked into a file or a log is recognised as one."""
LONGEST_DAYS = 3650


def issue_token(*, user: AbstractBaseUser, name: str, actor: AbstractBaseUser | None, days: int | None = None) -> tuple[ApiToken, str]:
    """What is kept, and the token itself. It may do what `user` may do, for `days` from now; None: until it is revoked.

    A person makes tokens for nobody else; an administrator may. Raises PermissionDenied, ValidationError for an empty or taken name and for days
    that are none.
    """
    permit(actor, VIEW if actor == user else ADMINISTER)
    name = clean(name.strip(), 80)
    if not name:
        raise ValidationError("A token needs a name: the program that will use it.")
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise ValidationError(f"A token is good for 1 to {LONGEST_DAYS} days.")
    token = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        if tokens.current().filter(user=user, name=name).exists():
            raise ValidationError(f"{user} has a token named {name!r} already. Choose another name, or revoke that one.")
        until = timezone.now() + timedelta(days=days) if days else None
        kept = ApiToken.objects.create(user=user, name=name, digest=tokens.digest(token), expires_at=until)
        append_audit(
            actor=actor, action="token-issued",
            details={"token": kept.pk, "user": user.get_username(), "name": name, "expires": until and until.isoformat()},
        )  # fmt: skip
    return kept, token
