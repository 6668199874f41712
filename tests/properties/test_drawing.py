"""What is drawn from recorded text is text: no tag, attribute or control character of it survives."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.templatetags.words import code_spans, safe_text
from inspector.views.drawing import ansi, jsontree, markdown, minimap, outline
from inspector.views.drawing.html import el, join

TEXT = st.text(st.characters(), max_size=200) | st.sampled_from(
    ["<script>x</script>", "\"onload='x'", "\x1b[31m<b>\x1b[0m", "\x1b]8;;javascript:x\x07y\x1b]8;;\x07", "`<i>`", "\ud800", "\x1b[38;5;200m<"]
)


class Seen(HTMLParser):
    """Tags, attributes and text of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXT, TEXT)
def test_an_element_holds_its_text_and_no_more(text: str, value: str) -> None:
    seen = Seen(el("b", text, title=value))
    assert seen.tags == {"b"} and seen.attributes == {"title"}
    assert seen.text.replace("\r\n", "\n").replace("\r", "\n") == text.replace("\r\n", "\n").replace("\r", "\n") or "\0" in text


@given(st.lists(TEXT, max_size=4).map("".join))
def test_terminal_text_gives_spans_with_a_class_only(text: str) -> None:
    seen = Seen(ansi.draw(text))
    assert seen.tags <= {"span"} and seen.attributes <= {"class"}
    assert not any(ord(char) < 32 and char not in "\t\n" or char == "\x7f" for char in seen.text)


@given(TEXT)
def test_text_without_control_characters_is_kept_whole(text: str) -> None:
    plain = "".join(char for char in text if ord(char) >= 32 and not 0x7F <= ord(char) <= 0x9F)
    assert Seen(ansi.draw(plain)).text == plain


def test_the_sixteen_colours_and_styles_become_classes() -> None:
    assert ansi.draw("\x1b[1;31mred\x1b[0m plain") == '<span class="ansi-b ansi-1">red</span> plain'
    assert ansi.draw("\x1b[92mgreen\x1b[39m") == '<span class="ansi-10">green</span>'
    assert ansi.draw("\x1b[38;5;4mblue\x1b[38;2;1;2;3mtrue") == '<span class="ansi-4">blue</span>true'
    assert ansi.draw("\x1b[2J\x1b[Hcleared") == "cleared"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_is_drawn_as_text(value: Any) -> None:
    seen = Seen(jsontree.draw(value, safe_text))
    assert seen.tags <= {"pre", "span"} and seen.attributes <= {"class", "tabindex"}


@given(st.lists(TEXT, max_size=5), st.lists(TEXT, max_size=5))
def test_a_comparison_is_drawn_as_text(left: list[str], right: list[str]) -> None:
    seen = Seen(outline.side_by_side(left, right, safe_text, ("a", "b")))
    assert seen.tags <= {"div", "span", "p"} and seen.attributes <= {"class"}


@given(TEXT)
def test_code_between_backticks_is_the_only_markup_of_a_sentence(text: str) -> None:
    assert Seen(code_spans(text)).tags <= {"code"}


@given(TEXT)
def test_help_texts_never_hold_a_script_or_a_handler(text: str) -> None:
    seen = Seen(markdown.draw(safe_text(text)))
    assert seen.tags <= markdown.TAGS and seen.attributes <= {"href", "rel"}


@given(TEXT)
def test_shown_text_can_be_encoded(text: str) -> None:
    safe_text(text).encode()


def test_children_made_by_el_are_kept() -> None:
    assert join(el("i", "<"), "<", None) == "<i>&lt;</i>&lt;"
    assert el("input", name="a", checked=True, value=None) == '<input name="a" checked>'


@given(st.integers(0, 5000), st.data())
def test_the_map_has_few_slots_and_never_hides_a_problem(rows: int, data: st.DataObject) -> None:
    kinds = data.draw(st.dictionaries(st.integers(0, max(rows - 1, 0)), st.sampled_from(minimap.WORST), max_size=20)) if rows else {}
    drawn = minimap.draw(0, rows, kinds, lambda ref: f"#r{ref}")
    seen = Seen(drawn)
    assert seen.tags <= {"svg", "a", "title", "rect"}
    assert drawn.count("<a ") == min(rows, minimap.SLOTS)
    assert ('class="p"' in drawn) == ("p" in kinds.values())
    assert all(0 <= int(number) < rows for number in re.findall(r'data-ref-link="0:(\d+)"', drawn))
