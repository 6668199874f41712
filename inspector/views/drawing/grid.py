"""The grid: one line per transcript row, four columns. Indexed rows in, HTML out.

Works on the light index (saved, or made on the spot for another way of resuming), so that a window of 200 rows needs no derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Protocol

from django.utils.safestring import SafeString

from inspector.core.dialects.messages import numbers_in
from inspector.core.verdicts import SENTENCES, Reason
from inspector.templatetags.words import ADDED, ROLES, SEVERITIES

from . import ansi
from .html import Child, el, join

CUT = 240
"""Characters of a preview that may have been cut by the index."""
FOLDED = 100
"""Characters shown of what the client itself folds."""
LINES = 5
"""Lines of a cell before "show all"."""
STYLES = {"thinking": "said thinking clip", "tool": "toolbox clip", "result": "toolbox clip", "error": "toolbox clip"}


class GridRow(Protocol):
    """What the grid needs of a row: `models.IndexedRow`, saved or not."""

    seq: int
    part: int
    idx: int
    start: int
    end: int
    kind: str
    type: str
    uuid: str
    parent_uuid: str
    at: str
    role: str
    damage: str
    blocks: str
    calls: str
    tools: str
    on_branch: bool
    pointers: str
    stage: str
    reason: str
    because: str
    screen_role: str
    folded: bool
    preview: str

    @property
    def ref(self) -> str: ...


class GridFinding(Protocol):
    """What the grid needs of a finding: of core or of the index."""

    code: str
    severity: str
    message: str
    operation: str | None


@dataclass(slots=True)
class Context:
    """What surrounds the rows of a window."""

    link: Callable[[str], str]
    """Ref -> address of the page opened at that row."""
    unfold: Callable[[str, int, int], str]
    """First ref, its `seq` and number of rows of a fold -> address of its rows."""
    mask: Callable[[str], str]
    """Text -> text with its secrets masked."""
    findings: dict[str, list[GridFinding]] = field(default_factory=dict)
    added: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Ref of the row before -> rows that a resume adds after it: `ref`, `why`, `text`, `pointers`."""
    parents: dict[str, str] = field(default_factory=dict)
    """Row id -> ref, for the rows of the window and their parents."""
    sentences: Mapping[Reason, str] = field(default_factory=lambda: SENTENCES)
    """Reason of a drop -> words."""
    is_new: Callable[[str], bool] = lambda ref: False
    """Whether a repair added the row."""
    selected: str = ""
    folding: bool = True


def windows(rows: Iterable[GridRow], context: Context) -> SafeString:
    """HTML lines of the rows in their order, folds and added rows included."""
    lines = _ordered(rows, context)
    braces = _braces(lines)
    return join(*[
        _draw_added(line, braces, context) if isinstance(line, dict)
        else _draw_fold(line[0], line[1], context) if line[0] else _draw_row(line[1][0], context, braces)
        for line in lines
    ])  # fmt: skip


Line = tuple[str | None, list[GridRow]] | dict[str, Any]
"""A row alone (None), a fold with its rows, or a row that a resume adds."""


def _ordered(rows: Iterable[GridRow], context: Context) -> list[Line]:
    """The lines in their order: those that a resume adds stand behind the last row of their message, so that a message is never split."""
    given: list[tuple[str | None, list[GridRow]]] = []
    for fold, group in groupby(rows, key=lambda row: _fold(row, context) if context.folding else None):
        members = list(group)
        given += [(fold, members)] if fold else [(None, [row]) for row in members]
    later = [float("inf")]
    for _, members in reversed(given):
        later.append(min([later[-1], *(number for row in members if (number := _number(row.pointers)) is not None)]))
    later.reverse()
    out: list[Line] = []
    held: list[dict[str, Any]] = []
    for place, (fold, members) in enumerate(given):
        out.append((fold, members))
        held += [item for row in members for item in context.added.get(row.ref, ())]
        while held and later[place + 1] > (_number((held[0].get("pointers") or [""])[0]) or 0):
            out.append(held.pop(0))
    return [*out, *held]


