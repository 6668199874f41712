"""Sign in the one person of local mode by the launch link that `serve` prints: the link works once, the cookie that it leaves works for two weeks."""

from __future__ import annotations

import secrets

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser

from inspector.queries import tokens

LOCAL_USER = "local"

_open: set[str] = set()
"""SHA-256 of each link that nobody has used yet. In memory only: a link dies with the process that printed it."""


def issue_token() -> str:
    """A new launch token, good for one use in this process."""
    token = secrets.token_urlsafe(32)
    _open.add(tokens.digest(token))
    return token


def redeem_token(*, token: str) -> AbstractUser | None:
    """The local user for a token not used before; None for any other token."""
    try:
        _open.remove(tokens.digest(token))  # one step: two requests with the same token cannot both succeed
    except KeyError:
        return None
    return local_user()


def local_user() -> AbstractUser:
    """The one person of local mode, with every permission and no password; made the first time."""
    User = get_user_model()
    user, made = User.objects.get_or_create(username=LOCAL_USER, defaults={"is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
