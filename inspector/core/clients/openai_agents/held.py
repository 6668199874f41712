"""What a row of a session holds: where its items stand in its value, for each of the forms in which sessions are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ... import tablerow
from ...jsonspans import NotJson, loads
from ...session import Row, Session

Form = Literal["message", "element", "input", "run-item"]
"""message: a row of a table, its item is JSON text · element: the item itself · input: a list of items, or a prompt · run-item: in `raw_item`."""
MESSAGE = "message_data"
"""Column that holds an item."""
ENVELOPE = frozenset(("__enc__", "v", "kid", "payload"))


@dataclass(frozen=True, slots=True)
class Held:
    """Of a row of the conversation: in which form it holds items."""

    form: Form
    key: str = ""
    """Of a RunState's member its name; of a message its `id` in the table."""
    closed: bool = False
    """The item is encrypted, and no key was given for it."""
    plain: bool = True
    """False where the item was encrypted and is read with a key."""
    marked: bool = False
    """An output or a message that a repair wrote."""

    @property
    def meta(self) -> bool:
        """Whether the row is no prompt of a person."""
        return self.marked


def items_of(session: Session, row: Row) -> list[Any]:
    """The items of a row, in order; empty for rows that hold none, or none that can be read."""
    held = row.extra
    if not isinstance(held, Held) or held.closed:
        return []
    value = session.value(row)
    if held.form == "element":
        return [value]
    if not isinstance(value, dict):
        return []
    if held.form == "message":
        found = message_of(value)
        return [] if found is None else [found[0]]
    if held.form == "run-item":
        return [run_item(value)]
    given = value.get(held.key)
    return [{"content": given, "role": "user"}] if isinstance(given, str) else given if isinstance(given, list) else []


def message_of(record: dict[str, Any]) -> tuple[Any, bool] | None:
    """The item of a message's record, and whether it is decrypted; None where its text is no JSON."""
    opened = tablerow.decrypted(record, MESSAGE)
    text = opened if opened is not None else tablerow.plain(record, MESSAGE)
    if isinstance(text, dict | list):  # a JSON column
        return text, False
    if not isinstance(text, str | bytes):
        return None
    try:
        return loads(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text), opened is not None
    except NotJson:
        return None


def is_envelope(item: Any) -> bool:
    """Whether an item is another one, encrypted."""
    return isinstance(item, dict) and item.get("__enc__") == 1 and ENVELOPE <= item.keys()


def run_item(value: dict[str, Any]) -> Any:
    """The item that a RunState's entry stands for, as it would be sent."""
    raw = value.get("raw_item")
    if isinstance(raw, dict) and raw.get("status") is None:
        return {key: each for key, each in raw.items() if key != "status"}
    return raw
