"""What holds for every probe, whatever is in its template and whatever a person types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.probes import KINDS, Reading, Template, asks, refused, run, validate
from inspector.probes.secrets import Secrets

USABLE: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "file-hash": ({"root": "/nowhere-that-is"}, {"path": ".+"}),
    "git-remote": ({"remote": "/nowhere-that-is"}, {"ref": ".+", "sha": ".+"}),
    "git-log": ({"repository": "/"}, {"sha": ".+", "ref": ".+"}),
    "http-get": ({"url": "http://127.0.0.1:9/{id}?a={a}", "http_hosts": ["127.0.0.1:9"], "expect": {"/id": "{id}"}}, {"id": ".+", "a": ".+"}),
    "sql-select": ({"connection": {"env": "PROBE_NONE"}, "select": "SELECT 1 FROM t WHERE a = :a", "applied_when": "rows"}, {"a": ".+"}),
    "key-lookup": ({"url": "http://127.0.0.1:9/{id}", "http_hosts": ["127.0.0.1:9"], "items": "/data", "window_hours": 1}, {"id": ".+", "key": ".+"}),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_every_kind_is_under_test() -> None:
    assert set(USABLE) == set(KINDS)
    assert all(kind.__doc__ and kind.TITLE for kind in KINDS.values())


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_configuration_is_judged_and_never_run_when_faulty(kind: str, data: st.DataObject) -> None:
    config = dict(USABLE[kind][0])
    for key in data.draw(st.lists(st.sampled_from(sorted(KINDS[kind].KEYS)), min_size=1, max_size=3)):
        config[key] = data.draw(JSON | st.text("/{}[]:=?&#%.~\\'\";-abms\n", max_size=20))
    template = Template("any", kind, config, USABLE[kind][1])
    assert all(isinstance(each, str) and each for each in validate(template))
    assert run(template, {}).verdict == "failed"


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_typed_value_gives_a_reading_and_never_an_answer_without_a_target(kind: str, data: st.DataObject) -> None:
    config, parameters = USABLE[kind]
    template = Template("any", kind, config, parameters)
    values = {
        name: data.draw(st.text(max_size=30) | st.sampled_from(["--help", "refs/heads/main", "0123456789abcdef", "../x", "%2e"]))
        for name in parameters
    }
    reading = run(template, values)
    assert isinstance(reading, Reading)
    assert reading.verdict in ("failed", "unclear")
    json.dumps([reading.says, reading.looked_at]).encode()


def test_parameters_and_names_are_checked() -> None:
    config, parameters = USABLE["key-lookup"]
    for bad in (
        {**parameters, "Key": ".+"},
        {**parameters, "x": "("},
        {**parameters, "x": ""},
        {**parameters, "key": ".*"},
        [],
        {"id": 7, "key": ".+"},
    ):
        assert validate(Template("any", "key-lookup", config, bad))  # type: ignore[arg-type]
    assert validate(Template(" ", "key-lookup", config, parameters))
    assert validate(Template("any", "shell", {}, {}))
    assert validate(Template("any", "key-lookup", [], parameters))  # type: ignore[arg-type]
    assert validate(Template("any", "key-lookup", config, parameters)) == []
    assert "127.0.0.1:9/a%20b" in asks(Template("any", "key-lookup", config, parameters), {"id": "a b", "key": "k"})


def test_a_value_must_match_whole() -> None:
    template = Template("any", "git-log", {"repository": "/"}, {"sha": "[0-9a-f]{7}"})
    for bad in ("0123456\n", "01234567", "012345", "", "x0123456", "\u2028"):
        assert refused(template, {"sha": bad}), bad
    assert refused(template, {}) and refused(template, {"sha": "0123456", "more": "x"}) and refused(template, {"sha": 1234567})  # type: ignore[dict-item]
    assert refused(template, {"sha": "0123456"}) == []


@pytest.mark.parametrize("said", ["{}", "Basic {}", "%s{}"])
def test_secrets_are_hidden_in_every_form(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_X", 'Bearer pä"ss+word/9\\')
    secrets = Secrets()
    assert secrets.read("PROBE_X")
    for form in ('pä"ss+word/9\\', 'p\\u00e4\\"ss+word/9\\\\', "p%C3%A4%22ss%2Bword%2F9%5C", "cMOkInNzK3dvcmQvOVw="):
        hidden = secrets.hide(said.replace("{}", form))
        assert "ss" not in hidden and "cMOk" not in hidden, hidden
        assert secrets.hide_bytes(form.encode()) == b"[secret]"
