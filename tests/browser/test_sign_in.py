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
