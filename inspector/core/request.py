"""Runtime state -> the request that the provider would receive, with the place of each row in its body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .dialects import anthropic_messages, apple_transcript, langchain_messages, openai_responses
from .dialects.problems import Problem
from .state import RuntimeState
from .verdicts import Drop

DIALECTS = {dialect.NAME: dialect for dialect in (anthropic_messages, apple_transcript, langchain_messages, openai_responses)}


@dataclass(frozen=True, slots=True)
class Place:
    """Row `row` stands at JSON pointer `pointer` of the body. A row may have several places."""

    row: str
    pointer: str


@dataclass(slots=True)
class Request:
    """`body` is the provider's JSON; `places` and `drops` together name every row once or more (places) or exactly once (drops)."""

    dialect: str
    model: str | None
    body: dict[str, Any]
    places: list[Place]
    drops: list[Drop]
    problems: list[Problem]
    added_at_send: list[str] = field(default_factory=list)
    runs_first: list[dict[str, Any]] | None = None


def derive(state: RuntimeState) -> Request | None:
    """The request of a state; None where the client would refuse or send nothing."""
    if state.refused is not None:
        return None
    dialect = DIALECTS[state.dialect]
    body, places = dialect.build(state)
    rows_at = {pointer: row for row, pointer in places}
    answered_first = {call["id"] for task in state.runs_first or () for call in task["calls"]}
    problems = [problem for problem in dialect.check(body, rows_at) if problem.call is None or problem.call not in answered_first]
    return Request(
        dialect=dialect.NAME,
        model=state.model,
        body=body,
        places=[Place(row, pointer) for row, pointer in places],
        drops=state.drops,
        problems=problems,
        added_at_send=state.added_at_send,
        runs_first=state.runs_first,
    )
