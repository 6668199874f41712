"""The operations desk in a real Chromium: from a killed call to the ticket, with two persons, and a stranger who sees nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.models import Lease, Operation, Session

from .conftest import KILLED

Bring = Callable[[Path], Session]
SAID = "The deploy log of staging shows it at 12:03."


@pytest.fixture
def page_of(chromium: Any, live_server: Any, client_of: Any, settings: Any) -> Iterator[Callable[..., Any]]:
    """A page of the live server, signed in as the given person."""
    opened = []

    def one(person: Any, **options: Any) -> Any:
        cookie = client_of(person).cookies[settings.SESSION_COOKIE_NAME]
        context = chromium.new_context(base_url=live_server.url, **options)
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url, "sameSite": "Strict"}])
        opened.append(context)
        return context.new_page()

    yield one
    for context in opened:
        context.close()


def claim(page: Any, operation: Operation) -> None:
    page.goto(f"/operations/{operation.pk}/")
    page.get_by_role("link", name="It happened…").click()
    page.get_by_label("In your own words").fill("I read the deploy log.")
    page.locator("#say-note").fill(SAID)
    page.get_by_role("button", name="It happened").click()
    page.wait_for_selector("text=It counts when another person approves it.")


def test_from_a_killed_call_to_the_ticket(
    page: Any, page_of: Callable[..., Any], bring_in: Bring, team_mate: Any, stranger: Any
) -> None:  # fmt: skip
    session = bring_in(KILLED)
    operation = session.ledger.get()
    page.goto(f"/sessions/{session.pk}/")
    page.get_by_role("link", name="Resolve the operation…").click()
    assert page.url.endswith(f"/operations/{operation.pk}/")
    assert "We don't know if this happened" in page.inner_text(".verdict") and "Check the target first." in page.inner_text(".verdict")
    claim(page, operation)
    assert "Who says what happened can't approve it." in page.inner_text("#act")
    assert page.get_by_role("button", name="Approve").count() == 0 and page.get_by_role("button", name="Refuse").count() == 0

    other = page_of(team_mate)
    other.goto("/operations/")
    other.get_by_role("link", name="Waiting for a second person 1").click()
    other.get_by_role("link", name="Bash").click()
    assert "owner says: It happened." in other.inner_text("#act") and SAID in other.inner_text("main")
    other.get_by_role("button", name="Approve").click()
    other.wait_for_selector("text=You approved it: it counts now.")
    assert "It happened Confirmed by team-mate from evidence 1." in " ".join(other.inner_text(".verdict").split())

    page.goto(f"/sessions/{session.pk}/")
    page.get_by_role("link", name="Review the repair…").click()
    offered = page.locator(".ins", has_text="I read the deploy log.").first.inner_text()
    assert "owner checked on" in offered and "team-mate confirmed it" in offered and "Keep it, say what was found" in page.inner_text("main")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")

    page.get_by_role("link", name="Take over and resume…").click()
    page.get_by_role("button", name="Take over and resume").click()
    page.wait_for_url("**/ticket/1/")
    assert "You hold the session" in page.inner_text(".verdict") and f"--resume {session.native_id}" in page.inner_text("main")
    assert f"op {operation.pk}" in page.locator(".card", has_text="Done: not to be done again").inner_text()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download the zip").click()
    assert waited.value.suggested_filename.endswith("-revision-2.zip")

    other.goto(f"/sessions/{session.pk}/?panel=resume")
    assert "owner in a browser holds it until" in other.inner_text(".head") and "holds it until" in other.inner_text("#panel")
    assert other.get_by_role("button", name="Take over and resume").count() == 0 and Lease.objects.get().user.username == "owner"

    nobody = page_of(stranger)
    for address in ("/", "/operations/", f"/operations/{operation.pk}/", f"/sessions/{session.pk}/", f"/sessions/{session.pk}/ticket/1/"):
        assert nobody.goto(address).status == 403
        assert SAID not in nobody.content() and "effect.txt" not in nobody.content() and "Operations" not in nobody.inner_text(".bar")

    page.get_by_role("button", name="Give it back").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    other.goto("/")
    assert "holds it" not in other.inner_text("#sessions")


def test_it_all_works_without_a_script(page_of: Callable[..., Any], bring_in: Bring, owner: Any, team_mate: Any) -> None:
    operation = bring_in(KILLED).ledger.get()
    claim(page_of(owner, java_script_enabled=False), operation)
    other = page_of(team_mate, java_script_enabled=False)
    other.goto(f"/operations/{operation.pk}/")
    other.get_by_role("button", name="Refuse").click()
    assert "Say why you refuse it." in other.inner_text('[role="alert"]')
    other.get_by_label("Note (needed to refuse)").fill("That is the log of another day.")
    other.get_by_role("button", name="Refuse").click()
    assert "That is the log of another day." in other.inner_text("main") and "It happened…" in other.inner_text(".verdict")
    assert operation.claims.get().state == "refused"


def test_what_was_typed_stays_when_it_is_refused(page: Any, bring_in: Bring) -> None:
    operation = bring_in(KILLED).ledger.get()
    page.goto(f"/operations/{operation.pk}/?say=superseded")
    page.get_by_label("In your own words").fill("The order was cancelled.")
    page.get_by_role("button", name="No longer needed").click()
    said = page.inner_text("#act")
    assert "Say whether its old effect exists." in said and "Evidence is needed" in said and "Name the operation" in said
    assert page.get_by_label("In your own words").input_value() == "The order was cancelled."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_of_the_desk_are_accessible_and_fit(
    theme: str, page: Any, page_of: Callable[..., Any], bring_in: Bring, team_mate: Any, axe: Callable[[Any], list[str]]
) -> None:  # fmt: skip
    session = bring_in(KILLED)
    operation = session.ledger.get()
    here, there = f"/operations/{operation.pk}/", f"/sessions/{session.pk}/"
    page.emulate_media(color_scheme=theme)

    def look(view: Any, *addresses: str) -> None:
        for width in (1440, 390):
            view.set_viewport_size({"width": width, "height": 900})
            for address in addresses:
                view.goto(address)
                assert axe(view) == [], address
                assert view.evaluate("document.documentElement.scrollWidth <= innerWidth"), address

    said = [f"{here}?say={outcome}" for outcome in ("applied", "superseded", "compensated")]
    look(page, "/operations/", "/operations/?show=settled", here, *said, f"{there}gate/", f"{there}report/")
    look(page, f"{there}?panel=operations", f"{there}?panel=resume", f"{there}?panel=history")
    page.goto(said[0])
    page.get_by_role("button", name="It happened").click()
    assert "Nothing was saved" in page.inner_text('[role="alert"]') and axe(page) == []
    claim(page, operation)
    other = page_of(team_mate, color_scheme=theme)
    look(other, "/operations/?show=claims", here)
    other.get_by_role("button", name="Approve").click()
    look(page, here, f"{there}repair/")
    page.get_by_role("button", name="Apply").click()
    page.goto(f"{there}gate/")
    page.get_by_role("button", name="Take over and resume").click()
    look(page, f"{there}ticket/1/", there, "/")
