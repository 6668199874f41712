"""What people do, from the drop zone to the export, in a real Chromium."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.models import AuditEntry, Session

from .conftest import CLEAN, KILLED, Settle
from .test_session_page import long_transcript

Bring = Callable[[Path], Session]
CALLS = {"mutating": "echo x >> effect.txt", "read-only": "echo three"}
"""The calls without a result in KILLED."""
DROP = """([names, texts]) => {
  const data = new DataTransfer();
  names.forEach((name, at) => data.items.add(new File([Uint8Array.from(texts[at])], name)));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drop(page: Any, *files: tuple[str, bytes]) -> None:
    """Drop files on the page as a file manager would."""
    page.evaluate(DROP, [[name for name, _ in files], [list(data) for _, data in files]])


def test_one_dropped_transcript_opens_at_its_defect(page: Any) -> None:
    page.goto("/")
    assert "Three ways to bring one in" in page.inner_text("#sessions")
    drop(page, (KILLED.name, KILLED.read_bytes()))
    page.wait_for_url("**/sessions/*/")
    assert page.locator("#grid .row.problem").count() >= 1
    revision = Session.objects.get().current
    assert revision.parts.get(number=0).artifact_id == hashlib.sha256(KILLED.read_bytes()).hexdigest()


def test_several_files_and_an_archive_in_one_drop(page: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"projects/-home-dev-shop/{CLEAN.name}", CLEAN.read_bytes())
    page.goto("/")
    drop(page, (KILLED.name, KILLED.read_bytes()), ("more.zip", packed.getvalue()))
    page.wait_for_selector(".uploads >> text=2 sessions brought in")
    page.wait_for_selector("#sessions tbody tr:nth-child(2)")
    assert Session.objects.count() == 2
    assert page.locator(".filters .chip").first.inner_text().split() == ["All", "2"]
    links = page.locator(".uploads a")
    assert {links.nth(at).get_attribute("href") for at in range(2)} == {f"/sessions/{session.pk}/" for session in Session.objects.all()}


def test_a_file_that_is_here_already_says_so(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    session.slug = ""
    session.save()
    page.goto("/")
    drop(page, (KILLED.name, KILLED.read_bytes()))
    page.wait_for_selector(".uploads >> text=1 session here already with the same bytes")
    page.locator(".uploads a").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")


def test_a_file_of_no_known_program_is_named(page: Any, client_of: Any, owner: Any, axe: Callable[[Any], list[str]]) -> None:
    page.goto("/")
    drop(page, ("README.md", b"# Read me\n\nNothing of a session.\n"))
    page.wait_for_selector(".uploads .notice.warn >> text=README.md: no known program wrote this")
    assert page.locator(".uploads a").count() == 1
    assert axe(page) == []
    drop(page, (KILLED.name, KILLED.read_bytes()), ("notes.txt", b"beside it"))
    page.wait_for_selector(".uploads >> text=notes.txt: not brought in")
    answer = client_of(owner).post("/imports/", {"files": [io.BytesIO(b"other text")]}, follow=True)
    assert "no known program wrote this" in answer.content.decode()


def test_what_can_not_be_imported_says_why_and_leaves_nothing(page: Any) -> None:
    page.goto("/")
    drop(page, ("broken.zip", b"PK\x03\x04 and then nothing of a zip"))
    page.wait_for_selector(".uploads .notice.bad")
    assert "Nothing was imported" in page.inner_text(".uploads")
    assert not Session.objects.exists()


def test_a_form_without_a_script_imports_too(client_of: Any, owner: Any) -> None:
    with KILLED.open("rb") as file:
        answer = client_of(owner).post("/imports/", {"files": [file]}, follow=True)
    assert "1 session brought in" in answer.content.decode()


def test_repair_is_reviewed_applied_and_then_clean(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/")
    page.get_by_role("link", name="Review the repair…").click()
    assert "does not undo what a command did" in page.inner_text("main")
    assert page.locator("article .ins").count() >= 2
    new = page.locator("article .ins", has_text="The session ended before a result").first.inner_text()
    assert new.rstrip().endswith(']"') and "at the status of its task" in new
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    assert "Revision 2 was made" in page.inner_text(".notices")
    session.refresh_from_db()
    repaired = session.current
    assert repaired.number == 2 and repaired.kind == "repaired"
    assert not repaired.findings.filter(severity__in=("fatal", "error")).exclude(code="uncertain-operation").exists()
    assert page.locator(".row .chip.added", has_text="added by the repair").count() == 3
    assert page.get_by_role("link", name="Review the repair…").count() == 0
    first = session.revisions.get(number=1)
    assert first.parts.get(number=0).artifact_id == hashlib.sha256(KILLED.read_bytes()).hexdigest()


def test_another_choice_gives_another_plan(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    before = page.get_attribute('[name="digest"]', "value")
    with page.expect_navigation():
        page.locator('input[value="leave-out"]').first.check()
    assert page.get_attribute('[name="digest"]', "value") != before
    assert page.locator('input[value="leave-out"]').first.is_checked()


def test_choices_that_make_another_step_needless_leave_the_others(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    for number in range(page.locator('input[value="leave-out"]').count()):
        with page.expect_navigation():
            page.locator('input[value="leave-out"]').nth(number).check()
        assert "No repair can be made" not in page.inner_text("main")
    assert page.locator('input[value="leave-out"]:checked').count() == 2
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    assert {step["chosen"] for step in session.revisions.get(number=2).plan["steps"] if step["finding"] == "unresolved-call"} == {"leave-out"}


def test_a_plan_that_is_not_the_reviewed_one_is_not_applied(client_of: Any, owner: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    values = {"seed": "s", "do": "apply", "digest": "0" * 64}
    answer = client_of(owner).post(f"/sessions/{session.pk}/repair/", values)
    assert "Not applied yet" in answer.content.decode()
    assert session.revisions.count() == 1


def test_without_a_script_apply_shows_the_plan_of_changed_choices_first(chromium: Any, page: Any, live_server: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False, storage_state=page.context.storage_state())
    plain = context.new_page()
    plain.goto(f"/sessions/{session.pk}/repair/")
    plain.locator('input[value="leave-out"]').first.check()
    plain.get_by_role("button", name="Apply").click()
    assert "Not applied yet" in plain.inner_text("main") and session.revisions.count() == 1
    assert plain.locator('input[value="leave-out"]').first.is_checked()
    plain.get_by_role("button", name="Apply").click()
    assert "Revision 2 was made" in plain.inner_text("body")
    assert "leave-out" in [step["chosen"] for step in session.revisions.get(number=2).plan["steps"]]
    context.close()


def test_what_was_found_is_in_the_repair_and_stays_on_record(page: Any, bring_in: Bring, settle: Settle) -> None:
    session = bring_in(KILLED)
    settle(session, "not-applied", "the remote has no such commit")
    page.goto(f"/sessions/{session.pk}/repair/")
    new = page.locator(".ins", has_text="the remote has no such commit").first.inner_text()
    assert "owner checked on" in new and "team-mate confirmed it" in new
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    revision = session.revisions.get(number=2)
    (kept,) = revision.plan["resolutions"]
    assert (kept["outcome"], kept["text"], kept["by"]) == ("did-not-happen", "the remote has no such commit", "owner")
    assert kept["confirmed_by"] == "team-mate" and "stamp" not in kept and "Bash: did-not-happen" in revision.note
    assert "the remote has no such commit" in AuditEntry.objects.get(action="session-repaired", session=session.pk).body
    page.goto(f"/sessions/{session.pk}/?panel=operations")
    assert "the remote has no such commit" in page.inner_text("#panel") and "It did not happen" in page.inner_text("#panel")
    page.goto("/audit/")
    assert "found by owner: did-not-happen, “the remote has no such commit”, confirmed by team-mate" in page.inner_text("main")


def test_what_was_found_after_a_repair_is_written_by_another(page: Any, bring_in: Bring, settle: Settle) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    page.get_by_role("button", name="Apply and leave it open").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    assert page.locator(".steps .primary").inner_text() == "Resolve the operation…"
    assert page.get_by_role("link", name="Review the repair…").count() == 0
    settle(session, "applied", "staging runs the new build")
    page.reload()
    page.get_by_role("link", name="Review the repair…").click()
    assert "staging runs the new build" in page.locator(".ins").first.inner_text()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    newest = session.revisions.get(number=3)
    assert page.locator(".row .chip.added", has_text="added by the repair").count() == 3
    assert newest.counts["open_operations"] == 0 and newest.plan["resolutions"][0]["outcome"] == "happened"
    assert "nobody knows" not in page.inner_text(".verdict").lower() and page.get_by_role("link", name="Review the repair…").count() == 0


def test_what_was_found_of_a_call_that_was_left_out_is_kept_too(page: Any, bring_in: Bring, settle: Settle) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    with page.expect_navigation():
        page.locator('input[value="leave-out"]').first.check()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    settle(session, "applied", "effect.txt has the line")
    page.goto(f"/sessions/{session.pk}/repair/")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    assert session.revisions.get(number=3).plan["resolutions"][0]["text"] == "effect.txt has the line"
    page.goto(f"/sessions/{session.pk}/?panel=operations")
    said = page.inner_text("#panel")
    assert "effect.txt has the line" in said and "Confirmed by team-mate" in said


def test_a_hostile_note_about_a_call_breaks_no_page(client_of: Any, owner: Any, bring_in: Bring, settle: Settle, tmp_path: Path) -> None:
    key = '\ud800"><script>'
    note = {"type": "session-inspector", "kind": "left-out", "operation": key, "callId": "toolu_gone", "tool": "Bash\ud800", "arguments": {"x": key}}
    path = tmp_path / CLEAN.name
    path.write_bytes(CLEAN.read_bytes() + json.dumps(note).encode() + b"\n")
    session = bring_in(path)
    kept = session.ledger.get()
    for address in ("", "repair/", "?panel=operations", "?panel=resume", "?panel=history"):
        answer = client_of(owner).get(f"/sessions/{session.pk}/{address}")
        assert answer.status_code == 200 and '"><script>' not in answer.content.decode()
    settle(session, "applied", "seen")
    for address in ("/operations/", f"/operations/{kept.pk}/"):
        answer = client_of(owner).get(address)
        assert answer.status_code == 200 and '"><script>' not in answer.content.decode() and "&quot;&gt;&lt;script&gt;" in answer.content.decode()
    shown = client_of(owner).get(f"/sessions/{session.pk}/repair/").content.decode()
    form = {field: re.search(f'name="{field}" value="([^"]+)"', shown)[1] for field in ("seed", "time", "digest", "newest")}  # type: ignore[index]
    client_of(owner).post(f"/sessions/{session.pk}/repair/", form | {"do": "apply"})
    assert session.revisions.get(number=2).counts["open_operations"] == 0


def test_an_old_revision_says_so_and_last_activity_is_that_of_the_client(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    before = session.last_activity
    page.goto(f"/sessions/{session.pk}/repair/")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    session.refresh_from_db()
    assert session.last_activity == before
    assert page.locator("text=You look at revision").count() == 0
    page.goto(f"/sessions/{session.pk}/?rev=1")
    assert "You look at revision 1; the newest is 2." in page.inner_text("main")
    page.get_by_role("link", name="Review the repair of revision 1…").click()
    assert "You look at revision 1; the newest is 2." in page.inner_text("main")
    assert page.get_by_role("button", name="to revision 1").count() == 1
    page.get_by_role("link", name="Go to revision 2").click()
    assert "nothing else to repair" in page.inner_text("h1")


def test_a_review_that_another_repair_overtook_is_not_applied_unsaid(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    other = page.context.new_page()
    other.goto(f"/sessions/{session.pk}/repair/")
    other.get_by_role("button", name="Apply").click()
    other.wait_for_url(f"**/sessions/{session.pk}/")
    page.get_by_role("button", name="Apply").click()
    assert "revision 2 was made since you opened this page" in page.inner_text("main") and session.revisions.count() == 2
    assert "You look at revision 1; the newest is 2." in page.inner_text("main")
    page.get_by_role("button", name="to revision 1").click()
    page.wait_for_url(f"**/sessions/{session.pk}/")
    assert session.revisions.get(number=3).parent.number == 1


def test_a_page_with_nothing_to_repair_leads_on(page: Any, bring_in: Bring) -> None:
    session = bring_in(CLEAN)
    page.goto(f"/sessions/{session.pk}/repair/")
    assert "Nothing to repair" in page.inner_text("h1") and page.get_by_role("button", name="Apply").count() == 0
    page.locator("main").get_by_role("link", name="Export…").click()
    page.wait_for_url(f"**/sessions/{session.pk}/export/")


def test_one_count_of_findings_and_one_of_messages(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/?panel=findings")
    above = session.current.findings.exclude(severity="info").count()
    assert page.locator("#panel .list").first.locator("li").count() == above
    assert page.get_by_role("link", name=f"Findings {above}", exact=True).count() == 1
    assert page.get_by_role("link", name=f"Problems {above}", exact=True).count() == 1
    messages = page.request.get(f"/sessions/{session.pk}/request.json").json()["messages"]
    assert f"{len(messages)} messages in the next request" in page.inner_text(".facts")


def test_a_fork_is_a_session_of_its_own_with_a_way_back(page: Any, bring_in: Bring) -> None:
    session = bring_in(CLEAN)
    page.goto(f"/sessions/{session.pk}/fork/")
    page.get_by_role("button", name="Make the fork").click()
    page.wait_for_url(lambda url: "/fork/" not in url)
    fork = Session.objects.get(relation="fork")
    assert page.url.endswith(f"/sessions/{fork.pk}/")
    assert fork.native_id != session.native_id
    page.locator(".crumbs a").nth(1).click()
    page.wait_for_url(f"**/sessions/{session.pk}/")


def test_a_row_that_is_no_place_to_fork_at_is_refused(page: Any, bring_in: Bring) -> None:
    session = bring_in(CLEAN)
    page.goto(f"/sessions/{session.pk}/fork/?at=0:99999")
    assert page.locator('[role="alert"]').is_visible()
    assert page.get_by_role("button", name="Make the fork").count() == 0


def test_the_export_holds_the_exact_bytes(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/export/")
    assert f"claude --resume {session.native_id}" in page.inner_text("main")
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download the zip").click()
    with zipfile.ZipFile(waited.value.path()) as archive:
        name = next(name for name in archive.namelist() if name.endswith(KILLED.name))
        assert name.startswith("projects/")
        assert archive.read(name) == KILLED.read_bytes()
    assert AuditEntry.objects.filter(action="session-exported", session=session.pk).exists()


def test_a_masked_export_has_another_name(client_of: Any, owner: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    names = [client_of(owner).post(f"/sessions/{session.pk}/export/", {"revision": "1", "mask": mask})["Content-Disposition"] for mask in ("", "1")]
    assert names[0].endswith('-revision-1.zip"') and names[1].endswith('-revision-1-masked.zip"')


def test_history_shows_the_hash_that_the_export_shows(client_of: Any, owner: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    sha256 = hashlib.sha256(KILLED.read_bytes()).hexdigest()
    for address in ("export/", "panels/history/"):
        assert sha256 in client_of(owner).get(f"/sessions/{session.pk}/{address}").content.decode()


def test_what_no_known_program_wrote_is_not_compared(client_of: Any, owner: Any, bring_in: Bring, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("plain text")
    session = bring_in(tmp_path / "notes.txt")
    assert "Nothing can be compared" in client_of(owner).get(f"/sessions/{session.pk}/compare/").content.decode()


def test_rules_are_narrowed_to_those_found(page: Any, bring_in: Bring) -> None:
    bring_in(KILLED)
    page.goto("/rules/")
    every = page.locator("tbody").first.locator("tr").count()
    page.get_by_role("link", name="Found here").click()
    page.wait_for_url("**found=1")
    assert 0 < page.locator("tbody").first.locator("tr").count() < every
    assert "unresolved-call" in page.inner_text("main")


def test_a_session_is_deleted_only_with_a_reason_and_the_permission(page: Any, bring_in: Bring, client_of: Any, viewer: Any) -> None:
    session = bring_in(KILLED)
    assert client_of(viewer).get(f"/sessions/{session.pk}/delete/").status_code == 403
    page.goto(f"/sessions/{session.pk}/delete/")
    page.fill("[name=reason]", "the customer asked for it")
    page.get_by_role("button", name="Delete for good").click()
    page.wait_for_url(lambda url: "/delete/" not in url)
    assert not Session.objects.exists()
    page.goto("/audit/?verify=1")
    assert "the customer asked for it" in page.inner_text("main")
    assert "The chain is whole" in page.inner_text("main")


def test_a_pasted_error_leads_to_its_row(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto("/errors/")
    page.fill("[name=text]", "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_mock_d8ac4e_002")
    page.get_by_role("button", name="Find the cause").click()
    assert "A1" in page.inner_text("main")
    assert page.locator("main a.chip").get_attribute("href") == "/rules/A1/"
    assert page.get_by_role("link", name="unresolved-call").get_attribute("href") == "/rules/unresolved-call/"
    assert page.get_by_role("link", name="Review the repair of").get_attribute("href") == f"/sessions/{session.pk}/repair/"
    page.locator(f'a[href^="/sessions/{session.pk}/"]').first.click()
    page.wait_for_selector('#grid [aria-current="true"]')


def test_the_providers_own_trouble_is_told_as_such(page: Any) -> None:
    page.goto("/errors/")
    page.fill("[name=text]", "529 overloaded_error")
    page.get_by_role("button", name="Find the cause").click()
    assert "nothing in the session causes it" in page.inner_text("main")


def test_the_inbox_is_filtered_searched_and_paged_by_key(page: Any, bring_in: Bring, tmp_path: Path) -> None:
    bring_in(KILLED)
    bring_in(long_transcript(tmp_path, 4))
    page.goto("/")
    assert page.locator("#sessions tbody tr").count() == 2
    page.locator(".filters").get_by_text("Ready to resume").click()
    assert page.locator("#sessions tbody tr").count() == 1
    page.goto("/?q=PROMPT+0")
    assert page.locator("#sessions tbody tr").count() == 1
    page.goto("/?q=no+such+words")
    assert "No session fits" in page.inner_text("#sessions")
    assert page.locator(".filters .chip", has_text="Ready to resume").inner_text().split()[-1] == "0"
    for words in ("nobody+knows+whether", "toolu_mock_d8ac4e_002"):
        page.goto(f"/?q={words}")
        assert page.locator("#sessions tbody tr").count() == 1
    assert page.locator("input[type=search]:visible").count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_of_work_are_accessible(theme: str, page: Any, bring_in: Bring, axe: Callable[[Any], list[str]]) -> None:
    session = bring_in(KILLED)
    page.emulate_media(color_scheme=theme)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("repair", "fork", "export", "delete"):
            page.goto(f"/sessions/{session.pk}/{name}/")
            assert axe(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_choices_are_worded_by_the_effect_of_the_call(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    page.goto(f"/sessions/{session.pk}/repair/")
    cards = {effect: page.locator("article[id^=step-unresolved]", has_text=call).inner_text() for effect, call in CALLS.items()}
    assert "may have happened" in cards["mutating"] and "nothing is lost but the question" not in cards["mutating"]
    assert "may have happened" not in cards["read-only"] and "nothing is lost but the question" in cards["read-only"]


def test_entries_of_a_running_import_fill_in_by_themselves(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    Session.objects.filter(pk=session.pk).update(status="importing", verdict="")
    page.goto("/")
    assert "Being read" in page.inner_text("#sessions")
    Session.objects.filter(pk=session.pk).update(status="ready", verdict="needs-repair")
    page.wait_for_selector("#sessions >> text=Needs repair")
    assert "Being read" not in page.inner_text("#sessions")


def test_the_audit_trail_is_in_words(page: Any, bring_in: Bring, client_of: Any, owner: Any) -> None:
    session = bring_in(KILLED)
    client_of(owner).post(f"/sessions/{session.pk}/export/", {"revision": "1", "mask": "1"})
    page.goto("/audit/")
    first = page.locator("tbody tr").first
    assert "revision 1" in first.inner_text() and "secrets masked" in first.inner_text()
    assert first.locator("a").inner_text() == str(session)
    assert not {"null", "[", "True"} & set(page.locator("tbody td:last-child").all_inner_texts())
