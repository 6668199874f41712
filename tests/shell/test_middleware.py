"""What holds for every answer: private to the browser, and a part asked for after the sign-in has ended moves the whole page."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from inspector.middleware import private_answers

PARTS = {"hx-request": "true", "hx-current-url": "http://testserver/sessions/7/?q=a#r0:12"}


def test_answers_are_private_and_one_that_says_otherwise_is_kept() -> None:
    request = RequestFactory().get("/")
    assert private_answers(lambda _: HttpResponse())(request)["Cache-Control"] == "private, no-cache"
    assert private_answers(lambda _: HttpResponse(headers={"Cache-Control": "no-store"}))(request)["Cache-Control"] == "no-store"


def test_a_part_asked_for_by_nobody_sends_the_page_to_sign_in(db: None, client: Client) -> None:
    answer = client.get(reverse("goto"), headers=PARTS)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/sign-in/?next=%2Fsessions%2F7%2F%3Fq%3Da%23r0%3A12")
    assert client.get("/sign-in/", headers=PARTS).status_code == 200  # any other answer stays as it is


def test_a_page_asked_for_by_nobody_is_a_plain_redirect(db: None, client: Client) -> None:
    answer = client.get(reverse("inbox"), {"q": "a"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/sign-in/?next=/%3Fq%3Da")


def test_a_foreign_address_is_not_followed_after_sign_in(team_mate: User, client_of: Callable[[User], Client]) -> None:
    answer = client_of(team_mate).get("/sign-in/", {"next": "https://evil.example/"})
    assert answer.headers["Location"] == "/"


def test_a_page_asked_for_by_another_site_steps_on_once(db: None, client: Client) -> None:
    cross = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = client.get(reverse("inbox"), {"q": '"><b>'}, headers=cross)
    assert answer.status_code == 200 and 'content="0;url=/?q=%22%3E%3Cb%3E"' in answer.content.decode()
    assert client.get(reverse("inbox"), headers=cross | {"sec-fetch-site": "same-origin"}).status_code == 302
    assert client.post(reverse("inbox"), headers=cross).status_code == 302
