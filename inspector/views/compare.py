"""Two clients side by side: where the same transcript reaches their requests differently."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from inspector.core import reading
from inspector.core.verdicts import SENTENCES
from inspector.models import IndexedRow
from inspector.queries import derivation, indexing, screen
from inspector.templatetags.words import safe_text

from .desk import open_desk
from .drawing import outline
from .drawing.grid import place_words

LIMIT = 300


@require_GET
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """Versions `a` and `b` of the client (default: the newest observed, and the one that wrote the rows or the next older)."""
    desk = open_desk(request, pk)
    profiles = list(getattr(reading.CLIENTS.get(desk.session.client), "PROFILES", {}))
    if len(profiles) < 2:
        return render(request, "session/compare.html", {"session": desk.session, "back": reverse("session", args=[pk])})
    newest = profiles[0]
    written = desk.session.version if desk.session.version in profiles[1:] else profiles[1]
    versions = [request.GET.get("a") or newest, request.GET.get("b") or written]
    sides = []
    for version in versions:
        asked = replace(desk.resume_as, version=version if version in profiles[1:] else None)
        sides.append(derivation.inspection_of(revision=desk.revision, resume_as=asked))
    left, right = sides
    bodies = [side.inspection.request.body if side.inspection.request else None for side in sides]
    differences = _differences(desk, left, right)
    listed = list(islice(differences, LIMIT))
    for row, shown in zip(listed, screen.with_screen(revision=desk.revision, rows=[row.pop("row") for row in listed]), strict=True):
        row["preview"] = safe_text(shown.preview)[:120]
    context: dict[str, Any] = {
        "session": desk.session,
        "profiles": profiles,
        "a": versions[0],
        "b": versions[1],
        "rev": desk.revision.number,
        "differences": listed,
        "more": next(differences, None) is not None,
        "diff": outline.side_by_side(*map(outline.outline, bodies), safe_text, (f"Request of {versions[0]}", f"Request of {versions[1]}")),
        "sides": [_side(version, side) for version, side in zip(versions, sides, strict=True)],
        "back": reverse("session", args=[pk]),
    }
    return render(request, "session/compare.html", context)


def _side(version: str | None, side: derivation.Derivation) -> dict[str, Any]:
    state, request = side.inspection.state, side.inspection.request
    return {
        "version": version,
        "verdict": side.verdict,
        "refused": state.refused,
        "messages": len(state.messages),
        "added": len(state.added),
        "problems": len(request.problems) if request else 0,
    }


def _differences(desk: Any, left: derivation.Derivation, right: derivation.Derivation) -> Any:
    place = indexing.COLUMNS.index
    for one, other in zip(indexing.rows_of(left), indexing.rows_of(right), strict=True):
        a, b = (_fate(row[place("pointers")], row[place("reason")]) for row in (one, other))
        if a != b:
            ref = f"{one[place('part')]}:{one[place('idx')]}"
            row = IndexedRow(**dict(zip(indexing.COLUMNS, one, strict=True)))
            yield {"ref": ref, "href": desk.row_href(ref), "type": one[place("type")], "row": row, "a": a, "b": b}


def _fate(pointers: str, reason: str) -> str:
    return ", ".join(place_words(pointer) for pointer in pointers.split("\n")[:3]) if pointers else f"left out: {SENTENCES.get(reason, reason)}"  # type: ignore[call-overload]
