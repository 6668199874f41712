"""What a probe is made of: the administrator's template, the values a person typed, what to compare with, and what came out.

A probe only looks. Its template is written by an administrator; a person types the values and clicks; text of a transcript never becomes part
of either by itself. Values are checked here and travel as data only: an argument behind `--`, a bound parameter, a percent-encoded piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from .secrets import Secrets

VALUE_LENGTH = 500
"""Characters of one typed value."""
OUTPUT_KEPT = 64 * 1024
"""Bytes of an answer that are kept as evidence."""

Verdict = Literal["applied", "not-applied", "unclear", "failed"]
PARAMETER = re.compile(r"[a-z][a-z0-9_]{0,39}")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Never part of a value, whatever a template allows: line ends, NUL, halves of surrogate pairs."""


@dataclass(frozen=True, slots=True)
class Template:
    """One probe as an administrator configured it."""

    name: str
    kind: str
    """A name of KINDS."""
    config: Mapping[str, Any]
    """What the kind needs, as JSON; its file lists the keys."""
    parameters: Mapping[str, str]
    """Name of each value that a person types -> regular expression that it must match whole."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is known of the operation, to compare the target with. Each kind uses what it needs."""

    after: str | None = None
    """Hex SHA-256 of the content that the call would have left; None where it can't be told."""
    before: str | None = None
    """Hex SHA-256 of the content before the call, or ABSENT of `core.calls` when there was no file; None where it can't be told."""
    at: datetime | None = None
    """When the request was made, with its time zone."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look found. It is kept as evidence; a person decides what it means."""

    verdict: Verdict
    """applied | not-applied | unclear | failed: the target could not be asked, which says nothing about the operation."""
    says: str
    """What was found, for a person."""
    looked_at: str
    """What was asked, in words, without secrets."""
    output: bytes
    """The first 64 KB of the answer, secrets replaced."""
    output_sha256: str
    """Hex SHA-256 of the whole answer, secrets replaced."""


class Answer(NamedTuple):
    """What a kind hands back: the parts of a Reading that it knows."""

    verdict: Verdict
    says: str
    output: bytes = b""


class NotAsked(Exception):
    """The target could not be asked. The message says why and what to do, without secrets."""


class Kind(Protocol):
    """One file of this folder. The same names in each."""

    @property
    def TITLE(self) -> str: ...

    @property
    def KEYS(self) -> Mapping[str, bool]:
        """Key of the configuration -> whether it must be there."""

    def problems(self, template: Template) -> Iterator[str]:
        """What is wrong with a template whose keys and parameters are of the right shape."""

    def asks(self, template: Template, values: Mapping[str, str]) -> str:
        """What a look will ask, in words, without secrets."""

    def look(self, template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
        """Ask the target. Raises NotAsked."""


def shape_problems(template: Template, keys: Mapping[str, bool]) -> Iterator[str]:
    """What is wrong with the name, the keys of the configuration and the parameters."""
    if not template.name.strip():
        yield "The probe needs a name."
    if not isinstance(template.config, Mapping):
        yield "The configuration must be a JSON object."
        return
    if not isinstance(template.parameters, Mapping):
        yield "The parameters must be a JSON object: name -> regular expression."
        return
    for key in sorted(set(template.config) - set(keys)):
        yield f"The configuration has a key `{key}` that this kind does not know; it knows {', '.join(keys)}."
    for key, needed in keys.items():
        if needed and template.config.get(key) in (None, "", {}, []):
            yield f"The configuration needs `{key}`."
    for name, pattern in template.parameters.items():
        if not PARAMETER.fullmatch(name):
            yield f"The parameter name `{name}` must be lower-case letters, digits and _, and begin with a letter."
        try:
            if not isinstance(pattern, str) or not pattern:
                raise re.error("it is empty")
            if re.compile(pattern).fullmatch(""):
                yield f"The pattern of `{name}` must not allow an empty value."
        except re.error as error:
            yield f"The pattern of `{name}` is no regular expression: {error}."


def refused(template: Template, values: Mapping[str, str]) -> list[str]:
    """What is wrong with the values that a person typed; empty when they may be used."""
    wrong = [f"`{name}` is not a value of this probe." for name in sorted(set(values) - set(template.parameters))]
    for name, pattern in template.parameters.items():
        value = values.get(name)
        if not isinstance(value, str) or not value:
            wrong.append(f"`{name}` is missing.")
        elif len(value) > VALUE_LENGTH:
            wrong.append(f"`{name}` is longer than {VALUE_LENGTH} characters.")
        elif CONTROL.search(value):
            wrong.append(f"`{name}` holds a line end or another control character.")
        elif not re.fullmatch(pattern, value):
            wrong.append(f"`{name}` does not match {pattern}.")
    return wrong


def text_key(template: Template, key: str) -> str:
    """A key of the configuration as text; "" where it is something else."""
    value = template.config.get(key)
    return value if isinstance(value, str) else ""


def parameters_problem(template: Template, needed: set[str], allowed: set[str]) -> Iterator[str]:
    """For kinds whose parameters have fixed names."""
    names = set(template.parameters)
    for name in sorted(needed - names):
        yield f"This kind needs the parameter `{name}`."
    for name in sorted(names - needed - allowed):
        yield f"This kind has no parameter `{name}`."
