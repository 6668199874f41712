"""README's first promise: `serve --demo`, the printed link, and the example sessions are on the page."""

from __future__ import annotations

from typing import Any

from tests.conftest import ROOT, Serve, address_of


def test_the_demo_link_shows_the_example_sessions(serve: Serve, chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address_of(serve("--demo", "--port", "0")))
    sessions = page.locator("main table a[href^='/sessions/']")
    assert sessions.count() >= len(list((ROOT / "inspector" / "examples").rglob("*.jsonl")))
    titles = page.locator("main table").inner_text()
    for title in ("Two clean turns", "Killed while Bash was running", "Three parallel calls, one result saved", "Fork of the compacted session"):
        assert title in titles
    sessions.filter(has_text="Killed while Bash").first.click()
    assert "Bash" in page.locator("main").inner_text()
    context.close()
