"""The two probes that send a GET, against a real server: what they say, where a value can go, and that secrets stay where they belong."""

from __future__ import annotations

import hashlib
import json
import shutil
import ssl
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from inspector.probes import Expected, Reading, Template, run, validate, web
from tests.probes.targets import Server

ANY = r"[\s\S]+"


def order(server: Server, **more: Any) -> Template:
    config = {
        "url": f"http://{server.host}/v1/orders/{{order}}?currency={{currency}}", "http_hosts": [server.host], "absent": [404],
        "expect": {"/id": "{order}", "/amount": 1250, "/lines/0/paid": True},
    }  # fmt: skip
    return Template("order", "http-get", {**config, **more}, {"order": ANY, "currency": ANY})


def look(server: Server, template: Template, order: str = "4711") -> Reading:
    return run(template, {"order": order, "currency": "EUR"})


RECORD = {"id": 4711, "amount": 1250.0, "lines": [{"paid": True}]}


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (200, RECORD, "applied"), (200, {**RECORD, "id": "4711"}, "applied"), (200, {**RECORD, "amount": 1251}, "unclear"),
        (200, {**RECORD, "amount": "1250"}, "unclear"), (200, {**RECORD, "lines": [{"paid": 1}]}, "unclear"),
        (200, {**RECORD, "lines": []}, "unclear"),
        (200, {**RECORD, "id": True}, "unclear"), (200, [], "unclear"), (200, b"<html>", "unclear"), (200, b"", "unclear"),
        (200, b"[" * 100_000, "unclear"), (202, RECORD, "unclear"), (204, b"", "unclear"),
        (404, {}, "not-applied"), (410, {}, "unclear"), (400, {}, "unclear"), (401, {}, "failed"), (403, {}, "failed"), (429, {}, "failed"),
        (500, RECORD, "failed"), (503, {}, "failed"),
    ],
)  # fmt: skip
def test_status_and_fields_decide(server: Server, status: int, body: Any, verdict: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    server.answer = lambda handler: (status, {}, data)
    assert look(server, order(server)).verdict == verdict
    assert [(method, target) for method, target, _ in server.requests] == [("GET", "/v1/orders/4711?currency=EUR")]


def test_a_typed_word_is_not_a_truth_value(server: Server) -> None:
    server.answer = lambda handler: (200, {}, json.dumps({**RECORD, "id": True}).encode())
    assert look(server, order(server), "True").verdict == "unclear"


def test_a_value_stays_one_piece_of_the_address(server: Server) -> None:
    server.answer = lambda handler: (404, {}, b"")
    look(server, order(server), "a/b?admin=1#x&y=2%2e é")
    assert server.requests[0][1] == "/v1/orders/a%2Fb%3Fadmin%3D1%23x%26y%3D2%252e%20%C3%A9?currency=EUR"


@pytest.mark.parametrize(
    "typed",
    ["..", ".", "../admin", "x/../../admin", "..\\admin", "%2e%2e", "%2e%2e%2fadmin", "%252e%252e", "a\r\nX-Evil: 1", "a\nb", "a\0b", "", "\ud800"],
)
def test_values_that_would_move_the_request_are_refused(server: Server, typed: str) -> None:
    assert look(server, order(server), typed).verdict == "failed"
    assert server.requests == []


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://example.com/{order}?c={currency}"}, {"url": "https://{order}/?c={currency}"}, {"url": "https://example.com/?{order}={currency}"},
        {"url": "ftp://example.com/{order}?c={currency}"}, {"url": "file:///etc/{order}?c={currency}"}, {"url": "https://u:p@example.com/{order}?c={currency}"},
        {"url": "https://example.com/{order}?c={currency}#x"}, {"url": "https://example.com/{order}?_method=DELETE&c={currency}"},
        {"url": "https://example.com/{order}/{other}?c={currency}"}, {"url": "https://example.com/{order!r}?c={currency}"},
        {"url": "https://example.com/\n{order}?c={currency}"}, {"url": "https://example.com:x/{order}?c={currency}"}, {"url": "https:///{order}?c={currency}"},
        {"headers": {"X-HTTP-Method-Override": "DELETE"}}, {"headers": {"Host": "x"}}, {"headers": {"X\r\nY": "x"}}, {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X": {"env": "DATABASE_URL"}}}, {"headers": {"X": {"env": "INSPECTOR_SECRET_KEY"}}}, {"headers": []},
        {"expect": {"id": 1}}, {"expect": {}}, {"expect": {"/id": "{nobody}"}}, {"absent": [200]}, {"absent": [403]}, {"method": "POST"}, {"url": ""},
    ],
    ids=str,
)  # fmt: skip
def test_templates_that_could_do_more_than_look_are_refused(server: Server, change: dict[str, Any]) -> None:
    template = order(server, **change)
    assert validate(template)
    assert look(server, template).verdict == "failed"
    assert server.requests == []


