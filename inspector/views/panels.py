"""Panels beside the grid: the selected row, findings, runtime state, API request, operations, branches, history."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from inspector.core import reading
from inspector.core.dialects import anthropic_messages
from inspector.core.dialects.messages import blocks_of, list_at, messages_of, numbers_in, rest_of
from inspector.core.jsonspans import NotJson, loads
from inspector.core.masking import mask_bytes
from inspector.core.state import Fact, Restored
from inspector.core.verdicts import SENTENCES
from inspector.models import IndexedRow, RevisionPart, Session
from inspector.queries import screen
from inspector.templatetags.words import safe_text, titled

from . import gate, ledger_panels
from .desk import Desk, Seen, client_title, open_desk
from .drawing import ansi, jsontree, markdown, outline
from .drawing.grid import place_words
from .drawing.html import Child, el

TABS = {
    "row": "Row",
    "findings": "Findings",
    "state": "Runtime state",
    "request": "API request",
    "operations": "Operations",
    "resume": "May this resume?",
    "branches": "Branches",
    "history": "History",
}
SHORT = {"state": "State", "request": "Request", "resume": "Resume", "branches": "Branch"}
"""What a tab shows where its name is too long for one line of tabs."""
LIMIT = 200
IMAGES = 4
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
IMAGE_LIMIT = 7_000_000
"""Characters of base64 of one image."""
AROUND = 20
"""Messages of the request that one panel draws."""
BRANCH_FACTS = ("candidate-leaves", "reachable-rows", "compaction")


@require_GET
def panel(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """One panel with its tabs, for the page that is open. 404 for an unknown name."""
    if name not in TABS:
        raise Http404("no such panel")
    desk = open_desk(request, pk)
    desk.panel = name
    return render(request, "session/_panel.html", context(desk, desk.at, request.user, request.GET.get("message", "")))


def context(desk: Desk, at: str, user: AbstractBaseUser | AnonymousUser, message: str = "") -> dict[str, Any]:
    """Template context of the panel that the desk shows."""
    name = desk.panel if desk.panel in TABS else "findings"
    tabs = []
    for key, words in TABS.items():
        count = {"findings": len(desk.problems), "operations": desk.counts.get("open_operations", 0)}.get(key, 0)
        tabs.append({
            "words": f"{SHORT.get(key, words)} {count}" if count else SHORT.get(key, words),
            "name": f"{words} {count}" if count else words,
            "href": desk.href(panel=key, at=at) + "#panel",
            "part": reverse("session-panel", args=[desk.session.pk, key]) + "?" + desk.query(panel=None, at=at),
            "current": key == name,
        })  # fmt: skip
    made = {
        "row": _row,
        "findings": _findings,
        "state": _state,
        "request": _request,
        "operations": ledger_panels.operations,
        "branches": _branches,
        "history": _history,
    }.get(name)
    inside = _resume(desk, user) if made is None else made(desk, at, message)
    return {"tabs": tabs, "panel": name, "panel_template": f"session/_{name}.html"} | inside


def links(desk: Desk, refs: Iterable[str], most: int = 6) -> list[dict[str, str]]:
    """Refs as links to their rows."""
    return [{"ref": ref, "href": desk.row_href(ref)} for ref in list(refs)[:most]]


def part_name(desk: Desk) -> str:
    """Name of the part that is shown, for the way back."""
    if not desk.part:
        return titled(desk.session)[:60]
    return str(desk.revision.parts.filter(number=desk.part).values_list("name", flat=True).first() or "")


# --- panels ---


def _row(desk: Desk, at: str, message: str) -> dict[str, Any]:
    row = desk.row(at)
    if row is None:
        return {"row": None}
    data = screen.bodies(revision=desk.revision, rows=[row])[0]
    try:
        value = None if row.damage or row.kind in ("blank", "blob", "frame") else loads(data)
    except NotJson:
        value = None
    shown = getattr(reading.CLIENTS.get(desk.session.client), "shown_record", None)
    if shown and isinstance(value, dict):  # a row of a store's table: what its blob says
        value = shown(value)
    parent = desk.parents_of([row]).get(row.parent_uuid)
    text = data[:60_000].decode("utf-8", "replace")
    return {
        "row": row,
        "part_name": desk.revision.parts.get(number=row.part).name,
        "parent": {"ref": parent, "href": desk.row_href(parent)} if parent else None,
        "reason": SENTENCES.get(row.reason, row.reason),  # type: ignore[call-overload]
        "because": {"ref": row.because, "href": desk.row_href(row.because)} if row.because else None,
        "findings": desk.findings_at.get(row.ref, []),
        "said": _said(row),
        "images": list(images(value))[:IMAGES],
        "agents": [desk.agents[call] for call in row.calls.split("\n") if call in desk.agents],
        "value": jsontree.draw(value, safe_text) if value is not None else "",
        "raw": el("pre", safe_text(text), class_="json", tabindex=0),
        "secret": mask_bytes(data) != data,
        "bytes_href": reverse("row-bytes", args=[desk.session.pk]) + "?" + desk.query(at=row.ref, panel=None),
        "fork_href": reverse("fork", args=[desk.session.pk]) + f"?rev={desk.revision.number}&at={row.ref}"
        if row.on_branch and row.kind == "message" and desk.forks
        else "",
    }


def _said(row: IndexedRow) -> Child:
    """What the screen showed, whole: an answer's markdown rendered and cleaned, terminal text with its colours."""
    if row.screen_role == "assistant":
        return el("div", markdown.draw(safe_text(row.preview)), class_="prose")
    return el("div", ansi.draw(safe_text(row.preview)), class_="said mono") if row.screen_role else ""


