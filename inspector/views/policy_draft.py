"""The policy editor's form: a policy under work, as fields of a page that works without scripts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from inspector.core.policy import HINTS, MOST_RULES, Policy

FIELDS = ("client", "tool", "pointer", "glob", "effect", "why", "target")
"""Fields of a rule, in the order of the page."""
NEEDED = {
    "tool": "Name a tool; * is any text.",
    "effect": "Choose what the call changes.",
    "why": "Say why, in a few words: it stands beside every call that the rule decides.",
}
"""Field of a rule that may not be blank -> what to do."""
LONGEST = 400_000
"""Characters of a server's answer that are read."""


class Wrong(Exception):
    """A pasted text is no answer of a server; the message says what it should be."""


@dataclass(slots=True)
class Draft:
    """Rules and servers as texts of fields, whole or not."""

    rules: list[dict[str, str]] = field(default_factory=list)
    servers: list[dict[str, str]] = field(default_factory=list)
    """`name` and `tools`, the tools' annotations as JSON or as the server's own answer."""
    errors: dict[str, str] = field(default_factory=dict)
    """Place -> what is wrong there: `rules-0-tool`, `rules-0`, `servers-1`, or "" for the whole."""

    def values(self) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Rules and servers for `Policy.from_json`; what is no JSON is put down in `errors`."""
        for number, rule in enumerate(self.rules):
            self.errors |= {f"rules-{number}-{key}": says for key, says in NEEDED.items() if not rule[key].strip()}
        servers: dict[str, Any] = {}
        for number, server in enumerate(self.servers):
            name = server["name"].strip()
            if not name and not server["tools"].strip():
                continue
            try:
                if not name:
                    raise Wrong("Name the server as its tools' names have it: in mcp__billing__refund it is billing.")
                if name in servers:
                    raise Wrong("This server is listed above already.")
                servers[name] = annotations(server["tools"])
            except Wrong as wrong:
                self.errors[f"servers-{number}"] = str(wrong)
        return [{key: text.strip() if key != "glob" else text for key, text in rule.items()} for rule in self.rules], servers

    def place(self, where: str) -> str:
        """The place on the page that a JSON pointer of PolicyError names."""
        steps = [step.replace("~1", "/").replace("~0", "~") for step in where.split("/")[1:]]
        if steps[:1] == ["rules"] and len(steps) > 1:
            return "-".join(["rules", *steps[1:3]])
        if steps[:1] == ["servers"] and len(steps) > 1:
            return next((f"servers-{number}" for number, server in enumerate(self.servers) if server["name"].strip() == steps[1]), "")
        return ""

    def do(self, what: str) -> None:
        """One change of the list itself: `add-rule`, `add-server`, `up-2`, `down-2`, `drop-rule-2`, `drop-server-0`. Others change nothing."""
        verb, _, number = what.rpartition("-")
        at = int(number) if number.isdecimal() and len(number) < 6 else -1
        if what == "add-rule" and len(self.rules) < MOST_RULES:
            self.rules.append(dict.fromkeys(FIELDS, ""))
        elif what == "add-server":
            self.servers.append({"name": "", "tools": ""})
        elif verb == "drop-rule" and 0 <= at < len(self.rules):
            del self.rules[at]
        elif verb == "drop-server" and 0 <= at < len(self.servers):
            del self.servers[at]
        elif verb in ("up", "down") and 0 <= at < len(self.rules):
            to = at + (-1 if verb == "up" else 1)
            if 0 <= to < len(self.rules):
                self.rules[at], self.rules[to] = self.rules[to], self.rules[at]


def of_policy(policy: Policy) -> Draft:
    """The fields of a policy."""
    said = policy.to_json()
    return Draft(
        [{key: rule[key] for key in FIELDS} for rule in said["rules"]],
        [{"name": name, "tools": json.dumps(tools, indent=1, ensure_ascii=False)} for name, tools in said["servers"].items()],
    )


def of_form(sent: QueryDict) -> Draft:
    """The fields as they were sent."""
    columns = {key: sent.getlist(f"rule-{key}")[:MOST_RULES] for key in FIELDS}
    count = min(len(values) for values in columns.values())
    names, tools = sent.getlist("server-name"), sent.getlist("server-tools")
    return Draft(
        [{key: columns[key][number] for key in FIELDS} for number in range(count)],
        [{"name": name, "tools": text} for name, text in zip(names, tools, strict=False)],
    )


def annotations(text: str) -> dict[str, dict[str, Any]]:
    """Tool -> hints, from a server's answer to `tools/list` (whole, its result, or its list of tools) or from {tool: {hint: …}}. Raises Wrong."""
    if len(text) > LONGEST:
        raise Wrong(f"This has {len(text):,} characters; {LONGEST:,} are the limit. Paste the tools that matter.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"This is no JSON: {error}. Paste the server's answer to tools/list.") from None
    if isinstance(value, Mapping) and isinstance(value.get("result"), Mapping):
        value = value["result"]
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        value = value["tools"]
    if isinstance(value, list):
        named = {tool["name"]: tool.get("annotations") or {} for tool in value if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)}
        if not named:
            raise Wrong("No tool with a name is in this list. Paste the server's answer to tools/list.")
        return {name: {hint: said[hint] for hint in HINTS if hint in said} for name, said in named.items() if isinstance(said, Mapping)}
    if not isinstance(value, Mapping) or not value or not all(isinstance(said, Mapping) for said in value.values()):
        raise Wrong('Paste the server\'s answer to tools/list, or an object such as {"search": {"readOnlyHint": true}}.')
    return dict(value)
