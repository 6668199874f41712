"""What a person saw: the conversation, each call with its arguments, and what waits for an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ...screen import ScreenItem
from ...session import Row, Session
from .branches import MAIN, branches_of
from .held import Held, items_of
from .items import HOSTED, OUTPUT_OF, OUTPUTS, arguments_of, kind_of, role_of, text_of, tool_of, unmarked
from .runstate import run_state_of


def screen(session: Session) -> list[ScreenItem]:
    """The items of the main branch in order; what a saved run asks a person, behind them."""
    branches = branches_of(session)
    rows = list(session.main()) if branches is None else list(branches[MAIN].rows) if MAIN in branches else []
    found = screen_items(session, rows)
    run = run_state_of(session)
    for each in run.pending() if run is not None else ():
        refs = tuple(ref for ref in (run.ref("current_step"),) if ref) if run is not None else ()
        said = {"approved": "was approved", "rejected": "was rejected", None: "waits for approval"}[each.decision]
        found.append(ScreenItem(refs, "notice", f"{each.tool}({json.dumps(arguments_of(each.item), ensure_ascii=False)}) {said}"))
    return found


def screen_items(session: Session, rows: Iterable[Row]) -> list[ScreenItem]:
    """What these rows show."""
    return [item for row in rows if isinstance(row.extra, Held) for item in _shown(session, row)]


def _shown(session: Session, row: Row) -> Iterator[ScreenItem]:
    rows = (row.ref,)
    if isinstance(row.extra, Held) and row.extra.closed:
        yield ScreenItem(rows, "notice", "[encrypted item]", True)
        return
    for item, block in zip(items_of(session, row), row.blocks, strict=False):
        kind = kind_of(item)
        if kind == "message":
            yield ScreenItem(rows, {"user": "user", "assistant": "assistant"}.get(role_of(item), "notice"), text_of(item))
        elif kind == "reasoning":
            yield ScreenItem(rows, "thinking", text_of(item), True)
        elif kind in OUTPUT_OF or kind in HOSTED:
            yield ScreenItem(rows, "tool", f"{tool_of(item)}({json.dumps(arguments_of(item), ensure_ascii=False)})")
        elif kind in OUTPUTS:
            yield ScreenItem(rows, "error" if block.error else "result", unmarked(text_of(item)))
        else:
            yield ScreenItem(rows, "notice", text_of(item), True)
