"""Who comes in: the launch link once, nobody by another host name, a Django user in team mode."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from inspector.services import launch

pytestmark = pytest.mark.django_db
SECURE_PASSWORD = "correct horse battery"


@pytest.fixture
def team_mode(settings: Any) -> None:
    settings.TEAM_MODE = True


def test_a_launch_link_signs_in_the_local_user_with_every_permission(client: Client) -> None:
    answer = client.get("/launch/", {"token": launch.issue_token()})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert answer.cookies["inspector_session"]["samesite"] == "Strict"
    assert answer.cookies["inspector_session"]["httponly"]
    user = User.objects.get(username="local")
    assert user.is_superuser and not user.has_usable_password()
    assert client.session["_auth_user_id"] == str(user.pk)


def test_a_launch_link_works_once(client: Client) -> None:
    token = launch.issue_token()
    client.get("/launch/", {"token": token})
    second = Client().get("/launch/", {"token": token})
    assert second.status_code == 403
    assert "start it again" in second.content.decode()
    assert "inspector_session" not in second.cookies
    # The browser that used it goes on.
    assert client.get("/launch/", {"token": token})["Location"] == "/"


@pytest.mark.parametrize("query", [{}, {"token": ""}, {"token": "guess"}])
def test_a_wrong_link_says_what_to_do(query: dict[str, str], client: Client) -> None:
    launch.issue_token()
    answer = client.get("/launch/", query)
    assert answer.status_code == 403 and "manage.py serve" in answer.content.decode()
    assert not User.objects.exists()


def test_only_a_get_uses_the_link_up(client: Client) -> None:
    token = launch.issue_token()
    assert client.head("/launch/", {"token": token}).status_code == 405
    assert client.get("/launch/", {"token": token}).status_code == 302


def test_a_link_clicked_on_another_site_steps_by_our_page_because_the_cookie_is_strict(client: Client) -> None:
    answer = client.get("/launch/", {"token": launch.issue_token()}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200 and b'http-equiv="refresh"' in answer.content
    assert "inspector_session" in answer.cookies


def test_the_second_launch_uses_the_same_user(client: Client) -> None:
    for _ in range(2):
        client.get("/launch/", {"token": launch.issue_token()})
    assert User.objects.count() == 1


def test_local_mode_has_no_password_form(client: Client) -> None:
    User.objects.create_user("anna", password=SECURE_PASSWORD)
    assert b"launch link" in client.get("/sign-in/").content
    client.post("/sign-in/", {"username": "anna", "password": SECURE_PASSWORD})
    assert "_auth_user_id" not in client.session


@pytest.mark.usefixtures("team_mode")
def test_team_mode_asks_for_name_and_password(client: Client) -> None:
    anna = User.objects.create_user("anna", password=SECURE_PASSWORD)
    wrong = client.post("/sign-in/", {"username": "anna", "password": "no"})
    assert b"do not match" in wrong.content and "_auth_user_id" not in client.session
    right = client.post("/sign-in/", {"username": "anna", "password": SECURE_PASSWORD})
    assert right["Location"] == "/" and client.session["_auth_user_id"] == str(anna.pk)
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert "_auth_user_id" not in client.session


@pytest.mark.usefixtures("team_mode")
def test_team_mode_has_no_launch_links(client: Client) -> None:
    assert client.get("/launch/", {"token": launch.issue_token()}).status_code == 404


def test_another_host_name_is_refused(client: Client) -> None:
    """A foreign name that resolves to 127.0.0.1 (DNS rebinding) must not reach a page."""
    assert client.get("/sign-in/", headers={"host": "rebound.example"}).status_code == 400
    assert client.get("/sign-in/", headers={"host": "127.0.0.1:8765"}).status_code == 200


def test_a_form_sent_from_another_site_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/sign-out/", headers={"origin": "https://evil.example"}).status_code == 403


def test_nobody_sees_a_page_without_signing_in(client: Client) -> None:
    """Every page there is, with some value for each argument of its address; the three that bring people in are left out."""
    some = {"pk": 1, "name": "a", "code": "a", "number": 1, "evidence": 1}
    seen = 0
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLResolver) or pattern.name in ("launch", "login", "logout"):
            continue
        arguments = {name: some[name] for name in pattern.pattern.converters}
        for ask in (client.get, client.post):
            answer = ask(reverse(pattern.name, kwargs=arguments))
            assert answer.status_code == 302 and answer["Location"].startswith("/sign-in/?next="), pattern.name
        seen += 1
    assert seen > 5


def test_every_answer_carries_the_content_policy(client: Client) -> None:
    for path in ("/sign-in/", "/launch/", "/no-such-page"):
        assert "default-src 'none'" in client.get(path)["Content-Security-Policy"]
