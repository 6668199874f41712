"""Read-only looks at a target, on a person's click: did the operation happen?

An administrator writes templates, `validate` says what is wrong with one, `asks` what a look will ask, `run` looks. One file per kind, with the
same names in each. Only the named kinds exist: nothing is discovered, and nothing recorded in a session is ever run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from . import file_hash, git_log, git_remote, http_get, key_lookup, sql_select
from .secrets import Secrets
from .template import OUTPUT_KEPT, Answer, Expected, Kind, NotAsked, Reading, Template, Verdict, refused, shape_problems

KINDS: dict[str, Kind] = {
    "file-hash": file_hash,
    "git-remote": git_remote,
    "git-log": git_log,
    "http-get": http_get,
    "sql-select": sql_select,
    "key-lookup": key_lookup,
}

NOTHING_KNOWN = Expected()
NOTHING_ASKED = "Nothing was asked."

__all__ = ["KINDS", "Expected", "Reading", "Template", "Verdict", "asks", "refused", "run", "validate"]


def validate(template: Template) -> list[str]:
    """What is wrong with a template, one sentence each, for the form of the administrator; empty when it can be used."""
    kind = KINDS.get(template.kind)
    if kind is None:
        return [f"There is no kind `{template.kind}`; the kinds are {', '.join(KINDS)}."]
    return list(shape_problems(template, kind.KEYS)) or list(kind.problems(template))


def asks(template: Template, values: Mapping[str, str]) -> str:
    """What a look will ask, in words, without secrets. The template and the values must be free of faults."""
    return KINDS[template.kind].asks(template, values)


def run(template: Template, values: Mapping[str, str], expected: Expected = NOTHING_KNOWN) -> Reading:
    """Look at the target once. Faults of the template, of the values and of the way to the target give the verdict `failed`, and say what to do."""
    if wrong := validate(template):
        says = "The probe must be set right by an administrator first: " + " ".join(wrong)
        return _reading(Answer("failed", says), NOTHING_ASKED, Secrets())
    if wrong := refused(template, values):
        return _reading(Answer("failed", f"{NOTHING_ASKED} {' '.join(wrong)}"), NOTHING_ASKED, Secrets())
    secrets = Secrets()
    kind = KINDS[template.kind]
    try:
        looked_at = kind.asks(template, values)
    except NotAsked as error:
        return _reading(Answer("failed", str(error)), NOTHING_ASKED, secrets)
    try:
        answer = kind.look(template, values, expected, secrets)
    except NotAsked as error:
        answer = Answer("failed", str(error))
    return _reading(answer, looked_at, secrets)


def _reading(answer: Answer, looked_at: str, secrets: Secrets) -> Reading:
    output = secrets.hide_bytes(answer.output)
    digest = hashlib.sha256(output).hexdigest()
    return Reading(answer.verdict, secrets.hide(answer.says), secrets.hide(looked_at), output[:OUTPUT_KEPT], digest)