def images(value: Any) -> Iterator[str]:
    """Images that a record itself holds, as `data:` addresses. Nothing is ever loaded from elsewhere."""
    todo = [value]
    while todo:
        item = todo.pop(0)
        if isinstance(item, list):
            todo += item
        elif isinstance(item, dict):
            source = item.get("source") if item.get("type") == "image" else None
            if isinstance(source, dict) and source.get("media_type") in IMAGE_TYPES and isinstance(source.get("data"), str):
                if len(source["data"]) <= IMAGE_LIMIT and re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", source["data"]):
                    yield f"data:{source['media_type']};base64,{source['data']}"
            else:
                todo += [item[key] for key in ("message", "content") if key in item]


def _findings(desk: Desk, at: str, message: str) -> dict[str, Any]:
    infos = [finding for finding in desk.findings if finding.severity == "info"]
    return {
        "findings": [_finding(desk, finding) for finding in desk.problems[:LIMIT]],
        "infos": [_finding(desk, finding) for finding in infos[:LIMIT]],
        "info_count": len(infos),
        "findings_left": max(0, len(desk.problems) - LIMIT) + max(0, len(infos) - LIMIT),
        "repair_href": reverse("repair", args=[desk.session.pk]) + (f"?rev={desk.revision.number}" if desk.is_old else ""),
        "old_number": desk.revision.number if desk.is_old else 0,
    }


def _finding(desk: Desk, finding: Seen) -> dict[str, Any]:
    return {
        "severity": finding.severity, "code": finding.code, "message": safe_text(finding.message), "repairable": finding.repairable,
        "links": links(desk, finding.rows), "more": max(0, len(finding.rows) - 6),
    }  # fmt: skip


def _state(desk: Desk, at: str, message: str) -> dict[str, Any]:
    state = desk.derived.inspection.state
    return {
        "client_title": client_title(state.client),
        "profile": state.version,
        "message_count": len(state.messages),
        "facts": [_fact(desk, fact) for fact in state.facts],
    }


def _fact(desk: Desk, fact: Fact) -> dict[str, Any]:
    value = fact.value
    lines = "" if value is None else _words(value)
    return {
        "words": fact.name.replace("-", " ").capitalize(),
        "known": fact.known,
        "links": links(desk, fact.rows),
        "lines": safe_text(lines[:6000]),
        "long": len(lines) > 90 or "\n" in lines,
        "note": safe_text(fact.note),
        "restored": _restored(fact.restored),
    }


def _words(value: Any, indent: str = "") -> str:
    """A fact's value in lines: `name: value`, items of lists behind a dash, flat items on one line."""
    if isinstance(value, dict) and value:
        return "\n".join(f"{indent}{name}:{_under(item, indent)}" for name, item in value.items())
    if isinstance(value, (list, tuple)) and value:
        return "\n".join(f"{indent}- {_flat(item)}" if _flat(item) else f"{indent}-{_under(item, indent)}" for item in value)
    return value if isinstance(value, str) else jsontree.dump(value)


def _flat(item: Any) -> str:
    """`name value, name value` of a dict without anything nested in it; blank for other values."""
    if not isinstance(item, dict) or any(isinstance(each, (dict, list, tuple)) for each in item.values()):
        return ""
    return ", ".join(f"{name} {_words(each)}" for name, each in item.items())


def _under(item: Any, indent: str) -> str:
    nested = isinstance(item, (dict, list, tuple)) and bool(item)
    return "\n" + _words(item, indent + "  ") if nested else " " + _words(item)


def _restored(restored: Restored) -> str:
    ways = {"a normal resume": restored.normal, "a fork": restored.fork, "a file path": restored.path, "a switch": restored.switch}
    if all(ways.values()):
        return "every way of resuming"
    return ", ".join(way for way, yes in ways.items() if yes) or "no way of resuming"


