"""The session page in a real Chromium: it opens at the defect, keys and addresses select rows, windows load, nothing recorded is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.models import AuditEntry, Session

from .conftest import CLEAN, KILLED

Bring = Callable[[Path], Session]
SELECTED = '#grid [aria-current="true"]'


def selected(page: Any) -> str:
    ref: str = page.get_attribute(SELECTED, "data-ref")
    return ref


def wait_for(page: Any, ref: str) -> None:
    """Until the row is the selected one."""
    page.wait_for_selector(f'#grid [data-ref="{ref}"][aria-current="true"]')


def test_it_opens_at_the_defect(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    assert selected(page) == "0:21"
    assert page.locator(SELECTED).is_visible()
    box, view = page.locator(SELECTED).bounding_box(), page.viewport_size
    assert 0 < box["y"] < view["height"]
    assert page.locator(".verdict").is_visible()
    assert "unresolved-call" in page.inner_text(SELECTED)


def test_it_opens_at_the_defect_below_rows_of_any_height(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 160)
    lines = path.read_text().splitlines()
    for number in range(0, 160, 3):
        lines[number] = lines[number].replace(f"prompt {number}", "many words " * 40)
    path.write_text("\n".join(lines) + '\n{"type":"assistant","uuid":"cut')
    session = bring_in(path)
    page.goto(f"/sessions/{session.pk}/")
    page.wait_for_timeout(600)
    assert selected(page) == "0:160"
    page.locator(SELECTED).wait_for()
    grid, row = page.locator("#grid").bounding_box(), page.locator(SELECTED).bounding_box()
    assert grid["y"] <= row["y"] and row["y"] + row["height"] <= grid["y"] + grid["height"] + 1


def test_a_row_left_out_says_why_and_links_to_its_cause(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 6)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[4]["parentUuid"] = rows[1]["uuid"]  # a rewind: rows 2 and 3 are on the branch that was left
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    session = bring_in(path)
    page.goto(f"/sessions/{session.pk}/?show=left-out")
    assert page.locator("#grid .row").evaluate_all("rows => rows.map(row => row.dataset.ref)") == ["0:2", "0:3"]
    assert "left out: on a branch that the resume does not continue; caused by row 0:5" in page.inner_text("[id='r0:2']")
    page.goto(f"/sessions/{session.pk}/?at=0:2")
    page.locator("[id='r0:2'] .left-out a").click()
    wait_for(page, "0:5")


def test_added_rows_stand_as_lines_of_their_own(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    assert page.get_attribute("[id='r+1']", "class") == "row invented"
    assert "added on resume" in page.inner_text("[id='r+1']")


def test_the_address_names_the_selected_row(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/#r0:2")
    wait_for(page, "0:2")
    page.keyboard.press("j")
    assert selected(page) != "0:2"
    assert page.url.endswith(f"#r{selected(page)}")


def test_keys_move_between_rows_problems_and_columns(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/#r0:18")
    wait_for(page, "0:18")
    page.keyboard.press("n")
    assert selected(page) == "0:21"
    page.keyboard.press("n")
    assert selected(page) == "0:22"
    page.keyboard.press("p")
    assert selected(page) == "0:21"
    page.keyboard.press("k")
    assert selected(page) == "0:20"
    page.keyboard.press("4")
    assert page.get_attribute("#grid", "data-focus") == "4"
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.locator("#single-keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert selected(page) == "0:20"


def test_a_fold_opens_in_place(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    folds = page.locator(".fold").count()
    page.locator(".fold a").first.click()
    wait_for(page, "0:0")
    assert page.locator(".fold").count() == folds - 1


def test_panels_change_without_leaving_the_page(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    page.get_by_role("link", name="API request", exact=True).click()
    page.wait_for_selector("text=Copy as curl")
    assert selected(page) == "0:21"
    page.locator("[id='r0:20'] .ref").click()
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel >> text=Hangs from")
    assert "Bash(echo one)" in page.inner_text("#panel")


def test_another_client_gives_another_derivation(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    page.select_option("[name=version]", "2.0.76")
    page.wait_for_url(re.compile("version=2.0.76"))
    assert page.locator("[id='r+1']").count() == 0 or "result for an interrupted call" not in page.inner_text("[id='r+1']")
    page.goto(f"/sessions/{session.pk}/compare/?a=2.1.332&b=2.0.76")
    assert page.locator(".ins").count() + page.locator(".del").count() > 0


def test_the_box_of_ctrl_k_goes_to_a_rule(page: Any, bring_in: Bring) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    page.locator("#goto input").fill("unresolved")
    page.wait_for_selector("#goto-results >> text=unresolved-call")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rules/unresolved-call/")


def test_one_escape_closes_a_box_or_a_menu(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    page.keyboard.press("Control+k")
    page.locator("#goto input").fill("some words")
    page.keyboard.press("Escape")
    assert not page.locator("#goto").is_visible()
    page.locator(".menu summary").click()
    page.keyboard.press("Escape")
    assert page.locator(".menu[open]").count() == 0
    page.locator(".menu summary").click()
    page.locator("h1").click()
    assert page.locator(".menu[open]").count() == 0


def test_the_box_of_ctrl_k_goes_to_a_row(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    page.keyboard.press("Control+k")
    page.locator("#goto input").fill("0:2")
    page.wait_for_selector("#goto-results >> text=Row 0:2")
    page.keyboard.press("Enter")
    wait_for(page, "0:2")
    assert not page.locator("#goto").is_visible()


def test_columns_are_tabs_on_a_narrow_screen(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/sessions/{session.pk}/")
    cells = page.locator("[id='r0:21'] > div")
    assert [cells.nth(at).is_visible() for at in range(4)] == [True, False, False, False]
    page.get_by_role("button", name="API request").click()
    assert [cells.nth(at).is_visible() for at in range(4)] == [False, False, False, True]
    assert page.locator(".verdict").is_visible()


def test_a_narrow_screen_goes_to_the_defect_and_shows_a_row_near_it(page: Any, bring_in: Bring, axe: Callable[[Any], list[str]]) -> None:
    session = bring_in(KILLED)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/sessions/{session.pk}/")
    assert page.locator(".verdict p").bounding_box()["y"] < 400
    page.get_by_role("link", name="Go to the defect").click()
    wait_for(page, "0:21")
    page.wait_for_timeout(400)
    page.locator(SELECTED).click()
    page.wait_for_selector("#panel[data-follows=row]")
    row, details = page.locator(SELECTED).bounding_box(), page.locator(".side").bounding_box()
    assert 0 <= row["y"] and row["y"] + row["height"] <= details["y"] < 844
    assert "0:21" in page.inner_text("#panel")
    assert axe(page) == []
    page.keyboard.press("Escape")
    assert page.locator(".side.sheet").count() == 0


def test_a_row_that_is_not_there_is_named(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/#r0:999")
    page.wait_for_selector("#no-row >> text=There is no row 0:999")
    assert selected(page) == "0:21"
    page.goto(f"/sessions/{session.pk}/?at=0:999")
    assert page.locator("#no-row").is_visible()


def test_rows_of_a_message_stand_together(page: Any, bring_in: Bring) -> None:
    """Every bracket has a beginning and an end, and between them only rows of its message."""
    for path in sorted(KILLED.parent.glob("*.jsonl")):
        session = bring_in(path)
        page.goto(f"/sessions/{session.pk}/")
        lines = page.eval_on_selector_all(
            "#grid .row", "rows => rows.map(row => [row.lastElementChild.className, row.lastElementChild.innerText.match(/\\[(\\d+)\\]/)?.[1]])"
        )
        inside = None
        for style, number in lines:
            if style == "brace first":
                assert inside is None
                inside = number
            elif inside is not None:
                assert number in (inside, None)
                inside = None if style == "brace last" else inside
        assert inside is None


def long_transcript(folder: Path, rows: int) -> Path:
    """A plain chain of prompts and answers."""
    id, parent, lines = "00000000-0000-4000-8000-000000000001", None, []
    for number in range(rows):
        uuid = f"10000000-0000-4000-8000-{number:012d}"
        role = "user" if number % 2 == 0 else "assistant"
        content: Any = f"prompt {number}" if role == "user" else [{"type": "text", "text": f"answer {number}"}]
        message = {"role": role, "content": content} | ({"id": f"msg_{number}", "model": "claude-opus-4-8"} if role == "assistant" else {})
        at = f"2026-11-30T08:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        row = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "timestamp": at, "isSidechain": False, "message": message}
        lines.append(json.dumps(row))
        parent = uuid
    path = folder / f"{id}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_windows_load_at_both_ends_and_the_page_keeps_a_thousand_rows(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    session = bring_in(long_transcript(tmp_path, 2600))
    page.goto(f"/sessions/{session.pk}/?at=0:1300#r0:1300")
    wait_for(page, "0:1300")
    for _ in range(12):
        page.evaluate("document.querySelector('#grid').scrollTo(0, 1e7)")
        page.wait_for_timeout(150)
    page.wait_for_selector("[id='r0:2599']")
    assert page.locator("#grid .row").count() <= 1001
    assert page.locator("[id='r0:1300']").count() == 0
    page.evaluate("location.hash = '#r0:5'")
    wait_for(page, "0:5")
    assert page.locator("[id='r0:0']").count() == 1


HOSTILE = """<script>document.title='owned'</script><img src=x onerror="document.title='owned'">"><svg onload=document.title='owned'>
\x1b]8;;javascript:document.title='owned'\x07click\x1b]8;;\x07 \x1b[31mred\x1b[0m {{ 7|add:7 }} <a hx-get='/audit/' hx-trigger='load'>x</a>"""


def test_recorded_text_is_never_executed(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 3)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["message"]["content"] = HOSTILE
    rows[1]["message"]["content"] = [{"type": "tool_use", "id": "toolu_<b>1</b>", "name": "<i>Bash</i>", "input": {"command": HOSTILE}}]
    rows[2]["message"]["content"] = [{"type": "tool_result", "tool_use_id": "toolu_<b>1</b>", "content": HOSTILE}]
    rows.append({"type": "custom-title", "customTitle": HOSTILE, "sessionId": rows[0]["sessionId"]})
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    session = bring_in(path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    assert "<script>" in page.inner_text("#sessions")
    for panel in ("row", "findings", "state", "request", "operations", "branches", "history"):
        page.goto(f"/sessions/{session.pk}/?at=0:0&panel={panel}")
        page.wait_for_timeout(150)
        assert "owned" not in page.title().split("·")[-1]
        assert page.evaluate("document.title !== 'owned'")
        assert page.locator("#grid img, #grid svg, #grid script, #panel img, #panel script, #grid [hx-get], #grid [onerror]").count() == 0
    assert not [url for url in asked if url.endswith("/audit/")]
    page.goto(f"/sessions/{session.pk}/?at=0:0")
    assert "<script>" in page.inner_text("[id='r0:0']")
    assert page.locator("[id='r0:0'] .ansi-1").count() == 1


def test_secrets_are_masked(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 2)
    key = "sk-ant-api03-" + "Ab1" * 30
    path.write_text(path.read_text().replace("prompt 0", f"use {key} please"))
    session = bring_in(path)
    for address in ("/", *(f"/sessions/{session.pk}/?at=0:0&panel={panel}" for panel in ("row", "request", "state"))):
        page.goto(address)
        assert key not in page.content()
    assert "masked" in page.inner_text("[id='r0:0']")
    assert key not in page.request.get(f"/sessions/{session.pk}/request.json").text()


def test_showing_a_secret_is_a_permission_and_an_audit_entry(client_of: Any, owner: Any, viewer: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 2)
    key = "sk-ant-api03-" + "Ab1" * 30
    path.write_text(path.read_text().replace("prompt 0", f"use {key} please"))
    session = bring_in(path)
    address = f"/sessions/{session.pk}/row/?at="
    assert client_of(viewer).get(address + "0:1").status_code == 200
    assert client_of(viewer).get(address + "0:0").status_code == 403
    assert not AuditEntry.objects.filter(action="secret-shown").exists()
    assert key in client_of(owner).get(address + "0:0").content.decode()
    assert AuditEntry.objects.filter(action="secret-shown", session=session.pk, actor=owner.username).count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_is_accessible(theme: str, width: int, page: Any, bring_in: Bring, axe: Callable[[Any], list[str]]) -> None:
    session = bring_in(KILLED)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    for panel in ("row", "findings", "state", "request", "operations", "branches", "history"):
        page.goto(f"/sessions/{session.pk}/?panel={panel}")
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_other_pages_are_accessible(theme: str, page: Any, bring_in: Bring, axe: Callable[[Any], list[str]]) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto("/")
    assert axe(page) == []
    session = bring_in(KILLED)
    addresses = [
        "/",
        "/?q=nothing+here",
        "/rules/",
        "/rules/?found=1",
        "/rules/unresolved-call/",
        "/errors/",
        "/audit/?verify=1",
        f"/sessions/{session.pk}/compare/",
    ]
    for address in addresses:
        page.goto(address)
        assert axe(page) == []
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", level=1, name="Sign out?").wait_for()
    assert axe(page) == []
    page.goto("/")
    page.locator("[data-dialog=goto]").click()
    page.locator("#goto input").fill("rules")
    page.wait_for_selector("#goto-results li")
    assert axe(page) == []


def test_it_reads_repairs_and_exports_without_a_script(chromium: Any, live_server: Any, owner: Any, client_of: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    cookie = client_of(owner).cookies["inspector_session"]
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"/sessions/{session.pk}/")
    assert page.locator(".verdict").is_visible()
    assert page.locator("[role=columnheader]").first.inner_text() == "Screen"
    page.locator(".fold a").first.click()
    assert page.locator("[id='r0:0']").count() == 1
    page.get_by_role("link", name="Runtime state").click()
    assert "Session id" in page.inner_text("#panel")
    page.get_by_role("link", name="Review the repair…").click()
    page.get_by_role("button", name="Apply").click()
    assert "Revision 2 was made" in page.inner_text(".notices")
    page.get_by_role("link", name="Export…").click()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download the zip").first.click()
    assert waited.value.suggested_filename.endswith("revision-2.zip")
    context.close()


def test_a_clean_session_says_so(page: Any, bring_in: Bring) -> None:
    session = bring_in(CLEAN)
    page.goto(f"/sessions/{session.pk}/")
    assert "Ready to resume" in page.inner_text(".head")


AGENT = Path(__file__).resolve().parents[1] / "corpus" / "claude-code-recorded" / "foreground_agent" / "source"


def test_a_sub_agent_is_a_session_of_its_own_with_a_way_back_to_its_call(page: Any, bring_in: Bring, axe: Callable[[Any], list[str]]) -> None:
    session = bring_in(AGENT)
    agent = session.children.get()
    page.goto(f"/sessions/{session.pk}/?at=0:18&panel=row")
    page.get_by_role("link", name="Open the sub-agent").click()
    page.wait_for_url(f"**/sessions/{agent.pk}/")
    assert "Finished" in page.inner_text(".head")
    assert "resume-refused" not in page.inner_text("main")
    assert axe(page) == []
    page.get_by_role("link", name="Go to the session that started it").click()
    wait_for(page, "0:18")


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_images_come_from_the_transcript_only_and_answers_are_cleaned_markdown(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    path = long_transcript(tmp_path, 2)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    sources = [
        {"type": "base64", "media_type": "image/png", "data": PIXEL},
        {"type": "base64", "media_type": "image/svg+xml", "data": PIXEL},
        {"type": "url", "url": "https://example.com/x.png"},
    ]
    rows[0]["message"]["content"] = [{"type": "image", "source": source} for source in sources]
    rows[1]["message"]["content"] = [
        {"type": "text", "text": "# Done\n\n**bold** ![x](https://example.com/y.png) [a](javascript:alert(1)) <img src=z>"}
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    session = bring_in(path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/sessions/{session.pk}/?at=0:0&panel=row")
    assert page.locator("#panel img").count() == 1
    page.goto(f"/sessions/{session.pk}/?at=0:1&panel=row")
    assert page.locator("#panel .prose strong").inner_text() == "bold"
    assert page.locator("#panel .prose img, #panel .prose a[href^=javascript]").count() == 0
    assert not [url for url in asked if "example.com" in url]
