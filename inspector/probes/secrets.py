"""Secrets of a template: named environment variables, read when a probe runs and taken out of everything that it hands back."""

from __future__ import annotations

import base64
import json
import os
import re
from typing import Any
from urllib.parse import quote, quote_plus

PREFIX = "PROBE_"
VARIABLE = re.compile(r"PROBE_[A-Z0-9_]{1,60}")
"""Only variables with this prefix: a template must not be a way to send the inspector's own secrets somewhere."""
HIDDEN = "[secret]"
PIECE = 8
"""A word of a secret from this length on is hidden by itself too: the token of `Bearer TOKEN`."""


def variable_problem(given: Any, where: str) -> str | None:
    """What is wrong with `{"env": NAME}`, or None."""
    if isinstance(given, dict) and set(given) == {"env"} and isinstance(given["env"], str) and VARIABLE.fullmatch(given["env"]):
        return None
    return f'{where} must be {{"env": "NAME"}}, where NAME is an environment variable of the inspector that begins with {PREFIX}.'


class Secrets:
    """The secrets that one look has read."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def read(self, variable: str) -> str | None:
        """The value of an environment variable, without white space around it; None when it is not set or is empty."""
        value = os.environ.get(variable, "").strip()
        self.add(value)
        return value or None

    def add(self, value: str) -> None:
        """Hide this too: the password inside an address, for example."""
        for each in (value, *(word for word in value.split() if len(word) >= PIECE)):
            if each:
                self._found |= {each, quote(each, safe=""), quote_plus(each), json.dumps(each)[1:-1], json.dumps(each, ensure_ascii=False)[1:-1]}
                self._found.add(base64.b64encode(each.encode(errors="replace")).decode())

    def hide(self, text: str) -> str:
        """The text with every secret replaced, the longest first."""
        for each in sorted(self._found, key=len, reverse=True):
            text = text.replace(each, HIDDEN)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        """The same for bytes."""
        for each in sorted(self._found, key=len, reverse=True):
            data = data.replace(each.encode(errors="replace"), HIDDEN.encode())
        return data
