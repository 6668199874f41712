"""Revoke an access token: the next request that carries it is refused."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from inspector.models import ApiToken
from inspector.models.clock import DatabaseNow
from inspector.models.roles import ADMINISTER, VIEW

from .append_audit import append_audit
from .moves import Refused
from .permit import permit


def revoke_token(*, token: ApiToken, actor: AbstractBaseUser | None) -> None:
    """One's own, or as an administrator anybody's. Raises PermissionDenied, and Refused (`changed-meanwhile`) when it was revoked before."""
    permit(actor, VIEW if actor == token.user else ADMINISTER)
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=DatabaseNow()) != 1:
            raise Refused("changed-meanwhile", "It was revoked already.")
        append_audit(actor=actor, action="token-revoked", details={"token": token.pk, "user": token.user.get_username(), "name": token.name})