def test_a_template_in_order_has_no_faults(server: Server) -> None:
    assert validate(order(server, headers={"Authorization": {"env": "PROBE_TOKEN"}, "X-Account": "a"})) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["http://127.0.0.2:1/", "//example.com/", "/v1/orders/1", "https://example.com/"])
def test_redirects_are_not_followed(server: Server, secret: str, status: int, place: str) -> None:
    server.answer = lambda handler: (status, {"Location": place}, b"")
    reading = look(server, order(server, headers={"Authorization": {"env": "PROBE_TOKEN"}}))
    assert (reading.verdict, len(server.requests)) == ("failed", 1)


def test_secrets_go_to_the_target_and_nowhere_else(server: Server, secret: str) -> None:
    def echo(handler: Any) -> tuple[int, dict[str, str], bytes]:
        said = handler.headers["Authorization"]
        return 200, {}, json.dumps({"all": said, "token": said.split()[1], "coded": "sk_live_very-secret%2Fkey%2B1"}).encode()

    server.answer = echo
    reading = look(server, order(server, headers={"Authorization": {"env": "PROBE_TOKEN"}}))
    assert server.requests[0][2]["Authorization"] == f"Bearer {secret}"
    assert b"[secret]" in reading.output
    for word in (secret, "very-secret"):
        assert word not in repr(reading)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "kéy", "", "   "])
def test_a_secret_that_is_no_header_is_not_sent_and_not_shown(server: Server, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PROBE_TOKEN", value)
    reading = look(server, order(server, headers={"Authorization": {"env": "PROBE_TOKEN"}}))
    assert (reading.verdict, server.requests) == ("failed", [])
    assert "PROBE_TOKEN" in reading.says
    assert not value.strip() or value not in repr(reading)


def test_huge_slow_broken_and_absent_targets_are_no_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "TIMEOUT", 1)
    server.answer = lambda handler: (200, {}, b"x" * (web.LARGEST + 1))
    assert "An administrator must ask for less" in look(server, order(server)).says
    server.answer = lambda handler: (200, {"Content-Length": "100"}, b"{}")
    assert look(server, order(server)).verdict == "failed"
    server.answer = lambda handler: (404, {"Content-Length": "100"}, b"{}")
    assert look(server, order(server)).verdict == "failed"

    def drip(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.1)

    server.raw = drip
    begun = time.monotonic()
    assert look(server, order(server)).verdict == "failed"
    assert time.monotonic() - begun < 5
    server.raw = lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n")
    assert look(server, order(server)).verdict == "failed"
    server.raw = lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n")
    assert look(server, order(server)).verdict == "failed"
    closed = order(server, url="http://127.0.0.1:9/{order}?c={currency}", http_hosts=["127.0.0.1:9"])
    reading = look(server, closed)
    assert (reading.verdict, "could not be reached" in reading.says) == ("failed", True)


