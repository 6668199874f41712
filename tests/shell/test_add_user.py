"""`manage.py add_user` and `set_roles`: a person who can sign in, with the roles that were named, and an audit entry."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Permission, User
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command

from inspector.models import AuditEntry
from inspector.models.roles import HANDLE, ROLES, VIEW, WORDS
from inspector.services.add_user import add_user
from inspector.services.set_roles import set_roles

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def add(monkeypatch: pytest.MonkeyPatch, *args: str, password: str = PASSWORD) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    call_command("add_user", *args, stdout=io.StringIO())


def permissions(name: str) -> set[str]:
    """Of ROLES, by way of signing in: a fresh person, without the permissions that Django remembers."""
    user = authenticate(username=name, password=PASSWORD)
    assert user is not None and not user.is_superuser
    return {permission for permission in WORDS if user.has_perm(permission)}


@pytest.mark.parametrize("roles", [["viewer"], ["operator"], ["approver"], ["administrator"], ["operator", "approver"]])
def test_the_person_can_sign_in_and_may_do_what_the_roles_say(roles: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "anna", *(word for role in roles for word in ("--role", role)))
    assert permissions("anna") == {permission for role in roles for permission in ROLES[role]}
    entry = AuditEntry.objects.latest("seq")
    assert entry.action == "add-user" and json.loads(entry.body)["details"]["roles"] == sorted(roles) and PASSWORD not in entry.body


def test_who_is_added_without_a_role_is_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "anna")
    assert permissions("anna") == set(ROLES["operator"])


def test_roles_are_changed_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "anna", "--role", "administrator")
    User.objects.get(username="anna").user_permissions.set(Permission.objects.filter(codename="erase_session"))
    call_command("set_roles", "anna", "--role", "approver", stdout=io.StringIO())
    assert permissions("anna") == set(ROLES["approver"])
    call_command("set_roles", "anna", stdout=io.StringIO())
    assert permissions("anna") == set()
    entry = AuditEntry.objects.latest("seq")
    assert entry.action == "set-roles" and json.loads(entry.body)["details"] == {"name": "anna", "roles": [], "before": ["approver"]}


def test_nobody_and_a_superuser_get_no_roles() -> None:
    User.objects.create_superuser("root")
    for name, says in (("nobody", "Nobody has this name"), ("root", "superuser")):
        with pytest.raises(CommandError, match=says):
            call_command("set_roles", name, "--role", "viewer")
    assert not AuditEntry.objects.filter(action="set-roles").exists()


def test_only_an_administrator_adds_people_and_changes_roles(owner: User, viewer: User, team_mate: User) -> None:
    with pytest.raises(PermissionDenied, match="administrator"):
        add_user(name="anna", password=PASSWORD, roles=["viewer"], actor=viewer)
    with pytest.raises(PermissionDenied, match="administrator"):
        set_roles(name=viewer.username, roles=["administrator"], actor=viewer)
    set_roles(name=team_mate.username, roles=["viewer"], actor=owner)
    assert User.objects.get(pk=team_mate.pk).has_perm(VIEW) and not User.objects.get(pk=team_mate.pk).has_perm(HANDLE)


@pytest.mark.parametrize(
    ("name", "password", "says"), [("anna", "short", "too short"), ("owner", PASSWORD, "already exists"), ("a b", PASSWORD, "valid username")]
)
def test_a_refusal_says_why_and_adds_nobody(name: str, password: str, says: str, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=says) as refused:
        add(monkeypatch, name, password=password)
    assert refused.value.returncode == 2
    assert User.objects.count() == 1
