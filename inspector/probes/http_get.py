"""HTTP: does a GET show the record with the expected fields? The record must be the operation's own: its id, amount and actor belong into `expect`.

Config: `url` with slots {name} in path segments and query values; `expect` (JSON pointer -> fixed value, or "{name}" for a typed one); `absent`
(statuses that say that there is no such record, for example [404]); `headers` (name -> text or {"env": NAME}); `http_hosts` (hosts that may be
asked without TLS). Parameters: what the slots name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.core.jsonspans import NotJson, loads

from . import web
from .pointer import MISSING, POINTER, SLOT, found_at, same
from .secrets import Secrets
from .template import Answer, Expected, Template, text_key

TITLE = "HTTP GET"
KEYS = {**web.KEYS, "expect": True, "absent": False}
ABSENT_STATUSES = frozenset((404, 410))


def problems(template: Template) -> Iterator[str]:
    """Every expected field must be a pointer, every parameter must be used."""
    yield from web.problems(template)
    expect = template.config["expect"]
    if not isinstance(expect, Mapping):
        yield "`expect` must be an object: JSON pointer -> expected value."
        return
    used = set(SLOT.findall(text_key(template, "url")))
    for pointer, wanted in expect.items():
        if not POINTER.fullmatch(pointer):
            yield f"`expect`: {pointer} is no JSON pointer; one looks like /data/0/id."
        for name in SLOT.findall(wanted) if isinstance(wanted, str) else ():
            used.add(name)
            if name not in template.parameters:
                yield f"`expect` names {{{name}}} without a parameter of this name."
    for name in sorted(set(template.parameters) - used):
        yield f"The parameter `{name}` is used nowhere."
    absent = template.config.get("absent", [])
    if not isinstance(absent, list) or not set(map(str, absent)) <= set(map(str, ABSENT_STATUSES)):
        yield f"`absent` may list only the statuses {', '.join(map(str, sorted(ABSENT_STATUSES)))}."


def asks(template: Template, values: Mapping[str, str]) -> str:
    fields = ", ".join(pointer or "the whole answer" for pointer in template.config["expect"])
    return f"GET {web.fill(text_key(template, 'url'), values)}, comparing {fields}."


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Ask once and compare the fields."""
    response = web.get(template, values, secrets)
    if response.status in template.config.get("absent", []):
        says = f"The target says that there is no such record now (status {response.status}). A late request could still make one."
        return Answer("not-applied", says, response.body)
    if response.status != 200:
        return Answer("unclear", f"The target answered with status {response.status}, which says nothing sure.", response.body)
    try:
        value = loads(response.body)
    except NotJson:
        return Answer("unclear", "The answer is no JSON.", response.body)
    differ = [pointer for pointer, wanted in template.config["expect"].items() if not same(found_at(value, pointer), wanted, values)]
    if not differ:
        return Answer("applied", "The record is there, and every expected field is as expected.", response.body)
    missing = [pointer for pointer in differ if found_at(value, pointer) is MISSING]
    says = f"The answer differs from what was expected at {', '.join(differ)}" + (f"; not there: {', '.join(missing)}." if missing else ".")
    return Answer("unclear", says, response.body)