def test_the_kept_output_is_cut_and_its_digest_is_of_all(server: Server) -> None:
    body = json.dumps({**RECORD, "note": "x" * 200_000}).encode()
    server.answer = lambda handler: (200, {}, body)
    reading = look(server, order(server))
    assert (reading.verdict, len(reading.output), reading.output_sha256) == ("applied", 64 * 1024, hashlib.sha256(body).hexdigest())


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificate with openssl")
def test_a_certificate_must_be_one_that_the_machine_trusts(server: Server, secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key -out certificate"
    subprocess.run(made.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.answer = lambda handler: (200, {}, json.dumps(RECORD).encode())
    headers = {"Authorization": {"env": "PROBE_TOKEN"}}
    template = order(server, url=f"https://{server.host}/{{order}}?c={{currency}}", http_hosts=[], headers=headers)
    reading = look(server, template)
    assert (reading.verdict, "certificate" in reading.says, server.requests) == ("failed", True, [])
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
    assert look(server, template).verdict == "applied"


def test_proxies_of_the_environment_are_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.answer = lambda handler: (200, {}, json.dumps(RECORD).encode())
    assert look(server, order(server)).verdict == "applied"


# --- Look-up by key ---


def events(server: Server, **more: Any) -> Template:
    config = {"url": f"http://{server.host}/v1/events", "http_hosts": [server.host], "items": "/data", "window_hours": 24}
    return Template("stripe", "key-lookup", {**config, **more}, {"key": r"[\w-]+"})


def page(*keys: str | None, **more: Any) -> bytes:
    return json.dumps({"data": [{"id": f"evt_{key}", "request": {"idempotency_key": key}} for key in keys], **more}).encode()


def hours_ago(hours: float) -> Expected:
    return Expected(at=datetime.now(UTC) - timedelta(hours=hours))


@pytest.mark.parametrize(
    ("body", "expected", "verdict"),
    [
        (page("other", None, "k-1"), Expected(), "applied"),
        (page("other"), hours_ago(1), "not-applied"),
        (page(), hours_ago(1), "not-applied"),
        (page("other"), hours_ago(25), "unclear"),
        (page("other"), hours_ago(-1), "unclear"),
        (page("other"), Expected(), "unclear"),
        (page("other"), Expected(at=datetime(2026, 1, 1)), "unclear"),
        (page("other", has_more=True), hours_ago(1), "unclear"),
        (page("k-1", has_more=True), hours_ago(1), "applied"),
        (b'{"data": {}}', hours_ago(1), "unclear"),
        (b'{"data": ["k-1", 1, null]}', hours_ago(1), "unclear"),
        (page(None, None), hours_ago(1), "unclear"),
        (page(None, "other"), hours_ago(1), "not-applied"),
        (b"[]", hours_ago(1), "unclear"),
        (b"no", hours_ago(1), "unclear"),
    ],
)
def test_the_key_decides_only_inside_the_window(server: Server, body: bytes, expected: Expected, verdict: str) -> None:
    server.answer = lambda handler: (200, {}, body)
    assert run(events(server), {"key": "k-1"}, expected).verdict == verdict
    assert [method for method, _, _ in server.requests] == ["GET"]


def test_a_list_that_is_refused_or_gone_is_never_a_no(server: Server) -> None:
    for status, verdict in ((404, "unclear"), (401, "failed"), (500, "failed")):
        server.answer = lambda handler, status=status: (status, {}, page())
        assert run(events(server), {"key": "k-1"}, hours_ago(1)).verdict == verdict


def test_other_places_of_the_key_and_of_the_list(server: Server) -> None:
    server.answer = lambda handler: (200, {}, b'[{"key/1": "k-1"}]')
    template = events(server, items="/0", key="/key~11")
    assert run(template, {"key": "k-1"}, hours_ago(1)).verdict == "unclear"
    server.answer = lambda handler: (200, {}, b'{"a": [[{"key/1": "k-1"}]]}')
    assert run(events(server, items="/a/0", key="/key~11"), {"key": "k-1"}, hours_ago(1)).verdict == "applied"


NEXT = {"parameter": "starting_after", "from": "/id"}


@pytest.mark.parametrize(
    ("pages", "typed", "verdict", "asked"),
    [(3, "k-2", "applied", 3), (3, "gone", "not-applied", 3), (3, "k-0", "applied", 1), (99, "gone", "unclear", 10)],
)
def test_the_list_is_read_page_by_page(server: Server, pages: int, typed: str, verdict: str, asked: int) -> None:
    def list_page(handler: Any) -> tuple[int, dict[str, str], bytes]:
        after = parse_qs(urlsplit(handler.path).query).get("starting_after", ["evt_k--1"])[0]
        number = int(after.removeprefix("evt_k-")) + 1
        return 200, {}, page(f"k-{number}", has_more=number < pages - 1)

    server.answer = list_page
    reading = run(events(server, next=NEXT, url=f"http://{server.host}/v1/events?limit=1"), {"key": typed}, hours_ago(1))
    assert (reading.verdict, len(server.requests)) == (verdict, asked)
    assert all(target.startswith("/v1/events?limit=1") for _, target, _ in server.requests)


def test_what_a_page_says_of_the_next_one_stays_a_value(server: Server) -> None:
    server.answer = lambda handler: (200, {}, b'{"data": [{"id": "a&b=c#d\\r\\n /..", "request": {"idempotency_key": "x"}}], "has_more": true}')
    assert run(events(server, next=NEXT), {"key": "k-1"}, hours_ago(1)).verdict == "unclear"
    assert {target for _, target, _ in server.requests} == {"/v1/events", "/v1/events?starting_after=a%26b%3Dc%23d%0D%0A%20%2F.."}


def test_a_page_that_fails_is_no_answer(server: Server) -> None:
    server.answer = lambda handler: (200, {}, page("x", has_more=True)) if len(server.requests) == 1 else (500, {}, b"")
    assert run(events(server, next=NEXT), {"key": "k-1"}, hours_ago(1)).verdict == "failed"


@pytest.mark.parametrize(
    "change",
    [
        {"items": "data"}, {"key": "request"}, {"window_hours": 0}, {"window_hours": True}, {"window_hours": "24"}, {"more": 1}, {"next": "x"},
        {"next": {"parameter": "a&b", "from": "/id"}}, {"next": {"parameter": "_method", "from": "/id"}}, {"next": {"parameter": "a", "from": "id"}},
    ],
    ids=str,
)  # fmt: skip
def test_faults_of_a_look_up_are_named(server: Server, change: dict[str, Any]) -> None:
    assert validate(events(server, **change))
