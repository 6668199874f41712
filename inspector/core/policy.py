"""An operator's own word on what calls change: rules, and the MCP servers whose annotations are believed. A value with a version.

A policy sorts work for people, like the built-in tables; it never permits a call. Its rules are tried in order and the first that matches
decides, over everything else (but see `Rule` for scripts of several parts). Annotations come from here alone: a transcript holds none, and a
server's word counts only where an operator listed the server (schema of the Model Context Protocol, `ToolAnnotations`).
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from .effect_class import EffectClass
from .errors import PolicyError

MOST_RULES = 1000
LONGEST = 1000
"""Characters of any text in a policy."""
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
SERVER_TOOL = {"gemini-cli": re.compile(r"mcp_([^_]+)_(.+)", re.DOTALL), "": re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)}
"""Client ("" for every other) -> how it writes an MCP tool: the server's name ends where the client itself ends it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one kind of call changes. Globs match the whole text, upper and lower case told apart (`*`, `?`, `[abc]`, `[!abc]`).

    A glob knows nothing of shells: `git log*` on a command also matches `git log; rm -rf .`. So a rule with an argument decides alone only over
    a single plain command, or where the glob is the whole script, letter by letter; over any other script the worst part still wins.
    """

    tool: str
    """Glob of the tool's name as the transcript writes it."""
    effect: EffectClass
    why: str
    """The reason, in a few words for a person."""
    client: str = ""
    """The client's name; blank for all."""
    pointer: str = ""
    """JSON pointer (RFC 6901) to the argument that `glob` is matched with; blank where the arguments do not matter."""
    glob: str = ""
    target: str = ""
    """Name of the declared target that the call acts on; blank where none is declared."""

    def matches(self, client: str, tool: str, arguments: Any) -> bool:
        """Whether it speaks of this call. An argument that is absent, null, a list or an object matches no glob."""
        if (self.client and self.client != client) or not matches(self.tool, tool):
            return False
        if not self.pointer:
            return True
        said = _at(arguments, self.pointer)
        return said is not None and matches(self.glob, said)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a trusted server says of one of its tools, with the defaults that the protocol's schema has."""

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True


