"""A JSON document cut into byte-exact rows, and put together again after an edit that leaves every other byte alone.

A document is one part that holds one JSON object or one list. Its rows are the members of the object, and the elements of at most one list
that a reader asks for. That list may lie deeper, also inside a value that holds JSON of its own: as text, as base64, or as a list of byte
values. Brackets and separators are rows too, so that the rows tile the part.

A row's *body* is what it says in plain JSON: `{"key": value}` for a member, the element itself for an element. Edits are bodies; `rebuilt`
writes them as the part has them.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .errors import ApplyError
from .jsonspans import NotJson, loads

SPACE = re.compile(rb"[ \t\r\n]*+")
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
SCALAR = re.compile(rb"[^\s,:\[\]{}\"]+")
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
ESCAPE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
NUMBER = re.compile(rb"[0-9]+")
BOM = b"\xef\xbb\xbf"

Form = Literal["object", "text", "base64", "bytes"]
"""How a value holds the list's document: object: it is JSON itself · text: JSON in a string · base64: in a string · bytes: a list of byte values."""
Kind = Literal["frame", "member", "head", "element", "tail", "broken"]
"""frame: brackets of the object · head, tail: what stands around the list, in its member · broken: bytes that can't be read."""


class Place(NamedTuple):
    """A member (its name begins at `start`) or an element (`at` is `start`); its value is `data[at:end]`."""

    key: str
    start: int
    at: int
    end: int


def places(data: bytes, at: int) -> tuple[list[Place], int | None]:
    """The members or elements of the object or list that begins at `at`, and the offset of its closing bracket: None where it breaks off.

    Values are not checked beyond their brackets and quotes.
    """
    closing = b"}" if data[at : at + 1] == b"{" else b"]"
    found: list[Place] = []
    at = _skip(data, at + 1)
    while data[at : at + 1] != closing:
        start, key = at, str(len(found))
        if closing == b"}":
            name = STRING.match(data, at)
            colon = _skip(data, name.end()) if name else len(data)
            if name is None or data[colon : colon + 1] != b":":
                return found, None
            key, at = _text(name[0]), _skip(data, colon + 1)
        end = _value_end(data, at)
        if end is None:
            return found, None
        found.append(Place(key, start, at, end))
        at = _skip(data, end)
        if data[at : at + 1] == b",":
            at = _skip(data, at + 1)
        elif data[at : at + 1] != closing:
            return found, None
    return found, at


def _skip(data: bytes, at: int) -> int:
    found = SPACE.match(data, at)
    return found.end() if found else at


def _text(name: bytes) -> str:
    try:
        return str(loads(name))
    except NotJson:
        return name.decode("utf-8", "replace")


def _value_end(data: bytes, at: int) -> int | None:
    first = data[at : at + 1]
    if first not in (b"{", b"["):
        found = (STRING if first == b'"' else SCALAR).match(data, at)
        return found.end() if found else None
    depth = 0
    for token in TOKEN.finditer(data, at):
        mark = data[token.start()]
        depth += (mark in b"{[") - (mark in b"}]")
        if not depth:
            return token.end()
    return None


def value_at(data: bytes, path: Sequence[str]) -> Place:
    """The value that a path of names leads to, from the object that the bytes hold. Raises NotJson where there is none."""
    at = _skip(data, len(BOM) if data.startswith(BOM) else 0)
    found = Place("", at, at, len(data))
    for name in path:
        if data[found.at : found.at + 1] != b"{":
            raise NotJson("the path leads through a value that is no object")
        named = [place for place in places(data, found.at)[0] if place.key == name]
        if not named:
            raise NotJson(f"there is no {name}")
        found = named[-1]
    return found


