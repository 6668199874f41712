"""`manage.py add_user`: a person who can sign in, with the permissions that were named, and an audit entry."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from inspector.models import AuditEntry

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def add(monkeypatch: pytest.MonkeyPatch, *args: str, password: str = PASSWORD) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
    call_command("add_user", *args, stdout=io.StringIO())


def test_the_person_can_sign_in_and_may_do_what_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "anna", "--may", "reveal_secret")
    user = authenticate(username="anna", password=PASSWORD)
    assert user is not None
    assert user.has_perm("inspector.reveal_secret") and not user.has_perm("inspector.erase_session") and not user.is_superuser
    entry = AuditEntry.objects.latest("seq")
    assert entry.action == "add-user" and '"may":["reveal_secret"]' in entry.body and PASSWORD not in entry.body


@pytest.mark.parametrize(
    ("name", "password", "says"), [("anna", "short", "too short"), ("owner", PASSWORD, "already exists"), ("a b", PASSWORD, "valid username")]
)
def test_a_refusal_says_why_and_adds_nobody(name: str, password: str, says: str, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=says) as refused:
        add(monkeypatch, name, password=password)
    assert refused.value.returncode == 2
    assert User.objects.count() == 1
