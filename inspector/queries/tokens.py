"""Access tokens: whose one is."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet

from inspector.models import ApiToken
from inspector.models.clock import DatabaseNow


def digest(token: str) -> str:
    """What is kept of a token: hex SHA-256. A token is 256 random bits, so that a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def current() -> QuerySet[ApiToken]:
    """Tokens that are neither revoked nor expired, of people who may sign in."""
    return ApiToken.objects.filter(Q(expires_at=None) | Q(expires_at__gt=DatabaseNow()), revoked_at=None, user__is_active=True)


def user_of(token: str) -> AbstractBaseUser | None:
    """Who a token speaks for; None for an unknown, revoked or expired one."""
    found = current().filter(digest=digest(token)).select_related("user").first()
    return found.user if found else None