class Held:
    """A document inside a value: its own bytes, and where each of them stands in the part."""

    def __init__(self, data: bytes, at: int, end: int, form: Form) -> None:
        """Raises NotJson where the value does not hold what `form` says."""
        self.form, self.at, self.raw = form, at, data[at:end]
        self._inner: list[int] = [0]
        self._outer: list[int] = [0]
        if form == "object":
            self.inner = self.raw
        elif form == "bytes":
            numbers = list(NUMBER.finditer(self.raw))
            try:
                self.inner = bytes(int(number[0]) for number in numbers)
            except ValueError as error:
                raise NotJson("a number of the list is no byte") from error
            self._outer = [number.start() for number in numbers]
        else:
            text = self._unescaped()
            if form == "base64":
                try:
                    text = base64.b64decode(text, validate=True)
                except (binascii.Error, ValueError) as error:
                    raise NotJson("the text is no base64") from error
            self.inner = text

    def _unescaped(self) -> bytes:
        """The string's text; where its bytes stand is noted at each escape and behind it."""
        found, copied = [], 1
        length = 0
        self._inner, self._outer = [0], [1]
        for escape in ESCAPE.finditer(self.raw, 1, len(self.raw) - 1):
            plain, said = self.raw[copied : escape.start()], str(loads(b'"' + escape[0] + b'"')).encode("utf-8", "surrogatepass")
            found += [plain, said]
            self._inner += [length + len(plain) + number for number in range(len(said) + 1)]
            self._outer += [escape.start()] * len(said) + [escape.end()]
            length += len(plain) + len(said)
            copied = escape.end()
        return b"".join([*found, self.raw[copied : len(self.raw) - 1]])

    def outer(self, offset: int) -> int:
        """Offset in the part at which a byte of the document begins; of a base64 text the first character that holds bits of it."""
        if self.form == "bytes":
            return self.at + (self._outer[offset] if offset < len(self._outer) else len(self.raw) - 1)
        if self.form == "base64":
            offset = 4 * (offset // 3) + offset % 3
        number = bisect_right(self._inner, offset) - 1
        return self.at + self._outer[number] + offset - self._inner[number]

    def coded(self, inner: bytes) -> bytes:
        """A changed document as a value of the same form. What both begin and end with keeps its bytes where the form allows it."""
        if self.form == "object":
            return inner
        if self.form == "bytes":
            between = self.raw[self._outer[0] + len(str(self.inner[0])) : self._outer[1]] if len(self.inner) > 1 else b","
            end = self._outer[-1] + len(str(self.inner[-1]))
            return self.raw[: self._outer[0]] + between.join(b"%d" % each for each in inner) + self.raw[end:]
        if self.form == "base64":
            same = common(self.inner, inner) // 3
            return self.raw[: self.outer(3 * same) - self.at] + self._escaped(base64.b64encode(inner[3 * same :]).decode()) + b'"'
        start, end = common(self.inner, inner), 0
        while end < min(len(inner), len(self.inner)) - start and self.inner[-1 - end] == inner[-1 - end]:
            end += 1
        while start and inner[start : start + 1] >= b"\x80":
            start -= 1
        while end and inner[len(inner) - end : len(inner) - end + 1] >= b"\x80":
            end -= 1
        middle = self._escaped(inner[start : len(inner) - end].decode("utf-8", "surrogateescape"))
        return self.raw[: self.outer(start) - self.at] + middle + self.raw[self.outer(len(self.inner) - end) - self.at :]

    def _escaped(self, text: str) -> bytes:
        """The inside of a JSON string, with `/` as the value writes it."""
        said = json.dumps(text, ensure_ascii=False)[1:-1]
        return (said.replace("/", "\\/") if b"\\/" in self.raw else said).encode("utf-8", "surrogateescape")


def common(one: bytes, other: bytes) -> int:
    """Length of what both begin with."""
    shortest = min(len(one), len(other))
    if one[:shortest] == other[:shortest]:
        return shortest
    low, high = 0, shortest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True)
class Piece:
    """What becomes one row: bytes `start` to `end` of the part."""

    kind: Kind
    start: int
    end: int
    key: str = ""
    """Name of the member; of an element its number."""
    body: bytes = b""
    """In plain JSON; empty where it holds no value."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The list that becomes rows: the value at `path` holds, in `form`, a document whose list is at `list_path`. No path: the part is the list."""

    path: tuple[str, ...]
    form: Form
    list_path: tuple[str, ...]


