"""Pages for what went wrong: they say what to do, and show no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client

from inspector.views import rules

pytestmark = pytest.mark.django_db


def test_an_unknown_session_is_a_page_that_says_so(owner: User, client_of: Callable[[User], Client]) -> None:
    answer = client_of(owner).get("/sessions/999/")
    assert answer.status_code == 404 and "nothing at this address" in answer.content.decode()


def test_a_form_of_another_site_is_refused_in_words(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    answer = client.post("/sign-out/", headers={"origin": "https://evil.example"})
    assert answer.status_code == 403 and "Nothing was changed" in answer.content.decode()


@pytest.mark.parametrize(
    ("raised", "status", "says"),
    [(PermissionDenied(), 403, "needs a permission"), (RuntimeError("secret reason"), 500, "a defect of the inspector")],
)
def test_what_a_view_raises_is_not_shown(
    raised: Exception, status: int, says: str, owner: User, client_of: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise raised

    monkeypatch.setattr(rules, "render", broken)
    client = client_of(owner)
    client.raise_request_exception = False
    answer = client.get("/rules/")
    assert answer.status_code == status
    assert says in answer.content.decode() and "secret reason" not in answer.content.decode()
