"""What stands behind an uncertain call: later calls that name its target, and what the model claims.

A session may hold thousands of uncertain calls, so the search goes a bounded way, and arguments are read once for calls that lie close together.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .calls import Answer, Call, Calls, Evidence, Outcome, message_of
from .claims import claim_in
from .effect_class import Effect, EffectClass
from .session import BlockKind, Row, Session

LOOKED_AHEAD = 300
"""Later calls, and later rows, that are searched."""
LATER_READS = 3


class Later:
    """Looks behind calls. `arguments`, `effect` and `answers` are what the ledger knows of a call, `texts` the arguments that it has read."""

    def __init__(
        self,
        session: Session,
        book: Calls,
        arguments: Callable[[Call], Any],
        effect: Callable[[Call], Effect],
        answers: Callable[[list[Call]], list[Answer]],
        texts: dict[int, str],
    ) -> None:
        self.session, self.book = session, book
        self.arguments, self.effect, self.answers = arguments, effect, answers
        self._texts = texts

    def evidence(self, target: str | None, call: Call) -> Iterator[Evidence]:
        """Later calls that name the target; and the model's next claim that the work is done, which proves nothing."""
        naming = (each for each in self._calls_after(call) if target and target in self._argument_text(each))
        for each in islice(naming, LATER_READS if target else 0):
            yield self._names_target(each, target or "")
        claim = self._claim(call)
        if claim is not None:
            yield Evidence("assistant-claim", "The model says later that something was done. What it says is no proof.", claim.ref, "none")

    def _calls_after(self, call: Call) -> Iterator[Call]:
        """The next calls of the same part that stand in another message."""
        message = message_of(call)
        for each in self.book.calls[call.order + 1 : call.order + 1 + LOOKED_AHEAD]:
            if each.row.part == call.row.part and (message is None or message_of(each) != message):
                yield each

    def _argument_text(self, call: Call) -> str:
        """The call's arguments as one text. Kept for the calls that the next uncertain operations look at too."""
        if call.order not in self._texts:
            if len(self._texts) >= 4 * LOOKED_AHEAD:
                self._texts.clear()
            self._texts[call.order] = json.dumps(self.arguments(call), ensure_ascii=False)
        return self._texts[call.order]

    def _names_target(self, later: Call, target: str) -> Evidence:
        answers = self.answers([later])
        read = answers and answers[0].outcome is Outcome.RESULT and self.effect(later).name is EffectClass.READ_ONLY
        if read:
            return Evidence("later-read", f"A later {later.tool} call looked at {target[:80]}: its result may tell.", answers[0].row.ref)
        return Evidence("later-call", f"A later {later.tool} call names {target[:80]}: what it did may tell.", later.row.ref)

    def _claim(self, call: Call) -> Row | None:
        """The first row in which the model says that something was done, before any later call of it that changes something."""
        busy = next((each.row.index for each in self._calls_after(call) if self.effect(each).name is not EffectClass.READ_ONLY), None)
        rows = self.session.rows
        start = bisect_right(rows, (call.row.part, call.row.index), key=lambda row: (row.part, row.index))
        for row in rows[start : start + LOOKED_AHEAD]:
            if row.part != call.row.part or (busy is not None and row.index >= busy):
                return None
            told = any(block.kind is BlockKind.TEXT and not block.blank for block in row.blocks)
            if row.role == "assistant" and told and getattr(row.extra, "model", None) != "<synthetic>" and claim_in(self.book.words(row)):
                return row
        return None
