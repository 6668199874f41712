"""Secrets in recorded text: keys, tokens, passwords and private keys are found by their shape or by the name before them, and masked.

Works on plain text and on the text of JSON alike: a mask never holds a quote or a backslash, so that a masked JSON line stays JSON.
A guess by shape errs on the side of masking; it can't find a secret that looks like any other word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NAMED = (
    r"(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|bearer[_-]?token|(?<![A-Za-z])token|credential)"
)
"""How the name of a secret ends, in assignments and JSON members."""

START = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Where a word begins, behind a line end or a control character as JSON writes them too: `\\nsk-…` holds a key, no word `nsk`."""

SHAPES: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?!-----END)[^\"])*(?:-----END [A-Z0-9 ]*PRIVATE KEY-----)?"),
    ("API key", START + r"sk-(?:ant-|proj-|or-|live-)?[A-Za-z0-9_-]{16,}"),
    ("API key", START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("access key", START + r"(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}\b"),
    ("API key", START + r"AIza[A-Za-z0-9_-]{30,}"),
    ("token", START + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})"),
    ("token", START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("token", START + r"(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{40,}|ya29\.[A-Za-z0-9_-]{20,})"),
    ("token", START + r"SG\.[A-Za-z0-9_-]{16,100}\.[A-Za-z0-9_-]{16,100}"),
    ("token", START + r"eyJ[A-Za-z0-9_-]{8,1000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}"),
    ("token", START + r"(?i:(?:bearer|basic)\s+)(?P<token>[A-Za-z0-9+/_.~=-]{16,})"),
    ("password", START + r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'\\]{0,100}:(?P<login>[^\s/@\"'\\]{3,200})@"),
    ("secret", rf"(?i:{NAMED})\\*[\"']?\s*(?:[:=]|=>)\s*\\*[\"'](?P<quoted>[^\"'\\\s]{{6,}})"),
    ("secret", START + r"[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|CREDENTIALS?)=(?P<shell>[^\s\"'\\;&|$<>(){}]{6,})"),
    (
        "secret",
        rf"(?i:{NAMED})\s*[:=]\s*(?P<bare>(?=[^\s\"'\\]{{0,200}}\d)(?=[^\s\"'\\]{{0,200}}[A-Za-z])[A-Za-z0-9+/_.~!@#%^*-]{{12,}}={{0,2}})(?![\w(\[.])",
    ),
)
"""(what it is, regular expression). Where a group is named, only the group is the secret. Every repetition that can fail after it has run
is bounded: the text is hostile, and time must stay linear."""

ANY = re.compile("|".join(f"(?P<k{number}>{shape})" for number, (_, shape) in enumerate(SHAPES)))
KINDS = [kind for kind, _ in SHAPES]
INNER = ("token", "login", "quoted", "shell", "bare")
HINTS = re.compile(
    r"(?i)PRIVATE KEY|sk-|[sr]k_|A[KSGRI][IPOD]A|AIza|gh[pousr]_|github_pat|glpat|xox|npm_|pypi-|hf_|dop_v1|ya29|SG\.|eyJ|bearer|basic|://"
    r"|passw|passphrase|secret|[_-]?key|token|credential"
)
"""Text without any of these holds no secret that SHAPES could find: most text is passed by with one search."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret at characters `start` to `end` (exclusive); `kind` for a person: API key, token, password, private key, …"""

    kind: str
    start: int
    end: int


def secrets_in(text: str) -> Iterator[Secret]:
    """The secrets of a text, in order, without overlap."""
    if not HINTS.search(text):
        return
    for found in ANY.finditer(text):
        inner = next((name for name in INNER if found[name] is not None), None)
        start, end = found.span(inner) if inner else found.span()
        kind = next(kind for number, kind in enumerate(KINDS) if found[f"k{number}"] is not None)
        yield Secret(kind, start, end)


def mask(text: str) -> str:
    """The text with each secret replaced by `[masked KIND]`."""
    kept, at = [], 0
    for secret in secrets_in(text):
        kept += [text[at : secret.start], f"[masked {secret.kind}]"]
        at = secret.end
    return text if not kept else "".join([*kept, text[at:]])


def mask_json(value: Any) -> Any:
    """A JSON value with the secrets of its texts masked, and those that only the name beside them gives away."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [mask_json(item) for item in value]
    if isinstance(value, dict):
        return {mask(name): _named(name, item) if isinstance(item, str) else mask_json(item) for name, item in value.items()}
    return value


def _named(name: str, text: str) -> str:
    masked = mask(text)
    if masked != text:
        return masked
    pair = json.dumps({name: text}, ensure_ascii=False)
    return "[masked]" if mask(pair) != pair else text


def mask_bytes(data: bytes) -> bytes:
    """As `mask`, for bytes of any encoding: bytes that are no UTF-8 stay as they are."""
    text = data.decode("utf-8", "surrogateescape")
    masked = mask(text)
    return data if masked is text else masked.encode("utf-8", "surrogateescape")
