"""The administrators' pages in a real browser: a rule is written, tried and saved; a look at a target is clicked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from inspector.models import Evidence, PolicyVersion, Probe, Session, Target
from inspector.services.save_policy import save_policy
from inspector.services.save_probe import save_probe
from inspector.services.save_target import save_target
from tests.browser.conftest import KILLED
from tests.shell.sessions import row, transcript

pytestmark = pytest.mark.django_db(transaction=True)
Bring = Callable[[Path], Session]


def test_a_rule_is_written_tried_and_saved(page: Any, bring_in: Bring) -> None:
    session = bring_in(KILLED)
    operation = session.ledger.filter(state="uncertain").first()
    page.goto("/")
    page.get_by_role("link", name="Policy", exact=True).click()
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_label("Tool", exact=True).nth(1).fill("Bash")
    page.get_by_label("Effect").nth(1).select_option("destructive")
    page.get_by_label("Why", exact=True).nth(1).fill("it touches staging")
    page.get_by_role("button", name="Move rule 2 up").click()
    assert page.get_by_label("Tool", exact=True).first.input_value() == "Bash"
    page.get_by_role("button", name="Remove rule 2").click()
    page.get_by_label("Tool", exact=True).last.fill("Bash")
    page.get_by_label("Arguments as JSON").fill(json.dumps({"command": "ls"}))
    page.get_by_label("Arguments as JSON").press("Tab")
    page.get_by_role("button", name="Try it").click()
    assert "destructive: changes something beyond recall" in page.locator("[role=status]", has_text="destructive").inner_text()
    page.get_by_role("button", name="Save and judge again").click()
    assert "Say why the policy is changed" in page.inner_text("main") and not PolicyVersion.objects.exists()
    page.get_by_label("Why it is changed").fill("staging is shared")
    page.get_by_label("Why it is changed").press("Enter")
    assert not PolicyVersion.objects.exists(), "the Enter key tries; it never saves"
    page.get_by_label("Why it is changed").fill("staging is shared")
    page.get_by_role("button", name="Save and judge again").click()
    page.wait_for_url("**/policy/")
    assert "Version 1 is in force" in page.inner_text(".notices")
    page.goto(f"/operations/{operation.pk}/")
    assert "it touches staging" in page.inner_text("main")


def test_a_look_is_clicked_and_its_reading_kept(page: Any, bring_in: Bring, owner: User, tmp_path: Path) -> None:
    asked = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": {"file_path": "/home/dev/shop/hello.py", "content": "hello\n"}}
    file = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    file.write_bytes(transcript() + row("user", 4, 3, "write it") + row("assistant", 5, 4, [asked]))
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "hello.py").write_text("hello\n")
    probe = Probe(name="checkout", kind="file-hash", config={"root": str(checkout)}, parameters={"path": r"[\w./-]+"})
    save_probe(actor=owner, probe=probe)
    operation = bring_in(file).ledger.get()
    page.goto(f"/operations/{operation.pk}/")
    form = page.locator("#check form")
    form.get_by_label("path").fill("hello.py")
    form.get_by_role("button", name="Check now").click()
    page.wait_for_url(f"**/operations/{operation.pk}/")
    assert "exactly what the call would have left" in page.inner_text(".notices")
    assert Evidence.objects.get().verdict == "applied"
    assert "says it happened" in page.inner_text("main")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_pages_are_accessible_and_fit(theme: str, width: int, page: Any, owner: User, axe: Callable[[Any], list[str]]) -> None:
    probe = save_probe(actor=owner, probe=Probe(name="checkout", kind="file-hash", config={"root": "/"}, parameters={"path": ".+"}))
    target = save_target(actor=owner, target=Target(name="staging", kind="lookup", contract="It lists what it did.", probe=probe))
    rule = {"tool": "Bash", "pointer": "/command", "glob": "./rollout.sh staging", "effect": "mutating", "why": "it rolls out", "target": "staging"}
    servers = {"wiki": {"search": {"readOnlyHint": True}}}
    save_policy(actor=owner, rules=[rule, rule | {"glob": "./rollout.sh live"}], servers=servers, note="first", base=0)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    edits = [f"/policy/targets/{target.pk}/", f"/policy/probes/{probe.pk}/", "/policy/probes/new/?kind=http-get"]
    for address in ("/policy/", "/policy/versions/1/", "/policy/targets/", "/policy/probes/", *edits, "/tokens/", "/targets/", "/targets/key/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert axe(page) == [], address
