"""Work that the transcript holds and the checkpoint does not: the app was suspended before it saved, or while a response was being made.

Nothing in a transcript marks an entry as partial or a step as saved. What is known: which texts were saved, which turns hold them, how a text ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...jsonspans import NotJson, loads
from ...session import BlockKind, Row, Session
from .checkpoint import Checkpoint, missing_inputs, reached, texts
from .entry import Entry

ENDS = frozenset(".!?…:;)]}\"'»”’`*_|>。！？」』）")
"""How a text ends that is whole."""
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The turns behind what was saved. `last` says of the newest one: cut: its response seems to break off · open: its prompt has no answer ·
    whole: it seems to be complete."""

    turns: tuple[tuple[Row, ...], ...]
    last: Literal["cut", "open", "whole"]
    step: str | None
    """The step that they belong to; None for a transcript without a workflow."""

    @property
    def turn(self) -> tuple[Row, ...]:
        return self.turns[-1]

    @property
    def text(self) -> str:
        """What the newest turn ends with."""
        return str(self.turn[-1].extra.text)


def turns_of(session: Session) -> list[tuple[Row, ...]]:
    """Prompts with all that follows each; instructions and what stands before the first prompt are left aside."""
    found: list[list[Row]] = []
    for row in session.main():
        if isinstance(row.extra, Entry) and row.type != "instructions":
            if row.type == "prompt":
                found.append([row])
            elif found:
                found[-1].append(row)
    return [tuple(turn) for turn in found]


def unsaved(session: Session, held: Checkpoint | None) -> Unsaved | None:
    """The work behind the saved step, or None. A turn with a call of which no output was saved is another matter, also once a repair closed it."""
    turns = turns_of(session)
    if not turns or any(_unanswered(turn) for turn in turns) or any(row.extra.marked for row in turns[-1]):
        return None
    step = (reached(held) or held.step) if held is not None else None
    if step == "done" or (held is not None and step is None):
        return None
    if turns[-1][-1].type in ("prompt", "reasoning"):
        return Unsaved((turns[-1],), "open", step)
    if held is None or (step is not None and missing_inputs(held, step)):
        return None
    outputs = [texts(output.value) for output in held.outputs.values()]
    saved = [[_holds(turn, output) for output in outputs] for turn in turns]
    last = max((number for number, hits in enumerate(saved) if any(hits)), default=-1)
    behind = turns[last + 1 :]
    elsewhere = sum(not any(hits[number] for hits in saved) for number in range(len(outputs)))
    left = behind[elsewhere:]
    if not left:
        return None
    cut = left[-1][-1].type == "response" and (_looks_cut(left[-1][-1]) or (held.responding is True))
    return Unsaved(tuple(left), "cut" if cut else "whole", step)


def _holds(turn: tuple[Row, ...], saved: list[str]) -> bool:
    """Whether one of the saved texts stands in an answer of the turn."""
    said = [_plain(row.extra.text) for row in turn if row.type in ("response", "toolOutput")]
    return any(len(text) >= SHORTEST and any(text == each or text in each for each in said) for text in map(_plain, saved))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _unanswered(turn: tuple[Row, ...]) -> bool:
    called = [block.id for row in turn for block in row.blocks if block.kind is BlockKind.CALL]
    answered = {block.id for row in turn for block in row.blocks if block.kind is BlockKind.RESULT}
    return any(id not in answered for id in called)


def _looks_cut(row: Row) -> bool:
    """Whether a response seems to break off: it ends as no sentence does, or is JSON that does not end."""
    text = row.extra.text.strip()
    if not text or any(block.kind is BlockKind.OTHER for block in row.blocks):
        return not text
    if text[0] in "{[":
        try:
            loads(text.encode("utf-8", "surrogatepass"))
        except NotJson:
            return True
        return False
    return text[-1] not in ENDS


def calls_in(turn: tuple[Row, ...]) -> list[str]:
    """Ids of the calls of a turn."""
    return [block.id or "" for row in turn for block in row.blocks if block.kind is BlockKind.CALL]
