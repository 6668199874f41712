"""The pages of coming in, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.services import launch


@pytest.mark.parametrize("path", ["/sign-in/", "/launch/?token=old"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_are_accessible(path: str, theme: str, page: Any, axe: Callable[[Any], list[str]]) -> None:
    page.context.clear_cookies()
    page.emulate_media(color_scheme=theme)
    page.goto(path)
    assert axe(page) == []


def test_the_launch_link_leads_to_a_signed_in_browser(page: Any) -> None:
    page.context.clear_cookies()
    page.goto(f"/launch/?token={launch.issue_token()}")
    assert page.url.split("/", 3)[3] == ""
    assert "inspector_session" in {cookie["name"] for cookie in page.context.cookies()}


def test_a_link_from_another_site_finds_the_person_signed_in_and_the_row_selected(page: Any, live_server: Any) -> None:
    """127.0.0.1 and localhost are two sites; the person is signed in on the second."""
    page.goto(live_server.url.replace("localhost", "127.0.0.1") + "/sign-in/")
    page.evaluate("address => { location.href = address }", f"{live_server.url}/rules/#r0:12")
    page.get_by_role("heading", level=1, name="Rules").wait_for()
    assert page.url == f"{live_server.url}/rules/?#r0:12"


def test_a_launch_link_on_another_site_leads_to_a_signed_in_browser(page: Any, live_server: Any) -> None:
    page.context.clear_cookies()
    page.goto(live_server.url.replace("localhost", "127.0.0.1") + "/sign-in/")
    page.evaluate("address => { location.href = address }", f"{live_server.url}/launch/?token={launch.issue_token()}")
    page.wait_for_url(f"{live_server.url}/")
    page.get_by_role("button", name="Sign out").wait_for()


def test_a_form_of_ours_is_taken_without_script(chromium: Any, live_server: Any, owner: Any, client_of: Any) -> None:
    """A referrer policy that is too strict would make the browser say `Origin: null`, which is refused."""
    session = client_of(owner).cookies["inspector_session"]
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url}])
    page = context.new_page()
    page.goto("/")
    page.get_by_role("button", name="Sign out", exact=True).click()
    assert "a new launch link" in page.inner_text("main")
    page.get_by_role("button", name="Sign out of this browser").click()
    assert page.url == f"{live_server.url}/sign-in/"
    context.close()
