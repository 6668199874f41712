"""A JSON document's rows tile it, name their values, and can be edited without another byte changing."""

from __future__ import annotations

import json

import pytest

from inspector.core.documents import Document, Form, Held, Opened
from inspector.core.errors import ApplyError
from inspector.core.jsonspans import NotJson
from tests.core.checkpoints import as_data, encoded, planned

LIST = ("transcript", "entries")
FORMS: tuple[Form, ...] = ("object", "text", "base64", "bytes")


def document(form: Form, indent: int | None = 2, slashes: bool = False) -> Document:
    value = {"a": 1, "held": as_data(planned().instructions("é/\n\t“x” \U0001f600").envelope(), form), "z": [1, {"b": "}"}]}
    return Document(encoded(value, indent, slashes), Opened(("held",), form, LIST))


def tiles(made: Document) -> bool:
    edges = [0, *(piece.end for piece in made.pieces)]
    return [piece.start for piece in made.pieces] == edges[:-1] and edges[-1] == len(made.data)


@pytest.mark.parametrize("slashes", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", FORMS)
def test_rows_tile_and_an_edit_changes_its_value_only(form: Form, indent: int | None, slashes: bool) -> None:
    made = document(form, indent, slashes)
    assert tiles(made) and made.whole
    assert made.rebuilt({}, {}) == (made.data, list(range(len(made.pieces))))
    elements = [number for number, piece in enumerate(made.pieces) if piece.kind == "element"]
    assert [json.loads(made.pieces[number].body)["id"] for number in elements] == ["E0", "E1", "E2", "E3", "E4", "CALL-1", "E6"]
    first, last = elements[0], elements[-1]
    data, order = made.rebuilt({first: None, 1: b'{"a": 22}'}, {last: [b'{"id":"new/\xc3\xa9"}'], 1: [b'{"b": "two"}']})
    value = json.loads(data)
    assert (value["a"], value["b"], value["z"]) == (22, "two", [1, {"b": "}"}]) and list(value) == ["a", "b", "held", "z"]
    again = Document(data, Opened(("held",), form, LIST))
    assert len(again.pieces) == len(order) and tiles(again)
    bodies = [made.pieces[number].body if isinstance(number, int) else b"new" for number in order]
    for piece, body in zip(again.pieces, bodies, strict=True):
        assert body == b"new" or body == piece.body or piece.key == "a"
    assert again.pieces[order.index((last, 0))].body == b'{"id":"new/\xc3\xa9"}'
    unchanged = made.pieces[-2]
    assert data.endswith(made.data[unchanged.start :])


@pytest.mark.parametrize("form", FORMS)
def test_a_list_can_lose_all_its_elements_and_get_new_ones(form: Form) -> None:
    made = document(form)
    elements = [number for number, piece in enumerate(made.pieces) if piece.kind == "element"]
    data, order = made.rebuilt(dict.fromkeys(elements), {})
    empty = Document(data, Opened(("held",), form, LIST))
    assert len(empty.pieces) == len(order) and not empty.elements
    head = next(number for number, piece in enumerate(empty.pieces) if piece.kind == "head")
    data, _ = empty.rebuilt({}, {head: [b'{"id":"x"}', b'{"id":"y"}']})
    assert [piece.body for piece in Document(data, Opened(("held",), form, LIST)).pieces if piece.kind == "element"] == [b'{"id":"x"}', b'{"id":"y"}']


def test_a_document_that_breaks_off_keeps_what_is_whole() -> None:
    data = document("object").data
    for cut in range(len(data)):
        made = Document(data[:cut])
        assert tiles(made) and not made.whole
        assert cut == 0 or made.pieces[-1].kind == "broken"
        with pytest.raises(ApplyError, match="damaged"):
            made.rebuilt({}, {})


def test_what_is_no_row_of_its_own_is_not_edited() -> None:
    made = document("object")
    head = next(number for number, piece in enumerate(made.pieces) if piece.kind == "head")
    for number in (0, head, len(made.pieces) - 1):
        with pytest.raises(ApplyError, match="no value of its own"):
            made.rebuilt({number: b"{}"}, {})
    with pytest.raises(ApplyError, match="this one member"):
        made.rebuilt({1: b'{"a":1,"b":2}'}, {})
    with pytest.raises(ApplyError, match="follow the end"):
        made.rebuilt({}, {len(made.pieces) - 1: [b'{"a":1}']})


@pytest.mark.parametrize(("raw", "form"), [(b'"no base64!"', "base64"), (b"[1, 300]", "bytes")])
def test_a_value_that_holds_something_else_is_refused(raw: bytes, form: Form) -> None:
    with pytest.raises(NotJson):
        Held(raw, 0, len(raw), form)


def test_of_members_with_one_name_the_last_counts() -> None:
    made = Document(b'{"t": {"e": [1]}, "t": {"e": [2, 3]}}', Opened(("t",), "object", ("e",)))
    assert [piece.body for piece in made.pieces if piece.kind == "element"] == [b"2", b"3"] and tiles(made)
    with pytest.raises(NotJson, match="there is no x"):
        Document(b'{"t": 1}', Opened(("x",), "object", ("e",)))
