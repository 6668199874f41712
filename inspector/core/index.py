"""What rules ask of all rows, worked out once for an inspection and shared: joins by id, calls and results, the branch, lines' inner records."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from .clients.claude_code.read import light_row
from .dialects.problems import Problem
from .inspection import Inspection
from .jsonspans import NotJson, loads, recover
from .operations import Operation
from .session import Block, BlockKind, Row, RowKind, Session, moment
from .symptoms import stand_in
from .verdicts import Drop, Reason
from .wording import blocks_of

CHAIN_KINDS = frozenset((RowKind.MESSAGE, RowKind.CONTEXT, RowKind.SYSTEM))
TOLD = ("session", "cwd", "permission_mode")
CALL, RESULT = BlockKind.CALL, BlockKind.RESULT
T = TypeVar("T")
Key = tuple[int, str]
"""Part number and id: ids are unique in a part at most."""


class Spot(NamedTuple):
    """A block and the row that holds it."""

    row: Row
    block: Block


class Join(Generic[T]):
    """Values by part and id, in file order. Nearly every id occurs once: a list is kept only for those that repeat."""

    def __init__(self) -> None:
        self._one: dict[int, dict[str, T]] = {}
        self._more: dict[Key, list[T]] = {}

    def fill(self, part: int, values: Iterable[tuple[str, T]]) -> None:
        """Put the (id, value) of a part in, each behind those that its id already has."""
        one = self._one.setdefault(part, {})
        for id, value in values:
            first = one.setdefault(id, value)
            if first is not value:
                self._more.setdefault((part, id), [first]).append(value)

    def __contains__(self, key: Key) -> bool:
        return key[1] in self._one.get(key[0], ())

    def __getitem__(self, key: Key) -> list[T]:
        return self._more.get(key) or [self._one[key[0]][key[1]]]

    def get(self, key: Key, default: Sequence[T] = ()) -> list[T]:
        """The id's values; as a dict has it, `default` for an unknown id."""
        return self[key] if key in self else list(default)

    def of(self, part: int) -> Mapping[str, T]:
        """The first value of each id of a part."""
        return self._one.get(part, {})

    def lasts(self, part: int) -> Mapping[str, T]:
        """The last value of each id of a part."""
        more = {id: values[-1] for (other, id), values in self._more.items() if other == part}
        return {**self.of(part), **more} if more else self.of(part)

    def last(self, part: int, id: str) -> T | None:
        """The id's last value."""
        more = self._more.get((part, id)) if self._more else None
        return more[-1] if more else self._one.get(part, {}).get(id)

    def items(self) -> Iterator[tuple[Key, list[T]]]:
        """Every id with its values."""
        for part, values in self._one.items():
            for id, value in values.items():
                yield (part, id), self._more.get((part, id)) or [value]

    def without(self, other: Join[Any]) -> Iterator[tuple[Key, list[T]]]:
        """Ids that another join does not have, with their values."""
        for part, values in self._one.items():
            known = other.of(part)
            for id in [id for id in values if id not in known]:
                yield (part, id), self[part, id]

    def repeated(self) -> list[tuple[Key, list[T]]]:
        """Ids with more than one value."""
        return list(self._more.items())


