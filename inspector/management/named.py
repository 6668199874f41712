"""Sessions and people as a command line names them. Raises CommandError, exit code 2, for a name that fits nobody or several."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.management.base import CommandError
from django.db.models import Q

from inspector.models import Session
from inspector.services.launch import LOCAL_USER, local_user

SESSION = "the session's number in the inspector, or its id in its client"
"""Help of the argument."""


def session_named(named: str) -> Session:
    """The session with this number, or with this id in its client."""
    wanted = Q(native_id=named) | (Q(pk=int(named)) if named.isdecimal() and len(named) < 18 else Q())
    sessions = list(Session.objects.filter(wanted).select_related("current")[:2])
    if not sessions:
        raise CommandError(f"no session {named!r}; the inbox names them", returncode=2)
    if len(sessions) > 1:
        raise CommandError(f"several sessions have the id {named!r}; give the number of one", returncode=2)
    return sessions[0]


def user_named(name: str) -> AbstractUser:
    """The person who signs in by this name; in local mode also the local user before the first launch."""
    if not settings.TEAM_MODE and name == LOCAL_USER:
        return local_user()
    user: AbstractUser | None = get_user_model().objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"no user {name!r}; add_user adds one", returncode=2)
    return user
