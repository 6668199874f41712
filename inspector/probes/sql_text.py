"""The text of an administrator's SELECT: cut into words, refused when it is anything else than one statement that reads, and its parameters.

This is the first of three walls. The database itself is the second (a read-only transaction, SQLite's authorizer), a login that may only read
should be the third: functions that an extension or a person defined can't be known here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<comment>--|/\*|\*/)
    | (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<name>[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*)
    | (?P<number>(?:\d[\w.]*|\.\d[\w.]*))
    | (?P<cast>::)
    | (?P<slot>:[A-Za-z_]\w*)
    | (?P<odd>[$@?\\`;\x00]|%[(sbt])
    | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
WRITES = frozenset(
    """insert update delete merge into create drop alter truncate grant revoke copy call do execute prepare deallocate set reset lock vacuum analyze
    attach detach pragma reindex cluster refresh listen notify unlisten load begin commit rollback savepoint release declare fetch move close
    comment security import discard checkpoint share""".split()
)
"""Words that no SELECT that only reads holds outside quotes; a column of such a name is written in quotes."""
ACTS = re.compile(
    r"pg_.*|dblink.*|lo_.*|lo(?:read|write)|nextval|setval|set_config|load_extension|writefile|readfile|edit|fts3_tokenizer|.*_to_xml.*|txid_current",
    re.IGNORECASE,
)
"""Functions that act on the server, on files, on sequences or through another connection."""
ONE_ROW = frozenset(("count", "sum", "min", "max", "avg", "bool_and", "bool_or", "exists", "total"))


class Word(NamedTuple):
    kind: str
    text: str
    depth: int
    """Open brackets around it."""


def words_of(select: str) -> list[Word]:
    """The words and signs, without white space."""
    words, depth = [], 0
    for found in TOKEN.finditer(select):
        kind, text = found.lastgroup or "", found[0]
        depth -= text == ")" and kind == "sign"
        if kind != "space":
            words.append(Word(kind, text, depth))
        depth += text == "(" and kind == "sign"
    return words


def problems(select: str, parameters: Collection[str], rows_decide: bool) -> Iterator[str]:
    """What is wrong with the statement. `rows_decide`: a row alone will count as "it happened"."""
    words = words_of(select)
    names = [word.text.lower() for word in words if word.kind == "name"]
    if not words or words[0].kind != "name" or names[0] not in ("select", "with"):
        yield "`select` must be one SELECT."
    for word, following in zip(words, (*words[1:], Word("sign", "", 0)), strict=False):
        if word.kind in ("comment", "odd") or (word.kind == "sign" and word.text in "'\"") or (word.kind == "text" and "\\" in word.text):
            yield f"`select` may not hold {word.text[:20]}: no comments, no second statement, no back-slashes; values come in as :name."
        elif word.kind == "name" and word.text.lower() in WRITES:
            yield f"`select` may not hold the word {word.text.upper()}; a column of this name is written in quotes."
        elif following.text == "(" and word.kind in ("name", "quoted") and ACTS.fullmatch(word.text.strip('"')):
            yield f"`select` may not call {word.text}."
        elif word.kind == "name" and word.text.lower() in ("u", "e", "b", "x", "n") and following.kind in ("text", "quoted"):
            yield "`select` may not hold strings with a letter before the quote."
        elif word.kind == "name" and word.text.lower() == "u" and following.text == "&":
            yield "`select` may not hold U& names."
    slots = {word.text[1:] for word in words if word.kind == "slot"}
    for name in sorted(slots - set(parameters)):
        yield f"`select` holds :{name} without a parameter of this name."
    if rows_decide:
        yield from always_a_row(words)


def always_a_row(words: list[Word]) -> Iterator[str]:
    """A statement that gives a row whatever there is can't be decided by its rows."""
    outer = [word.text.lower() for word in words if word.depth == 0 and word.kind in ("name", "sign")]
    if {"union", "intersect", "except"} & set(outer):
        yield '`select` joins several SELECTs: with "rows" it must be one.'
    last = len(outer) - 1 - outer[::-1].index("select") if "select" in outer else 0
    listed = outer[last : outer.index("from", last)] if "from" in outer[last:] else outer[last:]
    if "where" not in outer[last:] or (ONE_ROW & set(listed) and "group" not in outer):
        yield '`select` gives a row in any case: with "rows" it needs a WHERE and no aggregate; or name the column and its value in `applied_when`.'


def slots_of(select: str) -> set[str]:
    """Names of the parameters."""
    return {word.text[1:] for word in words_of(select) if word.kind == "slot"}


def for_psycopg(select: str) -> str:
    """The statement with %(name)s for :name, and every other % doubled."""
    return "".join(f"%({found[0][1:]})s" if found.lastgroup == "slot" else found[0].replace("%", "%%") for found in TOKEN.finditer(select))