FOLDS = {
    "record": ("row of the client's own state", "rows of the client's own state"),
    "dead": ("row of a branch that is not continued", "rows of a branch that is not continued"),
    "compacted": ("row before the compaction", "rows before the compaction"),
    "unknown": ("row of an unknown type", "rows of unknown types"),
    "context": ("row of stored context, sent as context", "rows of stored context, sent as context"),
    "context-out": ("row of stored context, not sent", "rows of stored context, not sent"),
    "note": ("note of the client", "notes of the client"),
    "blank": ("blank line", "blank lines"),
    "frame": ("piece of brackets", "pieces of brackets"),
    "file": ("file beside the transcript", "files beside the transcript"),
}
BY_REASON = {
    Reason.OTHER_BRANCH: "dead", Reason.BEFORE_COMPACTION: "compacted", Reason.UNKNOWN_TYPE: "unknown", Reason.PROGRESS: "record",
    Reason.RECORD: "record", Reason.BLANK: "blank", Reason.FRAME: "frame", Reason.NOT_A_TRANSCRIPT: "file", Reason.SYSTEM_NOTE: "note",
}  # fmt: skip


def _fold(row: GridRow, context: Context) -> str | None:
    """Name of the fold that the row belongs to; None for a row that is always shown."""
    ref = row.ref
    if ref == context.selected or any(finding.severity != "info" for finding in context.findings.get(ref, ())):
        return None
    if row.kind == "context":
        return "context" if row.pointers else "context-out"
    return BY_REASON.get(row.reason) if row.reason else None  # type: ignore[call-overload]


def _draw_fold(fold: str, members: list[GridRow], context: Context) -> SafeString:
    one, many = FOLDS[fold]
    kinds: dict[str, int] = {}
    for row in members:
        kinds[row.type] = kinds.get(row.type, 0) + 1
    named = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in list(kinds.items())[:4]) + (", …" if len(kinds) > 4 else "")
    first, last = members[0].ref, members[-1].ref
    text = f"{len(members):,} {one if len(members) == 1 else many}: {context.mask(named)}"
    where = first if first == last else f"{first} – {last}"
    link = el("a", text, " ", el("span", where, class_="place"), href=context.unfold(first, members[0].seq, len(members)), data_unfold=True)
    return el("div", el("div", link, role="cell", aria_colspan=4), class_="fold", role="row", data_seq=members[0].seq, data_rows=len(members))


# --- one row ---


def _draw_row(row: GridRow, context: Context, numbers: dict[str, tuple[int, str]]) -> SafeString:
    ref = row.ref
    findings = context.findings.get(ref, [])
    worst = next((finding.severity for finding in findings if finding.severity in ("fatal", "error")), None)
    watch = any(finding.severity == "warning" for finding in findings)
    classes = ["row"] + (["problem"] if worst else ["watch"] if watch else []) + (["out"] if row.reason else [])
    return el(
        "div", _screen(row, context), _transcript(row, context, findings), _state(row, findings), _request(row, context, numbers),
        class_=" ".join(classes), role="row", id=f"r{ref}", data_ref=ref, data_seq=row.seq, tabindex=-1,
        aria_current="true" if ref == context.selected else None, data_problem="1" if worst or watch else None,
    )  # fmt: skip


def _screen(row: GridRow, context: Context) -> SafeString:
    if not row.screen_role:
        if row.damage:
            return el("div", el("span", "not shown", class_="faint"), el("span", context.mask(row.preview), class_="toolbox clip"), role="cell")
        return el("div", el("span", "not shown", class_="faint"), role="cell")
    who = ROLES.get(row.screen_role, row.screen_role.capitalize())
    if row.tools and row.screen_role == "tool":
        who = "Assistant · " + ", ".join(row.tools.split("\n"))
    if row.folded:
        who += " · folded by the client"
    style = STYLES.get(row.screen_role, "said clip")
    size = FOLDED if row.folded else CUT
    return el("div", el("span", who, class_="who"), _clipped(context.mask(row.preview), size, style, context.link(row.ref)), role="cell")