class Index:
    """Joins over the light rows of one inspection. Each is built when it is first asked for; nothing is parsed but damaged lines."""

    def __init__(self, inspection: Inspection) -> None:
        # Not the inspection itself, which holds this index: a circle of all that was read would wait long for the collector.
        self.session = inspection.session
        self.state = inspection.state
        self._request = inspection.request
        self._operations = inspection.operations

    @cached_property
    def parts(self) -> dict[int, list[Row]]:
        """Rows by part."""
        return {part: list(rows) for part, rows in groupby(self.session.rows, attrgetter("part"))}

    @cached_property
    def odd(self) -> list[Row]:
        """Rows whose bytes are damaged or strange."""
        return [row for row in self.session.rows if row.damage is not None or row.faults]

    @cached_property
    def told(self) -> dict[str, set[str | None]]:
        """Each value once that the main transcript's records have in the fields TOLD of their `extra`; None where one has nothing."""
        found = set(map(attrgetter(*TOLD), (row.extra for row in self.parts.get(0, ()) if row.extra is not None)))
        return {field: {values[number] for values in found} for number, field in enumerate(TOLD)}

    @cached_property
    def chain(self) -> list[Row]:
        """Rows that can be links of a chain, in file order: they have an id and belong to a conversation."""
        return [row for row in self.session.rows if row.id is not None and row.kind in CHAIN_KINDS]

    @cached_property
    def main(self) -> list[Row]:
        """Chain rows of the main transcript's own conversation."""
        return [row for row in self.chain if row.part == 0 and not row.sidechain]

    @cached_property
    def by_id(self) -> Join[Row]:
        """All rows with an id, of whatever kind."""
        found: Join[Row] = Join()
        for part, rows in self.parts.items():
            found.fill(part, ((row.id, row) for row in rows if row.id is not None))
        return found

    @cached_property
    def early(self) -> list[Row]:
        """Rows that stand before their parent (of rows with the same id the last counts), or are it: every circle of parents has one."""
        found: list[Row] = []
        for part, rows in self.parts.items():
            ids = self.by_id.lasts(part)
            found += [row for row in rows if row.parent and row.parent in ids and row.index <= ids[row.parent].index]
        return found

    @cached_property
    def parents(self) -> dict[int, set[str]]:
        """Part -> ids that its rows hang from."""
        return {part: {row.parent for row in rows if row.parent is not None} for part, rows in self.parts.items()}

    @cached_property
    def children(self) -> Join[Row]:
        """Rows by the parent that they name, whatever their kind; a repeated row counts once."""
        found: Join[Row] = Join()
        copies = {row for _, rows in self.by_id.repeated() for row in rows[1:]}
        for part, rows in self.parts.items():
            hung = ((row.parent, row) for row in rows if row.parent is not None and row.id is not None and row not in copies)
            found.fill(part, hung)
        return found

    @cached_property
    def calls(self) -> Join[Spot]:
        """Calls by part and call id, in file order."""
        return self._pairs[0]

    @cached_property
    def results(self) -> Join[Spot]:
        """Results by part and call id, in file order."""
        return self._pairs[1]

    @cached_property
    def _pairs(self) -> tuple[Join[Spot], Join[Spot]]:
        calls: Join[Spot] = Join()
        results: Join[Spot] = Join()
        for part, rows in self.parts.items():
            spots = [Spot(row, block) for row in rows for block in row.blocks if block.id is not None]
            calls.fill(part, ((spot.block.id or "", spot) for spot in spots if spot.block.kind is CALL))
            results.fill(part, ((spot.block.id or "", spot) for spot in spots if spot.block.kind is RESULT))
        return calls, results

    @cached_property
    def branch(self) -> list[Row]:
        """Rows of the continued branch, oldest first."""
        return [self.session.row(ref) for ref in self.state.branch]

    @cached_property
    def on_branch(self) -> set[Row]:
        return set(self.branch)

    @cached_property
    def place(self) -> dict[Row, int]:
        """Row -> its number on the branch."""
        return {row: number for number, row in enumerate(self.branch)}

    @cached_property
    def drops(self) -> dict[str, Drop]:
        """Ref of a row, or of one that the resume adds (`+…`) -> why it does not reach the request."""
        return {drop.row: drop for drop in self.state.drops}

    def dropped(self, *reasons: Reason) -> list[Row]:
        """Rows left out for one of these reasons, in the order of the drops."""
        return [self.session.row(ref) for ref, drop in self.drops.items() if drop.reason in reasons and not ref.startswith("+")]

    def stopped_at(self, row: Row) -> int:
        """How many rows of the conversation stand behind a row at which the client stops reading."""
        return sum(each.kind in CHAIN_KINDS and self.drops[each.ref].because == row.ref for each in self.dropped(Reason.READING_STOPPED))

    @cached_property
    def messages(self) -> list[Row]:
        """Message rows on the branch that the client made no error text of, oldest first."""
        return [row for row in self.branch if row.kind is RowKind.MESSAGE and not api_error(row)]

    @cached_property
    def groups(self) -> dict[str, list[Row]]:
        """Assistant rows on the branch by the message that they are pieces of, in the order of its first piece."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.messages:
            if row.role == "assistant":
                found[message_of(row)].append(row)
        return found

    @cached_property
    def inner(self) -> dict[Row, list[Row]]:
        """Damaged rows of a transcript -> the whole records that can still be read from the line (light, spans within the part)."""
        found: dict[Row, list[Row]] = {}
        if self.session.client != "claude-code":
            return found
        for row in self.odd:
            if row.damage in ("spliced", "nul"):
                data = self.session.bytes_of(row)
                found[row] = [
                    light_row(row.part, row.index, row.start + start, row.start + end, value)
                    for start, end, value in records(data)
                ]  # fmt: skip
        return found

    @cached_property
    def inner_results(self) -> dict[Key, Row]:
        """Results that stand in a damaged line: call id -> that line's row."""
        return {
            (row.part, block.id): row
            for row, records_ in self.inner.items() for record in records_ for block in record.blocks
            if block.kind is BlockKind.RESULT and block.id
        }  # fmt: skip

    @cached_property
    def inner_ids(self) -> dict[Key, Row]:
        """Ids of records that stand in a damaged line -> that line's row."""
        return {(row.part, record.id): row for row, records_ in self.inner.items() for record in records_ if record.id}

    @cached_property
    def problems(self) -> dict[str, list[Problem]]:
        """Problems of the derived request by the id of the provider's rule."""
        found: dict[str, list[Problem]] = defaultdict(list)
        for problem in self._request.problems if self._request else ():
            found[problem.rule].append(problem)
        return found

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """Operations by their call id."""
        return {operation.call_id: operation for operation in self._operations if operation.call_id}

    def effect(self, call_id: str | None) -> str:
        """Class of a call's effect; `unknown` where none was worked out."""
        operation = self.operations.get(call_id or "")
        return operation.effect if operation else "unknown"

    def leaf(self) -> Row | None:
        """The row that the resume continues from."""
        return self.session.row(self.state.leaf) if self.state.leaf else None

    def tail(self) -> Row | None:
        """The last message row of the branch that clean-up leaves."""
        return next((row for row in reversed(self.messages) if row.ref not in self.drops), None)

    def ancestors(self, row: Row) -> Iterator[Row]:
        """The row and its parents, as written, up to a root, a gap or a circle."""
        seen: set[Row] = set()
        current: Row | None = row
        while current is not None and current not in seen:
            seen.add(current)
            yield current
            current = self.by_id.last(current.part, current.parent) if current.parent else None


