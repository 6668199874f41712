"""Policies of effects: their versions, what two of them say differently, and which sessions that touches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet

from inspector.core.policy import Policy, matches, server_tool
from inspector.models import IndexedRow, Operation, PolicyVersion, Session

OPEN = Operation.OPEN


def versions() -> QuerySet[PolicyVersion]:
    """Newest first, without the policies themselves."""
    return PolicyVersion.objects.select_related("author").defer("policy")


def before(version: PolicyVersion) -> Policy:
    """The policy that the version took the place of."""
    earlier = PolicyVersion.objects.filter(number__lt=version.number).first()
    return Policy.from_json(earlier.policy) if earlier else Policy()


def lines(policy: Policy) -> list[str]:
    """A policy as one line per rule and per trusted tool, for a comparison."""
    said = policy.to_json()
    trusted = [(server, tool, json.dumps(hints)) for server, tools in said["servers"].items() for tool, hints in tools.items()]
    return [*map(_rule_line, said["rules"]), *(f"server {server}: {tool} {hints}" for server, tool, hints in trusted)]


def _rule_line(rule: dict[str, Any]) -> str:
    where = f" where {rule['pointer']} is like {rule['glob']}" if rule["pointer"] else ""
    target = f", target {rule['target']}" if rule["target"] else ""
    return f"{rule['client'] or 'every client'}: {rule['tool']}{where}: {rule['effect']} ({rule['why']}){target}"


def differs(old: Policy, new: Policy) -> Callable[[str, str], bool]:
    """Whether a call of a tool, by client and name, may be judged otherwise: a rule for it came, went or moved, or its server says something else."""
    common = [rule for rule in old.rules if rule in new.rules]
    changed = {rule for rule in (*old.rules, *new.rules) if (rule in old.rules) != (rule in new.rules)}
    if common != [rule for rule in new.rules if rule in old.rules]:
        changed |= set(common)

    def touched(client: str, tool: str) -> bool:
        if any((not rule.client or rule.client == client) and matches(rule.tool, tool) for rule in changed):
            return True
        served = server_tool(client, tool)
        return served is not None and old.servers.get(served[0], {}).get(served[1]) != new.servers.get(served[0], {}).get(served[1])

    return touched


def touched_sessions(old: Policy, new: Policy) -> list[Session]:
    """Sessions to judge again: those with open operations, those that call a tool which is judged otherwise, and those that started one of them.

    Sub-agents come first: what is open in them counts for the session that started them.
    """
    touched = differs(old, new)
    found = set(Session.objects.filter(Q(ledger__state__in=OPEN) | Q(run__operations__state__in=OPEN)).values_list("pk", flat=True))
    current = Session.objects.exclude(current=None)
    called = IndexedRow.objects.filter(revision__in=current.values("current")).exclude(tools="").order_by()
    for pk, client, tools in called.values_list("revision__session_id", "revision__session__client", "tools").distinct():
        if pk not in found and any(touched(client, tool) for tool in tools.split("\n")):
            found.add(pk)
    sub_agent = Session.Relation.SUB_AGENT
    parents = Session.objects.filter(children__in=found, children__relation=sub_agent).values_list("pk", flat=True)
    sessions = current.filter(pk__in=found | set(parents)).select_related("current").order_by("-pk")
    return sorted(sessions, key=lambda session: session.relation != sub_agent)
