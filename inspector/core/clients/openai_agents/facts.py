"""What a resumed session holds, as facts."""

from __future__ import annotations

from typing import Any

from ...session import Session
from ...state import Fact, Restored
from .branches import MAIN, branches_of, messages_of
from .held import Held
from .read import SCHEMA
from .runstate import RunState

ALWAYS = Restored(normal=True, fork=True, path=True, switch=True)
NEVER = Restored()
FRESH = "As fresh as the last save: what was done since is not in it."


def facts_of(session: Session, run: RunState | None) -> list[Fact]:
    """All facts, in the order of a page."""
    return _of_run(run) if run is not None else _of_history(session)


def _of_history(session: Session) -> list[Fact]:
    rows = messages_of(session)
    kinds: dict[str, int] = {}
    for row in rows:
        kinds[row.type] = kinds.get(row.type, 0) + 1
    facts = [
        Fact("items", len(rows), True, (), ALWAYS),
        Fact("kinds", kinds, True, (), ALWAYS, "Items by type."),
    ]
    closed = [row.ref for row in rows if isinstance(row.extra, Held) and row.extra.closed]
    if closed:
        facts.append(Fact("encrypted", len(closed), True, tuple(closed[:500]), ALWAYS, "Nothing of these items can be read without the key."))
    branches = branches_of(session)
    if branches is not None:
        facts.append(Fact("branch", MAIN, True, (), ALWAYS, "A session that is opened anew is on this branch, whichever was current before."))
        told = [{"branch": each.id, "items": [row.ref for row in each.rows], "turns": each.turns} for each in branches.values()]
        facts.append(Fact("branches", told, True, (), ALWAYS))
    usage = [session.record(row) for row in session.of_type("turn_usage")]
    if usage:
        counted = ("requests", "input_tokens", "output_tokens")
        total = {key: sum(each[key] for each in usage if isinstance(each.get(key), int)) for key in counted}
        facts.append(Fact("usage", total, True, tuple(row.ref for row in session.of_type("turn_usage")), ALWAYS))
    facts.append(Fact("agent", None, False, (), NEVER, "Which agent was at work is not stored: the application names one when it resumes."))
    facts.append(Fact("approvals", None, False, (), NEVER, "A session stores none: they are in a RunState that the application saves, or nowhere."))
    return facts


def _of_run(run: RunState) -> list[Fact]:
    def row(*names: str) -> tuple[str, ...]:
        found = run.ref(*names)
        return (found,) if found else ()

    agent = run.get("current_agent")
    pending = run.pending()
    limit = run.get("max_turns")
    return [
        Fact("schema", run.schema, True, row(SCHEMA), ALWAYS, "" if run.readable else "The observed release refuses it."),
        Fact("agent", agent.get("name") if isinstance(agent, dict) else None, isinstance(agent, dict), row("current_agent"), ALWAYS),
        Fact("turn", run.get("current_turn"), run.get("current_turn") is not None, row("current_turn"), ALWAYS),
        Fact("max-turns", limit, "max_turns" in run.members, row("max_turns"), ALWAYS),
        Fact("step", _step(run), True, row("current_step"), ALWAYS),
        Fact(
            "interruptions", [{"call_id": each.call_id, "tool": each.tool, "decision": each.decision} for each in pending], True, row("current_step"),
            ALWAYS, FRESH if pending else "",
        ),
        Fact("tool-invocations", _invocations(run), True, row("context"), ALWAYS, FRESH),
        Fact("items", sum(1 for _ in run.entries()), True, row("generated_items"), ALWAYS),
        Fact("conversation", run.get("conversation_id"), True, row("conversation_id"), ALWAYS),
        Fact("previous-response", run.get("previous_response_id"), True, row("previous_response_id"), ALWAYS),
    ]  # fmt: skip


def _step(run: RunState) -> Any:
    step = run.get("current_step")
    return step.get("type") if isinstance(step, dict) else None


def _invocations(run: RunState) -> dict[str, dict[str, Any]]:
    return {id: {key: each.get(key) for key in ("type", "executed", "completed")} for id, each in run.invocations.items()}
