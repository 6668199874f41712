"""Access tokens: shown once, kept as a hash, given and revoked with an entry of the audit trail."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command
from django.utils import timezone

from inspector.models import ApiToken, AuditEntry
from inspector.queries import tokens
from inspector.services.issue_token import issue_token
from inspector.services.moves import Refused
from inspector.services.revoke_token import revoke_token

pytestmark = pytest.mark.django_db


def command(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue().strip()


def test_the_commands_give_and_revoke_a_token(owner: User) -> None:
    token = command("add_token", "owner", "nightly", days=2)
    kept = ApiToken.objects.get()
    assert kept.digest == hashlib.sha256(token.encode()).hexdigest() and tokens.user_of(token) == owner
    assert abs(kept.expires_at - timezone.now() - timedelta(days=2)) < timedelta(minutes=1)
    command("revoke_token", "owner", "nightly")
    assert tokens.user_of(token) is None
    entries = list(AuditEntry.objects.order_by("-seq")[:2])
    assert [each.action for each in entries] == ["token-revoked", "token-issued"] and not any(token in each.body for each in entries)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("add_token", "nobody", "x"), "no user"), (("add_token", "owner", " "), "needs a name"),
        (("add_token", "owner", "x", "--days", "0"), "1 to"),
        (("add_token", "owner", "taken"), "already"), (("revoke_token", "owner", "x"), "no current token"), (("add_token", "owner"), "required"),
    ],
)  # fmt: skip
def test_a_wrong_command_says_why_and_changes_nothing(args: tuple[str, ...], says: str, owner: User) -> None:
    issue_token(user=owner, name="taken", actor=None)
    with pytest.raises(CommandError, match=says) as refused:
        command(*args)
    assert refused.value.returncode == 2 and ApiToken.objects.get().revoked_at is None


def test_only_an_administrator_gives_tokens(owner: User, stranger: User) -> None:
    kept, token = issue_token(user=stranger, name="x", actor=owner)
    with pytest.raises(PermissionDenied):
        issue_token(user=stranger, name="y", actor=stranger)
    with pytest.raises(PermissionDenied):
        revoke_token(token=kept, actor=stranger)
    with pytest.raises(ValidationError):
        issue_token(user=stranger, name="x", actor=owner)
    assert tokens.user_of(token) == stranger
    revoke_token(token=kept, actor=owner)
    with pytest.raises(Refused):
        revoke_token(token=kept, actor=owner)
    assert issue_token(user=stranger, name="x", actor=owner)[1] != token


def test_a_token_may_do_what_its_person_may_do_today(owner: User) -> None:
    _, token = issue_token(user=owner, name="x", actor=None)
    owner.groups.set(Group.objects.filter(name="approver"))
    found = tokens.user_of(token)
    assert found is not None and not found.has_perm("inspector.handle_session") and found.has_perm("inspector.decide_operation")


def test_in_local_mode_the_local_user_has_tokens_before_the_first_launch(settings: Any) -> None:
    settings.TEAM_MODE = False
    found = tokens.user_of(command("add_token", "local", "script"))
    assert found is not None and found.get_username() == "local" and found.has_perm("inspector.handle_session")