def _clipped(text: str, size: int, style: str, link: str) -> SafeString:
    """The text, terminal colours drawn, cut to a cell's size with a link to the whole of it."""
    lines = text.split("\n")
    if len(lines) <= LINES and len(text) < size:
        return el("span", ansi.draw(text), class_=style)
    short = "\n".join(lines[:LINES])[:size]
    return join(el("span", ansi.draw(short + "…"), class_=style), el("a", "show all", href=link, class_="more-text", data_panel="row"))


def _transcript(row: GridRow, context: Context, findings: list[GridFinding]) -> SafeString:
    blocks = ", ".join(dict.fromkeys(row.blocks.split()))
    size = f"{row.end - row.start:,} bytes, from {row.start:,}"
    name = el("a", row.ref, href=context.link(row.ref), class_="ref", data_ref_link=row.ref, title=size)
    chips: list[Child] = [el("span", "added by the repair", class_="chip added"), " "] if context.is_new(row.ref) else []
    for finding in findings:
        style = f"chip {SEVERITIES[finding.severity]}"
        chips += [el("a", finding.code, href=f"/rules/{finding.code}/", class_=style, title=context.mask(finding.message)), " "]
    meta = [el("span", row.uuid[:8], class_="mono", title=context.mask(row.uuid))] if row.uuid else []
    above = context.parents.get(row.parent_uuid)
    if above:
        meta.append(el("a", f"↑ {above}", href=context.link(above), data_ref_link=above, title="the row it hangs from"))
    elif row.parent_uuid:
        meta.append(el("span", "↑ not in the file", title=context.mask(row.parent_uuid)))
    elif row.kind == "message":
        meta.append(el("span", "root"))
    if row.at:
        meta.append(el("time", context.mask(row.at[11:23] if len(row.at) > 18 else row.at), title=context.mask(row.at), class_="num"))
    head = join(name, " ", el("b", context.mask(row.type)), f" {blocks}" if blocks else "", " ")
    return el("div", head, *chips, el("div", *meta, class_="meta"), role="cell")


def _state(row: GridRow, findings: list[GridFinding]) -> SafeString:
    lines: list[SafeString] = []
    if row.pointers:
        lines += [el("span", f"+ {_message_words(pointer)}", class_="why") for pointer in row.pointers.split("\n")[:3]]
    elif row.on_branch and row.stage == "send":
        lines.append(el("span", "held by the client, not sent", class_="why"))
    elif row.on_branch and row.stage == "clean-up":
        lines.append(el("span", "removed when the session is loaded", class_="why"))
    elif row.kind == "record":
        lines.append(el("span", f"client state: {row.type}", class_="faint why"))
    else:
        lines.append(el("span", "not loaded", class_="faint why"))
    if any(finding.code == "uncertain-operation" for finding in findings):
        lines.append(el("span", "Operation: ", el("b", "nobody knows if it happened"), class_="why"))
    return el("div", *[el("div", line) for line in lines], role="cell")


def _message_words(pointer: str) -> str:
    """`/messages/1/content/2` -> `message 1, part 3`; other pointers as they are."""
    message, block = numbers_in(pointer)
    return pointer if message is None else f"message {message}" + ("" if block is None else f", part {block + 1}")


def place_words(pointer: str) -> str:
    """`/messages/1/content/2` -> `messages[1].content[2]`."""
    out = ""
    for key in pointer.split("/")[1:]:
        key = key.replace("~1", "/").replace("~0", "~")
        out += f"[{key}]" if key.isdecimal() else f".{key}" if out else key
    return out


