"""What the SDK leaves out of the history that it sends, and what it puts where: calls without an output, the reasoning before them, repetitions.

Observed with release 0.24.0 on made-up histories of every kind, and held against it by a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .items import BOOKKEEPING, HOSTED, OUTPUT_OF, OUTPUTS, call_id_of, kind_of

PLACEHOLDER = "__fake_id__"
"""Id that adapters for other providers give to items: it identifies nothing."""
STAY = frozenset((*OUTPUT_OF, "mcp_approval_request", "reasoning"))
"""Of these the first of several stays in its place, with the last one's content; of others the last one's place counts too."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One item of the request: number of the item whose content is sent, and of the one in whose place it stands."""

    item: int
    place: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """What becomes of a history. Every item is sent, stands in `orphans`, `tied` or `replaced`."""

    sent: list[Sent]
    orphans: set[int]
    """Calls without an output, and what a program without one had called."""
    tied: dict[int, int]
    """Reasoning -> the call without an output that it belongs to."""
    replaced: dict[int, int]
    """Item -> the later one with the same identity, whose content is sent."""


def pruned(items: Sequence[Any], *, orphans: bool = True, stored: bool = True, answered: frozenset[str] = frozenset()) -> Pruned:
    """What the SDK sends of these items.

    `orphans`: whether it looks for calls without output at all; it does not in what the application hands it. `stored`: whether they come from
    a session, where a program without output goes whatever it had called. `answered` are calls whose output comes before the request is made.
    """
    gone = _orphans(items, stored, answered) if orphans else set()
    tied = _tied(items, gone)
    kept = [number for number in range(len(items)) if number not in gone and number not in tied]
    sent, replaced = _without_repetitions(items, kept)
    return Pruned(sent, gone, tied, replaced)


def cleaned(item: Any) -> Any:
    """The item as it is sent: without the SDK's own keys."""
    return {key: value for key, value in item.items() if key not in BOOKKEEPING} if isinstance(item, dict) else item


def _orphans(items: Sequence[Any], stored: bool, answered: frozenset[str]) -> set[int]:
    done = {(kind_of(item), call_id_of(item)) for item in items if kind_of(item) in OUTPUTS and call_id_of(item) is not None}
    anonymous = _searches(items)
    lost, active = _programs(items, done, stored)
    gone: set[int] = set()
    for number, item in enumerate(items):
        kind = kind_of(item)
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            continue
        owner = _owner(item)
        if owner is not None and owner in lost:
            gone.add(number)
            continue
        if kind not in OUTPUT_OF or (owner is not None and _pending_shell(item)):
            continue
        call_id = call_id_of(item)
        if kind == "program" and call_id in active:
            continue
        if call_id is not None and ((OUTPUT_OF[kind], call_id) in done or call_id in answered):
            continue
        if number not in anonymous:
            gone.add(number)
    return gone


def _programs(items: Sequence[Any], done: set[tuple[str, str | None]], stored: bool) -> tuple[set[str], set[str]]:
    """Programs without an output: those that go, and those that stay because something that they called does."""
    lost: set[str] = set()
    active: set[str] = set()
    for item in items:
        id = call_id_of(item) if kind_of(item) == "program" else None
        if id is not None and ("program_output", id) not in done:
            owned = [each for each in items if _owner(each) == id]
            stays = not stored and any(_pending_shell(each) or kind_of(each) in HOSTED or kind_of(each) in OUTPUTS for each in owned)
            (active if stays else lost).add(id)
    return lost, active


def _owner(item: Any) -> str | None:
    """The program that made a call, where one did."""
    caller = item.get("caller") if isinstance(item, dict) else None
    found = caller.get("caller_id") if isinstance(caller, dict) and caller.get("type") == "program" else None
    return found if isinstance(found, str) else None


def _pending_shell(item: Any) -> bool:
    return kind_of(item) == "shell_call" and item.get("status") in (None, "in_progress")


def _searches(items: Sequence[Any]) -> set[int]:
    """Tool searches without an id that a later output without one answers, the last first."""
    found: set[int] = set()
    open_outputs = 0
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        if kind_of(item) == "tool_search_output" and call_id_of(item) is None:
            open_outputs += 1
        elif kind_of(item) == "tool_search_call" and call_id_of(item) is None and open_outputs:
            found.add(number)
            open_outputs -= 1
    return found


def _tied(items: Sequence[Any], gone: set[int]) -> dict[int, int]:
    """Reasoning whose next item that is none goes."""
    found: dict[int, int] = {}
    following: int | None = None
    for number in range(len(items) - 1, -1, -1):
        if kind_of(items[number]) != "reasoning":
            following = number
        elif number not in gone and following is not None and following in gone:
            found[number] = following
    return found if gone else {}


def identity(item: Any) -> tuple[str, str, str] | None:
    """By what the SDK takes two items for the same one; None for messages, and for items without any id."""
    if not isinstance(item, dict) or item.get("role") is not None or kind_of(item) == "message":
        return None
    kind, call_id, id = str(item.get("type")), call_id_of(item), item.get("id")
    if call_id is not None and (kind in OUTPUT_OF or kind in OUTPUTS):
        return "call", kind, call_id
    if isinstance(id, str) and id != PLACEHOLDER:
        return "id", kind, id
    if call_id is not None:
        return "call", kind, call_id
    request = item.get("approval_request_id")
    return ("approval", kind, request) if isinstance(request, str) else None


def _without_repetitions(items: Sequence[Any], kept: Sequence[int]) -> tuple[list[Sent], dict[int, int]]:
    latest: dict[tuple[str, str, str], int] = {}
    place: dict[tuple[str, str, str], int] = {}
    keys = {number: identity(items[number]) for number in kept}
    for number, key in keys.items():
        if key is not None:
            latest[key] = number
            if key not in place or kind_of(items[number]) not in STAY:
                place[key] = number
    sent = [Sent(number if key is None else latest[key], number) for number, key in keys.items() if key is None or place[key] == number]
    replaced = {number: latest[key] for number, key in keys.items() if key is not None and latest[key] != number}
    return sent, replaced
