"""Key look-up: does the target's list of what it did hold the key that the request carried? It lists, and never sends the request again.

Config: `url` of the list with slots as in http_get; `items` (JSON pointer to the list); `key` (pointer inside an item, by default
/request/idempotency_key); `window_hours` (how far back the list surely reaches); `more` (pointer to what is true when the list goes on, by default
/has_more); `next` (how its next page is asked for, for example {"parameter": "starting_after", "from": "/id"}: the value at this pointer of the last
item goes into this parameter of the query); `headers`, `http_hosts`. Parameters: `key`, and what the slots name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from inspector.core.jsonspans import NotJson, loads

from . import web
from .pointer import POINTER, SLOT, found_at
from .secrets import Secrets
from .template import Answer, Expected, Template, Verdict, text_key

TITLE = "Look-up by key"
KEYS = {**web.KEYS, "items": True, "key": False, "window_hours": True, "more": False, "next": False}
KEY = "/request/idempotency_key"
MORE = "/has_more"
PAGES = 10
"""Pages of the list that are read."""


def problems(template: Template) -> Iterator[str]:
    """The pointers must be pointers, the window a number of hours; `key` must be among the parameters."""
    yield from web.problems(template)
    for key in ("items", "key", "more"):
        given = template.config.get(key, "")
        if not isinstance(given, str) or not POINTER.fullmatch(given):
            yield f"`{key}` must be a JSON pointer, for example /data."
    hours = template.config["window_hours"]
    if not isinstance(hours, int | float) or isinstance(hours, bool) or not 0 < hours <= 24 * 366:
        yield "`window_hours` must be a number of hours, at most a year."
    following = template.config.get("next")
    if following is not None and not (
        isinstance(following, Mapping)
        and set(following) == {"parameter", "from"}
        and re.fullmatch(r"(?!.*method)[A-Za-z0-9_.\[\]-]{1,60}", str(following["parameter"]))
        and POINTER.fullmatch(str(following["from"]))
    ):
        yield '`next` must be {"parameter": name in the query, "from": JSON pointer inside an item}.'
    if "key" not in template.parameters:
        yield "This kind needs the parameter `key`."
    for name in sorted(set(template.parameters) - set(SLOT.findall(text_key(template, "url"))) - {"key"}):
        yield f"The parameter `{name}` is used nowhere."


def asks(template: Template, values: Mapping[str, str]) -> str:
    return f"GET {web.fill(text_key(template, 'url'), values)}, looking for the key {values['key']}."


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Read the list page by page, and look for the key."""
    place = text_key(template, "key") or KEY
    bodies: list[bytes] = []
    count, keyed, more = 0, False, ""
    for _ in range(PAGES):
        response = web.get(template, values, secrets, more)
        bodies.append(response.body)
        output = b"\n".join(bodies)
        if response.status != 200:
            return Answer("unclear", f"The target answered with status {response.status}, which says nothing sure.", output)
        try:
            value = loads(response.body)
        except NotJson:
            return Answer("unclear", "The answer is no JSON.", output)
        items = found_at(value, text_key(template, "items"))
        if not isinstance(items, list):
            return Answer("unclear", f"There is no list at {text_key(template, 'items')} of the answer.", output)
        keys = [found_at(item, place) for item in items]
        count, keyed = count + len(items), keyed or any(isinstance(key, str) for key in keys)
        if values["key"] in keys:
            return Answer("applied", f"The list holds the key, among its first {count} entries.", output)
        if found_at(value, text_key(template, "more") or MORE) is not True:
            break
        more = next_page(template, items)
        if not more:
            return Answer("unclear", f"The key is not among the first {count} entries, and the list goes on.", output)
    else:
        return Answer("unclear", f"The key is not among the first {count} entries, and more than {PAGES} pages are not read.", output)
    if count and not keyed:
        return Answer("unclear", f"None of the {count} entries has a key at {place}: the template may look in the wrong place.", output)
    return Answer(*without_key(count, expected.at, template.config["window_hours"]), output)


def next_page(template: Template, items: list[Any]) -> str:
    """What the query of the next page adds, or "" where that can't be told."""
    following = template.config.get("next")
    last = found_at(items[-1], following["from"]) if following and items else None
    known = isinstance(last, str | int) and not isinstance(last, bool)
    return f"{following['parameter']}={quote(str(last), safe='')}" if following and known else ""


def without_key(count: int, at: datetime | None, hours: float) -> tuple[Verdict, str]:
    """What it means that the key is not in the list: nothing, unless the request was made inside the window."""
    says = f"None of the {count} entries holds the key"
    if at is None or at.tzinfo is None:
        return "unclear", f"{says}, but it is not known when the request was made, and the list reaches back {hours:g} hours only."
    now = datetime.now(UTC)
    if at > now:
        return "unclear", f"{says}, but the request is dated in the future: check the clocks."
    if now - at > timedelta(hours=hours):
        return "unclear", f"{says}, but the request is older than the {hours:g} hours that the list reaches back."
    return "not-applied", f"{says}, and the list reaches back to the request. A late request could still make one."