def _request(row: GridRow, context: Context, numbers: dict[str, tuple[int, str]]) -> SafeString:
    if row.pointers:
        pointers = row.pointers.split("\n")
        shown = [
            el("div", el("a", place_words(pointer), href=context.link(row.ref), class_="place", data_panel="request"), f" {_block_word(row, number)}")
            for number, pointer in enumerate(pointers[:4])
        ]
        if len(pointers) > 4:
            shown.append(el("div", f"and {len(pointers) - 4} more places", class_="faint"))
        return el("div", *shown, role="cell", class_=_brace(numbers, row.ref))
    if not row.reason:
        return el("div", el("span", "no request", class_="faint"), role="cell")
    sentence = context.sentences.get(row.reason, row.reason)  # type: ignore[call-overload]
    cause: Any = ""
    if row.because and row.because != row.ref:
        words = f"added row {row.because}" if row.because.startswith("+") else f"row {row.because}"
        cause = join("; caused by ", el("a", words, href=context.link(row.because), data_ref_link=row.because))
    return el("div", el("span", el("b", "left out: "), sentence, cause, class_="why left-out", title=f"at stage: {row.stage}"), role="cell")


def _block_word(row: GridRow, number: int) -> str:
    blocks = row.blocks.split()
    if row.kind == "context":
        return "stored context"
    word = blocks[number] if number < len(blocks) else "text"
    return f"{word} {row.tools.split(chr(10))[0]}" if word == "call" and row.tools else f"{row.role} · {word}" if row.role else word


def _draw_added(item: dict[str, Any], numbers: dict[str, tuple[int, str]], context: Context) -> SafeString:
    ref, prompt = item["ref"], item["why"] == "prompt"
    why = ADDED.get(item["why"], item["why"])
    pointers = (item.get("pointers") or [])[:3]
    text = context.mask(item.get("text") or "")
    name = el("a", ref, href=f"#r{ref}", class_="ref", data_ref_link=ref)
    said = join(el("span", "You, next", class_="who"), el("span", text, class_="said")) if prompt else el("span", "not shown", class_="faint")
    held = [el("div", f"+ {_message_words(pointer)}", class_="why") for pointer in pointers] or [el("div", "held", class_="why")]
    places = [el("div", el("span", place_words(pointer), class_="place")) for pointer in pointers]
    quoted = "" if prompt or not text else f"“{text[:200]}{'…' if len(text) > 200 else ''}”"
    return el(
        "div",
        el("div", said, role="cell"),
        el("div", el("span", "added on resume", class_="chip added"), " ", name, f" {why}", el("div", "not in the file", class_="meta"), role="cell"),
        el("div", *held, role="cell"),
        el("div", *places, el("span", quoted, class_="why"), role="cell", class_=_brace(numbers, ref)),
        class_="row invented", role="row", id=f"r{ref}", data_ref=ref, tabindex=-1,
        aria_current="true" if ref == context.selected else None,
    )  # fmt: skip


# --- brackets ---


def _brace(numbers: dict[str, tuple[int, str]], ref: str) -> str | None:
    brace = numbers.get(ref, (0, "alone"))[1]
    return None if brace == "alone" else f"brace {brace}".strip()


def _braces(lines: list[Line]) -> dict[str, tuple[int, str]]:
    """Ref -> (message number, first | "" | last | alone) for the rows, added ones included, that share a message of the request."""
    sequence: list[tuple[str, int]] = []
    for line in lines:
        if isinstance(line, dict):
            ref, pointers = line["ref"], (line.get("pointers") or [""])[0]
        elif line[0] is None:
            ref, pointers = line[1][0].ref, line[1][0].pointers
        else:
            continue
        if (number := _number(pointers)) is not None:
            sequence.append((ref, number))
    out: dict[str, tuple[int, str]] = {}
    for number, group in groupby(sequence, key=lambda pair: pair[1]):
        refs = [ref for ref, _ in group]
        for place, ref in enumerate(refs):
            out[ref] = (number, "alone" if len(refs) == 1 else "first" if place == 0 else "last" if place == len(refs) - 1 else "")
    return out


def _number(pointers: str) -> int | None:
    """Number of the message that the first of the pointers (one a line) names."""
    return numbers_in(pointers.split("\n", 1)[0])[0]