def of(inspection: Inspection) -> Index:
    """The inspection's index, built once."""
    if "index" not in inspection.memo:
        inspection.memo["index"] = Index(inspection)
    found = inspection.memo["index"]
    assert isinstance(found, Index)
    return found


def records(data: bytes) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(start, end, value) of each whole record inside a damaged line."""
    for start, end in recover(data):
        try:
            value = loads(data[start:end])
        except NotJson:
            continue
        if isinstance(value, dict):
            yield start, end, value


def message_of(row: Row) -> str:
    """Id of the message that an assistant row is a piece of; a row without one stands alone."""
    return getattr(row.extra, "message_id", None) or row.ref


def api_error(row: Row) -> bool:
    """Whether the row is an error text that the client wrote in the model's name."""
    return getattr(row.extra, "api_error", False) is True


def results_only(row: Row) -> bool:
    """Whether a row holds a tool's result (and so is no prompt of a person)."""
    for block in row.blocks:
        if block.kind is RESULT:
            return True
    return False


def newest(rows: Iterable[Row]) -> float:
    """The latest time of some rows, in seconds since 1970; 0.0 where none has a time that can be read."""
    rows = list(rows)
    odd = unusual_times(rows)
    plain = max({row.at or "" for row in rows} - {row.at or "" for row in odd}, default="")
    return max([moment(plain) or 0.0, *(moment(row.at) or 0.0 for row in odd)])


USUAL_TIME = re.compile(r"[0-9]{4}.{6}T[0-9]{2}.{7}[0-9]{3}Z")


def unusual_times(rows: Iterable[Row]) -> list[Row]:
    """The rows whose timestamp does not have the form that clients write; all others sort as text."""
    usual = USUAL_TIME.fullmatch
    return [row for row in rows if row.at is None or usual(row.at) is None]


def stands_in(session: Session, row: Row) -> bool:
    """Whether a result row is only the client's stand-in for a result that was never saved."""
    if getattr(row.extra, "denial", None) == "interrupted":
        return True
    for block in blocks_of(session.value(row)):
        content = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
        if isinstance(content, list):
            content = next((each.get("text") for each in content if isinstance(each, dict)), None)
        if isinstance(content, str) and stand_in(content):
            return True
    return False


def refs(rows: Iterable[Row]) -> tuple[str, ...]:
    """Refs for a finding, at most 500: the count stands in the sentence."""
    return tuple(row.ref for _, row in zip(range(500), rows, strict=False))