class Document:
    """The pieces of one part, in order; they tile it."""

    def __init__(self, data: bytes, opened: Opened | None = None) -> None:
        """Never refuses bytes: what can't be read is a broken piece. Raises NotJson where `opened` names what is not there."""
        self.data, self.opened = data, opened
        self.whole = False
        """Whether the brackets close and nothing follows them."""
        self.tail = False
        """Whether they close and something follows them that does not belong to the document: the last piece."""
        self.members: list[Place] = []
        self.close = len(data)
        self._open(opened)
        self.pieces = list(self._cut())

    def _open(self, opened: Opened | None) -> None:
        self.held: Held | None = None
        self.elements: list[Place] = []
        data = self.data
        start = _skip(data, len(BOM) if data.startswith(BOM) else 0)
        if data[start : start + 1] == b"{":
            self.members, close = places(data, start)
            self.whole = close is not None and not data[close + 1 :].strip(b" \t\r\n")
            self.tail = close is not None and not self.whole
            self.close = close if close is not None else len(data)
        if opened is None:
            return
        if not opened.path:
            self._open_list(start)
            return
        value = value_at(data, opened.path)
        self.member = max(number for number, place in enumerate(self.members) if place.key == opened.path[0])
        self.held = Held(data, value.at, value.end, opened.form)
        self.value = value
        self.list = value_at(self.held.inner, opened.list_path)
        self.elements, end = places(self.held.inner, self.list.at)
        if end is None or self.held.inner[self.list.at : self.list.at + 1] != b"[":
            raise NotJson("the list has no end")
        self.list_end = end

    def _open_list(self, start: int) -> None:
        """The part itself as the list."""
        if self.data[start : start + 1] != b"[":
            raise NotJson("the document is no list")
        self.held = Held(self.data, start, len(self.data), "object")
        self.list = Place("", 0, 0, len(self.held.inner))
        self.elements, end = places(self.held.inner, 0)
        self.whole = end is not None and not self.held.inner[end + 1 :].strip(b" \t\r\n")
        self.list_end = end if self.whole and end is not None else self._break(self.held.inner)

    def _break(self, inner: bytes) -> int:
        """Where a list breaks off: behind its last element that a comma follows."""
        last = self.elements[-1] if self.elements else None
        cut = _skip(inner, last.end) if last else 0
        if last is None:
            return min(1, len(inner))
        if inner[cut : cut + 1] == b",":
            return _skip(inner, cut + 1)
        self.elements.pop()
        return last.start

    def _cut(self) -> list[Piece]:
        if self.held is not None and self.opened is not None and not self.opened.path:
            _, *inside, _ = self._list(Place("", 0, self.held.at, len(self.data)), len(self.data))
            begin = inside[0].start if inside else self.held.outer(self.list_end)
            rest = Piece("frame" if self.whole else "broken", self.held.outer(self.list_end), len(self.data))
            return [piece for piece in (Piece("frame", 0, begin), *inside, rest) if piece.end > piece.start]
        found: list[Piece] = []
        data = self.data
        ends = [place.start for place in self.members[1:]]
        if not self.whole and not self.tail:
            # A member that the text breaks off behind may itself be cut: only one that a separator follows is whole.
            last = self.members[-1] if self.members else None
            cut = _skip(data, last.end) if last else 0
            ends.append((last.end if data[cut : cut + 1] == b"," else last.start) if last else 0)
        else:
            ends.append(self.close)
        first = self.members[0].start if self.members else (self.close if self.whole or self.tail else 0)
        if first:
            found.append(Piece("frame", 0, first))
        for number, (place, end) in enumerate(zip(self.members, ends, strict=False)):
            if end <= place.start:
                break
            if self.held is not None and number == self.member:
                found += self._list(place, end)
            else:
                found.append(Piece("member", place.start, end, place.key, b"{" + data[place.start : place.end] + b"}"))
        at = found[-1].end if found else 0
        if self.tail:
            found.append(Piece("frame", at, self.close + 1))
            at = self.close + 1
        if at < len(data):
            found.append(Piece("frame" if self.whole else "broken", at, len(data)))
        return found

    def _list(self, member: Place, end: int) -> list[Piece]:
        held = self.held
        assert held is not None
        starts = [held.outer(each.start) for each in self.elements] + [held.outer(self.list_end)]
        inner = held.inner
        around = inner[: self.list.at] + b"[]" + inner[self.list_end + 1 :]
        elements = [
            Piece("element", start, stop, each.key, inner[each.at : each.end])
            for each, start, stop in zip(self.elements, starts, starts[1:], strict=False)
        ]
        return [Piece("head", member.start, starts[0], member.key, around), *elements, Piece("tail", starts[-1], end, member.key)]

    def rebuilt(self, changes: Mapping[int, bytes | None], inserted: Mapping[int, Sequence[bytes]]) -> tuple[bytes, list[int | tuple[int, int]]]:
        """The part's bytes with other bodies: `changes` maps the number of a piece to its new body, or to None where it is left out;
        `inserted` to the bodies that follow it.

        Also the new pieces in order: the number of the old piece, or (number, place among those inserted there). Raises ApplyError for an
        edit of what is neither a member nor an element, and for a body of the wrong shape. Of a damaged document only what
        follows it can be left out.
        """
        last = len(self.pieces) - 1
        if self.tail and dict(changes) == {last: None} and not any(inserted.values()):
            return self.data[: self.pieces[last].start], list(range(last))
        if not self.whole:
            raise ApplyError("a document that is damaged can't be edited")
        for number in changes:
            if self.pieces[number].kind not in ("member", "element"):
                raise ApplyError(f"row {number} holds no value of its own")
        order: list[int | tuple[int, int]] = []
        members: list[tuple[bytes, bytes | None]] = []
        elements: list[tuple[bytes, bytes | None]] = []
        places_by_key = iter(enumerate(self.members))
        seps = self._separators(self.data, self.members, self.close)
        inner_seps = self._separators(self.held.inner, self.elements, self.list_end) if self.held else []
        for number, piece in enumerate(self.pieces):
            new = changes.get(number, piece.body)
            if new is not None or piece.kind in ("frame", "head", "tail"):
                order.append(number)
            if piece.kind == "member":
                place_number, place = next(places_by_key)
                if new is not None:
                    text = self.data[place.start : place.end] if number not in changes else _member(new)
                    members.append((text, seps[place_number]))
            elif piece.kind == "element" and new is not None:
                elements.append((new, inner_seps[int(piece.key)]))
            elif piece.kind == "tail":
                place_number, place = next(places_by_key)
                members.append((self._with_list(place, elements, inner_seps), seps[place_number]))
            following = inserted.get(number, ())
            listed = self.opened is not None and not self.opened.path
            order += [(number, each) for each in range(len(following))]
            if following and (number == len(self.pieces) - 1 and piece.kind == "frame"):
                raise ApplyError("nothing can follow the end of a document")
            if piece.kind in ("head", "element") or listed:
                elements += [(body, None) for body in following]
            else:
                members += [(_member(body), None) for body in following]
        if self.held is not None and self.opened is not None and not self.opened.path:
            return self.data[: self.held.at] + self._listed(elements, inner_seps), order
        start = self.pieces[0].end
        data = self.data[:start] + _joined(members, seps, self.data[self.data.find(b"{") + 1 : start]) + self.data[self.close :]
        return data, order

    @staticmethod
    def _separators(data: bytes, found: Sequence[Place], close: int) -> list[bytes]:
        """What stands behind each value, up to the next one or the closing bracket."""
        starts = [*(each.start for each in found[1:]), close]
        return [data[place.end : start] for place, start in zip(found, starts, strict=False)]

    def _with_list(self, member: Place, elements: Sequence[tuple[bytes, bytes | None]], seps: Sequence[bytes]) -> bytes:
        held = self.held
        assert held is not None
        inner = self._listed(elements, seps)
        value = held.raw if inner == held.inner else held.coded(inner)
        return self.data[member.start : self.value.at] + value + self.data[self.value.end : member.end]

    def _listed(self, elements: Sequence[tuple[bytes, bytes | None]], seps: Sequence[bytes]) -> bytes:
        """The inner document with other elements in its list."""
        assert self.held is not None
        inner = self.held.inner
        first = self.elements[0].start if self.elements else self.list_end
        return inner[:first] + _joined(elements, seps, inner[self.list.at + 1 : first]) + inner[self.list_end :]


def _member(body: bytes) -> bytes:
    """`"key": value` of a body `{"key": value}`."""
    found, close = places(body, 0)
    if len(found) != 1 or close is None:
        raise ApplyError("the body of a member is an object with this one member")
    return body[found[0].start : found[0].end]


def _joined(items: Sequence[tuple[bytes, bytes | None]], seps: Sequence[bytes], lead: bytes) -> bytes:
    """Texts with their own separators where they have one; `lead` is the white space behind the opening bracket."""
    between = next((sep for sep in seps if b"," in sep), b"," + lead)
    end = seps[-1] if seps else b""
    out = []
    for number, (text, sep) in enumerate(items):
        out += [text, end if number == len(items) - 1 else sep if sep is not None and b"," in sep else between]
    return b"".join(out) if items else end
