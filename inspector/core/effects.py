"""Tool call -> class of its effect, with the reason. The class sorts work for people; it never permits anything.

Order: the operator's rules, the annotations of MCP servers that the operator trusts, the built-in table of the client, shell analysis for tools
that run a command, unknown. A tool of any other MCP server is unknown: a transcript holds nothing that such a server says of itself. A tool's
name may raise it to destructive, never lower it.
"""

from __future__ import annotations

import re
from typing import Any

from .effect_class import Effect, EffectClass, destructive, idempotent, mutating, read_only, unknown, worst
from .effect_tables import BY_ARGUMENTS, COMMAND_TOOLS, TABLES, VERSION
from .policy import BUILT_IN, Annotations, Policy, Rule
from .shell import script_effect

JOINS = re.compile(r"[;&|<>()$`\n]")
"""What a script must hold to be more than one plain command."""
TAKES_AWAY = frozenset("delete remove drop destroy purge prune terminate wipe erase truncate uninstall revoke".split())


def policy_version(policy: Policy) -> str:
    """By what a class was judged: changes whenever another class could come out."""
    return f"tables {VERSION}, policy {policy.version}"


def effect_of(client: str, tool: str, arguments: Any, policy: Policy = BUILT_IN) -> Effect:
    """Effect of one call. `arguments` is the parsed JSON of the call, or None where it is not recorded whole."""
    ruled = policy.rule_for(client, tool, arguments)
    if ruled is not None:
        return _ruled(*ruled, policy.version, script_of(client, tool, arguments))
    trusted = policy.trusted(client, tool)
    if trusted is not None:
        return worst([_annotated(*trusted, policy.version), *_named(tool)])
    if tool in COMMAND_TOOLS.get(client, {}):
        script = script_of(client, tool, arguments)
        return unknown("no command was recorded") if script is None else script_effect(script)
    judge = BY_ARGUMENTS.get(client, {}).get(tool)
    if judge is not None:
        return judge(arguments)
    known = TABLES.get(client, {}).get(tool)
    if known is not None:
        return known
    return worst([unknown("a tool of an MCP server" if "__" in tool or tool.startswith("mcp_") else "not a tool of the client's own"), *_named(tool)])


def _ruled(number: int, rule: Rule, version: int, script: str | None) -> Effect:
    """The rule's class. A glob that matched a script of several parts vouches for none of them: the worst of all counts."""
    said = Effect(rule.effect, f"{rule.why} (rule {number} of policy version {version})")
    if script is None or not rule.pointer or rule.glob == script or not JOINS.search(script):
        return said
    return worst([said, script_effect(script)])


def _annotated(server: str, said: Annotations, version: int) -> Effect:
    """The class that a trusted server's annotations give. The schema gives the others a meaning only where `readOnlyHint` is false."""
    who = f"the server {server}, which policy version {version} trusts, says"
    if said.read_only:
        return read_only(f"{who} that it only reads" + (", outside the server too" if said.open_world else ""))
    if said.destructive:
        return destructive(f"{who} that it may take something away, or does not say that it never does")
    return idempotent(f"{who} that the same call again adds nothing") if said.idempotent else mutating(f"{who} that it only adds")


def _named(tool: str) -> list[Effect]:
    """What the tool's name alone says: destructive, or nothing."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    return [destructive(f"the name of the tool says {word}") for word in words if word in TAKES_AWAY][:1]


def script_of(client: str, tool: str, arguments: Any) -> str | None:
    """The shell script that a call runs; None for a tool that runs none, and where no command was recorded."""
    key = COMMAND_TOOLS.get(client, {}).get(tool)
    command = arguments.get(key) if key is not None and isinstance(arguments, dict) else None
    if isinstance(command, str):
        return command
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return _argument_vector(command)
    return None


def _argument_vector(words: list[str]) -> str:
    """`["bash", "-lc", SCRIPT]` is the script; any other list is one plain command."""
    if len(words) == 3 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1] in ("-c", "-lc"):
        return words[2]
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


__all__ = ["Effect", "EffectClass", "effect_of", "policy_version", "script_of", "worst"]
