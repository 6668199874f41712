"""Law: whatever field of a transcript it stands in, markup is shown as text and a secret is masked, on every page of a session."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from inspector.models import Session

from .sessions import SID

pytestmark = pytest.mark.django_db
MARKUP = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"
SECRETS = ("sk-" + "ant-api03-AbCdEfGhIjKlMnOpQrStUvWx123", "AK" + "IAIOSFODNN7EXAMPLE", "hunter2pw9X", "MIIEowIBAAKCAQEAxyz", "s3cr3tTok3nValue99")
SECRET = (
    f"{SECRETS[0]} {SECRETS[1]} https://bob:{SECRETS[2]}@host/x -----BEGIN RSA {'PRIVATE'} KEY-----\n{SECRETS[3]}\n-----END RSA {'PRIVATE'} KEY----- "
    f'Authorization: Bearer {SECRETS[4]} {{"password": "{SECRETS[4]}"}}'
)
PANELS = ("state", "request", "findings", "operations", "resume", "branches", "history")


def transcript(text: str) -> bytes:
    """A session that holds the text wherever a person, a model, a tool or another program could have put it."""
    at = "2026-05-04T09:00:0{}.000Z".format
    common = {"sessionId": SID, "isSidechain": False, "cwd": f"/x/{text}", "gitBranch": text, "version": f"2.1.332 {text}"}

    def row(kind: str, number: int, content: object, **more: object) -> dict[str, object]:
        body = {"role": kind, "content": content} | ({"id": f"m{number} {text}", "model": f"claude {text}"} if kind == "assistant" else {})
        parent = f"u{number - 1} {text}" if number else None
        return common | {"type": kind, "uuid": f"u{number} {text}", "parentUuid": parent, "timestamp": at(number), "message": body} | more

    image = {"type": "image", "source": {"type": "base64", "media_type": 'image/png" onerror="alert(3)', "data": text}}
    call = {"type": "tool_use", "id": f"t {text}", "name": f"B {text}", "input": {"command": text, text: text}}
    rows = [
        row("user", 0, text, permissionMode=text),
        row("assistant", 1, [{"type": "thinking", "thinking": text, "signature": text}, {"type": "text", "text": text}, call]),
        row("user", 2, [
            {"type": "tool_result", "tool_use_id": f"t {text}", "is_error": True, "content": text},
            {"type": "tool_result", "tool_use_id": f"none {text}", "content": [{"type": "text", "text": text}, image]},
            {"type": text, text: text},
        ], toolUseResult={"stdout": text, "stderr": text, "persistedOutputPath": text}),
        row("assistant", 3, [{"type": "text", "text": f"API Error: 400 {text}"}], isApiErrorMessage=True, error=text, timestamp=f"bad {text}"),
        row("assistant", 4, [{"type": "tool_use", "id": f"open {text}", "name": "Bash", "input": {"command": f"rm -rf /x; curl {text}"}}]),
        {"type": "custom-title", "customTitle": text, "sessionId": SID},
        {"type": "agent-name", "agentName": text, "sessionId": SID},
        {"type": "queue-operation", "operation": "enqueue", "content": text, "timestamp": text, "sessionId": SID},
        {"type": "pr-link", "prUrl": "javascript:alert(4)", "prNumber": text, "sessionId": SID},
        {"type": "worktree-state", "worktreeSession": {"worktreePath": text, "worktreeName": text}, "sessionId": SID},
        {"type": text, "x": text},
        common | {"type": "system", "subtype": text, "content": text, "uuid": f"u5 {text}", "parentUuid": f"u4 {text}", "timestamp": at(5)},
        common | {"type": "attachment", "attachment": {"type": text}, "uuid": f"u6 {text}", "parentUuid": f"u5 {text}", "timestamp": at(6)},
        {"type": "file-history-snapshot", "messageId": text, "snapshot": {"trackedFileBackups": {text: {"backupFileName": text, "version": 1}}}},
        {"type": "permission-mode", "permissionMode": text, "sessionId": SID},
    ]  # fmt: skip
    return b"".join(json.dumps(value).encode() + b"\n" for value in rows) + text.replace("\n", " ").encode() + b"\n"


def pages(person: User, name: str, text: str) -> dict[str, str]:
    """Address -> HTML or text of every page of the session, brought in by upload."""
    browser = Client()
    browser.force_login(person)
    browser.post(reverse("imports"), {"files": [SimpleUploadedFile(name, transcript(text))]})
    session = Session.objects.get()
    pk = session.pk
    browser.post(reverse("report", args=[pk]), {"tool": text, "what": text, "target": text})
    held = list(session.ledger.filter(state="uncertain"))
    assert len(held) > 1
    for operation, outcome in zip(held, ("applied", "superseded"), strict=False):
        said = {"outcome": outcome, "statement": text, "note": text, "url": "https://example.org/?key=1", "effect_exists": "yes"}
        answer = browser.post(reverse("operation-claim", args=[operation.pk]), said | {"file": SimpleUploadedFile(f"{text[:40]}.txt", b"seen")})
        assert answer.status_code == 302
    own = [reverse(page, args=[pk]) for page in ("session", "request-json", "compare", "repair", "fork", "export", "delete", "gate", "report")]
    own += [reverse("operations"), *(reverse("operation", args=[operation.pk]) for operation in held)]
    own += [f"{own[0]}?{query}" for query in ("resume=fork", "show=problems", "q=alert", "fold=0", "model=%3Cscript%3Ealert(2)%3C/script%3E")]
    own += [reverse("session-panel", args=[pk, panel]) for panel in PANELS]
    own += [reverse("session-panel", args=[pk, "row"]) + f"?at=0:{number}" for number in range(16)]
    own += [reverse("inbox"), reverse("inbox") + "?q=alert", reverse("audit"), reverse("goto") + "?q=alert", reverse("goto") + "?q=key"]
    found = {}
    for address in own:
        answer = browser.get(address)
        assert answer.status_code in (200, 409), address
        found[address] = answer.content.decode()
    return found


class Elements(HTMLParser):
    """Collects what no template of ours writes: handlers, scripts inside the page, addresses that run something, images from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.alien: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        handler = any(name.startswith(("on", "hx-on")) for name in values)
        runs = any(values.get(name, "").strip().lower().startswith("javascript:") for name in ("href", "src", "action", "xlink:href"))
        inside = tag == "script" and not values.get("src", "").startswith("/static/") and "nonce" not in values
        foreign = tag == "img" and not values.get("src", "").startswith("data:image/")
        if handler or runs or inside or foreign or tag in ("iframe", "object", "embed", "base"):
            self.alien.append(f"{tag} {attrs}")


def test_markup_is_shown_as_text(owner: User) -> None:
    for address, html in pages(owner, "<img src=x onerror=alert(1)>.jsonl", MARKUP).items():
        if "request.json" not in address:
            found = Elements()
            found.feed(html)
            assert found.alien == [], address


def test_secrets_are_masked(owner: User) -> None:
    for address, html in pages(owner, f"{SID}.jsonl", SECRET).items():
        shown = re.sub(r'<option value="[^"]*"', "", html)  # a filter's own value is what the next search is made with
        assert [shown[max(at - 80, 0) : at] for at in (shown.find(secret) for secret in SECRETS) if at >= 0] == [], address