@dataclass(frozen=True)
class Policy:
    """Rules in order and trusted servers. `version` grows with every change; 0 is the policy that says nothing."""

    version: int = 0
    rules: tuple[Rule, ...] = ()
    servers: Mapping[str, Mapping[str, Annotations]] = field(default_factory=dict, hash=False)
    """Server as the name of its tools has it -> tool -> annotations. A tool that is not listed is not trusted."""

    def rule_for(self, client: str, tool: str, arguments: Any) -> tuple[int, Rule] | None:
        """The first rule that matches, and its number counted from 1."""
        return next(((number, rule) for number, rule in enumerate(self.rules, 1) if rule.matches(client, tool, arguments)), None)

    def trusted(self, client: str, tool: str) -> tuple[str, Annotations] | None:
        """The server of a tool and what it says of it, where the policy trusts both."""
        found = server_tool(client, tool) if self.servers else None
        annotations = self.servers.get(found[0], {}).get(found[1]) if found else None
        return (found[0], annotations) if found and annotations else None

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` takes back; every key is there, so that two policies can be compared line by line."""
        return {
            "version": self.version,
            "rules": [{**asdict(rule), "effect": str(rule.effect)} for rule in self.rules],
            "servers": {
                server: {tool: dict(zip(HINTS, asdict(said).values(), strict=True)) for tool, said in tools.items()}
                for server, tools in self.servers.items()
            },
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Any) -> Policy:
        """A policy from JSON values: {version, rules: [{tool, effect, why, …}], servers: {server: {tool: {readOnlyHint, …}}}}.

        Raises PolicyError, whose `where` is a JSON pointer into the value, for unknown keys and effects and for whatever could not mean anything.
        """
        keys = _object(value, "", ("version", "rules", "servers"))
        version = keys.get("version")
        if not isinstance(version, int) or isinstance(version, bool) or version < 0:
            raise PolicyError("the version is no whole number", "/version", "Count from 1; 0 is the policy without rules")
        rules = keys.get("rules", [])
        if not isinstance(rules, list) or len(rules) > MOST_RULES:
            raise PolicyError("the rules are no list, or too many", "/rules", f"At most {MOST_RULES} rules, the most special first")
        servers = {
            server: {
                _text(tool, f"/servers/{_escaped(server)}", "a tool's name"): _annotations(said, f"/servers/{_escaped(server)}/{_escaped(tool)}")
                for tool, said in _object(tools, f"/servers/{_escaped(server)}").items()
            }
            for server, tools in _object(keys.get("servers", {}), "/servers").items()
        }  # fmt: skip
        return cls(version, tuple(_rule(rule, f"/rules/{number}") for number, rule in enumerate(rules)), servers)


BUILT_IN = Policy()
"""No rules, nobody trusted: the built-in tables alone."""


def server_tool(client: str, tool: str) -> tuple[str, str] | None:
    """(server, tool) of an MCP tool's name as the client writes it; None for any other name."""
    found = SERVER_TOOL.get(client, SERVER_TOOL[""]).fullmatch(tool)
    return (found[1], found[2]) if found else None


def matches(glob: str, text: str) -> bool:
    """Whether the whole text matches; what `fnmatch.fnmatchcase` says, without its small cache."""
    return _compiled(glob).match(text) is not None


@lru_cache(maxsize=4 * MOST_RULES)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob))


def _at(arguments: Any, pointer: str) -> str | None:
    """Text of the argument that a JSON pointer names: a string as it is, a number or a truth value as JSON writes it."""
    value = arguments
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,8}", step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _rule(value: Any, where: str) -> Rule:
    keys = _object(value, where, ("tool", "effect", "why", "client", "pointer", "glob", "target"))
    texts = {key: _text(said, f"{where}/{key}", "this", blank=key not in ("tool", "effect", "why")) for key, said in keys.items()}
    for key in ("tool", "effect", "why"):
        if key not in texts:
            raise PolicyError(f"the rule has no {key!r}", where, "A rule names a tool, an effect and why")
    if texts["effect"] not in [str(name) for name in EffectClass]:
        raise PolicyError(f"the effect {texts['effect'][:40]!r} is not known", f"{where}/effect", f"Use one of {', '.join(EffectClass)}")
    pointer, glob = texts.get("pointer", ""), texts.get("glob", "")
    if bool(pointer) != bool(glob):
        raise PolicyError("an argument and the glob for it go together", f"{where}/pointer", "Name both, as in /command and ls, or neither")
    if pointer and (pointer[0] != "/" or re.search("~(?![01])", pointer)):
        raise PolicyError("the argument is no JSON pointer", f"{where}/pointer", "Write it as /command, or /items/0/id")
    return Rule(**{**texts, "effect": EffectClass(texts["effect"])})  # type: ignore[arg-type]


def _annotations(value: Any, where: str) -> Annotations:
    hints = _object(value, where, HINTS)
    for hint, said in hints.items():
        if not isinstance(said, bool):
            raise PolicyError(f"{hint} is neither true nor false", f"{where}/{hint}", "Write true or false, or leave it out")
    default = dict(zip(HINTS, asdict(Annotations()).values(), strict=True))
    return Annotations(*(hints.get(hint, default[hint]) for hint in HINTS))


def _object(value: Any, where: str, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) and key for key in value):
        raise PolicyError("this is no JSON object with names", where, "Write {…}, with every name between quotes and not blank")
    unknown = [key for key in value if known is not None and key not in known]
    if unknown:
        raise PolicyError(f"{unknown[0][:40]!r} is not known here", f"{where}/{_escaped(unknown[0][:40])}", f"Known: {', '.join(known or ())}")
    return value


def _text(value: Any, where: str, what: str, blank: bool = False) -> str:
    if not isinstance(value, str) or len(value) > LONGEST or not (blank or value.strip()):
        raise PolicyError(f"{what} is no text of 1 to {LONGEST} characters", where, "Write it between quotes")
    return value


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