def _request(desk: Desk, at: str, message: str) -> dict[str, Any]:
    looked = desk.derived.inspection
    request = looked.request
    out: dict[str, Any] = {"recorded": None}
    if looked.recorded is not None:
        recorded = looked.recorded
        out["recorded"] = {
            "row": recorded.row,
            "href": desk.row_href(recorded.row),
            "verified": recorded.verified,
            "of": recorded.of,
            "at": recorded.at,
            "note": recorded.note,
        }
        out["recorded_diff"] = outline.side_by_side(
            outline.outline(recorded.body),
            outline.outline(request.body if request else None),
            safe_text,
            ("Sent then, as recorded", "Would be sent next"),
        )
    if request is None:
        return out | {"refused": looked.state.refused or "This client would send nothing."}
    messages = messages_of(request.body)
    rows_at: dict[int, list[str]] = defaultdict(list)
    chosen = None
    for place in request.places:
        number = _message_number(place.pointer)
        if number is None:
            continue
        if place.row not in rows_at[number]:
            rows_at[number].append(place.row)
        if chosen is None and place.row == at:
            chosen = number
    if message.isdecimal():
        chosen = int(message)
    elif chosen is None and request.problems:
        chosen = _message_number(request.problems[0].pointer)
    first = max(0, min((chosen if chosen is not None else len(messages)) - AROUND // 2, len(messages) - AROUND))
    shown = []
    for number, item in enumerate(messages[first : first + AROUND], first):
        content = blocks_of(item)
        here = [problem for problem in request.problems if _message_number(problem.pointer) == number]
        shown.append({
            "place": place_words(f"{list_at(request.body)}/{number}"), "role": item.get("role") or item.get("type"),
            "words": "text" if isinstance(content, str) else f"parts: {len(content or [])}",
            "links": links(desk, rows_at.get(number, []), 4), "open": number == chosen or bool(here), "json": jsontree.draw(item, safe_text),
            "problems": [{"rule": problem.rule, "place": place_words(problem.pointer), "message": safe_text(problem.message)} for problem in here],
        })  # fmt: skip
    head = rest_of(request.body)
    pk = desk.session.pk
    return out | {
        "dialect": request.dialect,
        "model": request.model,
        "total": len(messages),
        "problems": [
            {
                "rule": p.rule,
                "place": place_words(p.pointer),
                "message": safe_text(p.message),
                "ref": p.rows[0] if p.rows else "",
                "href": desk.row_href(p.rows[0]) if p.rows else "#panel",
            }
            for p in request.problems[:LIMIT]
        ],
        "added_at_send": request.added_at_send,
        "injected": looked.state.system is not None,
        "head": jsontree.draw(head, safe_text) if head else "",
        "shown": shown,
        "before": desk.href(panel="request", message=max(0, first - AROUND // 2), at=at) + "#panel" if first else "",
        "after": desk.href(panel="request", message=first + AROUND + AROUND // 2, at=at) + "#panel" if first + AROUND < len(messages) else "",
        "json_href": reverse("request-json", args=[pk]) + "?" + desk.query(panel=None),
        "curl_href": reverse("request-curl", args=[pk]) + "?" + desk.query(panel=None) if request.dialect == anthropic_messages.NAME else "",
    }


def _message_number(pointer: str) -> int | None:
    return numbers_in(pointer)[0]


def _resume(desk: Desk, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    return {"agent": True} if desk.is_agent else {"agent": False} | gate.conditions(desk.session, user)


def _branches(desk: Desk, at: str, message: str) -> dict[str, Any]:
    facts = [fact for fact in desk.derived.inspection.state.facts if fact.name in BRANCH_FACTS]
    sessions = {child.name: child.pk for child in desk.session.children.filter(relation=Session.Relation.SUB_AGENT)}
    parts = []
    for part in desk.revision.parts.filter(number__gt=0).order_by("number")[:LIMIT]:
        own = sessions.get(part.name.rpartition("/")[2])
        href = reverse("session", args=[own]) if own else desk.href(part=part.number, show=None, at=None, panel=None)
        parts.append({"name": part.name, "rows": part.rows, "href": href, "agent": own is not None})
    return {
        "leaf": {"ref": desk.leaf, "href": desk.row_href(desk.leaf)} if desk.leaf else None,
        "on_branch": desk.counts.get("on_branch", 0),
        "rows": desk.counts.get("rows", 0),
        "facts": [_fact(desk, fact) for fact in facts],
        "parts": parts,
    }


def _history(desk: Desk, at: str, message: str) -> dict[str, Any]:
    revisions = list(desk.session.revisions.select_related("author", "parent").order_by("-number"))
    transcripts = dict(RevisionPart.objects.filter(revision__in=revisions, number=0).values_list("revision", "artifact"))
    for revision in revisions:
        revision.sha256 = transcripts.get(revision.pk, "")
        revision.href = reverse("session", args=[desk.session.pk]) + f"?rev={revision.number}"
    return {"revisions": revisions, "done": ledger_panels.done(desk.session)}
