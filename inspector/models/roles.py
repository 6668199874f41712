"""Roles: what the groups of Django may do. Services ask for the permission, never for the group."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser

VIEW = "inspector.view_session"
HANDLE = "inspector.handle_session"
DECIDE = "inspector.decide_operation"
ADMINISTER = "inspector.administer_inspector"
ERASE = "inspector.erase_session"
REVEAL = "inspector.reveal_secret"

ROLES: dict[str, tuple[str, ...]] = {
    "viewer": (VIEW,),
    "operator": (VIEW, HANDLE),
    "approver": (VIEW, DECIDE),
    "administrator": (VIEW, HANDLE, DECIDE, ADMINISTER, ERASE, REVEAL),
}
"""Group -> permissions. A person may be in several."""

WORDS = {
    VIEW: "see sessions",
    HANDLE: "bring in, repair, fork, export and take over sessions, and say what happened",
    DECIDE: "approve operations and decide what others said happened",
    ADMINISTER: "change the policy, targets and probes, and the access tokens of others",
    ERASE: "delete sessions",
    REVEAL: "see masked secrets",
}
"""Permission -> what it lets a person do."""


def may(actor: AbstractBaseUser | None, permission: str) -> bool:
    """Whether a person, who may be gone or locked since, has a permission today."""
    return actor is not None and actor.is_active and bool(getattr(actor, "has_perm", lambda _: False)(permission))
