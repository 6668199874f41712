"""Paste an error: a provider's or client's error text -> the rule that it names -> the row that causes it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from inspector.core import rulebook
from inspector.core.dialects import error_texts
from inspector.core.errors import CoreError
from inspector.models import IndexedRow, Session
from inspector.queries import derivation
from inspector.templatetags.words import titled

from .rules import provider

HOW = {
    "id": "Found by the call id that the text names.",
    "problem": "The request derived here breaks the same rule at this place.",
    "index": "Found by the index in the text, counted in the request derived here.",
    "row": "The call is in the session, but not in the request derived here: the refused request was another one.",
    "": "The text names no place that could be found.",
}
RECENT = 50


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """The form, and what the text says. With a session chosen, or a call id that a session holds, links to the rows."""
    text = request.POST.get("text", "")[: error_texts.LONGEST]
    chosen = request.POST.get("session", "")
    sessions = Session.objects.exclude(current=None).select_related("current").order_by("-last_activity", "-pk")
    matches: list[dict[str, Any]] = []
    if text.strip():
        plain = error_texts.explain(text)
        looked = (
            [session for session in sessions.filter(pk=int(chosen))]
            if chosen.isdecimal()
            else _holding(tuple(dict.fromkeys(id for match in plain for id in match.ids)))
        )
        titles = provider()
        for match in plain:
            links, repairs, how = _links(text, match.rule, looked)
            title = titles.get(match.rule) or titles.get(match.same_as) or match.says
            matches.append(
                {
                    "rule": match.rule if match.rule == match.same_as or not match.same_as else f"{match.rule} (as {match.same_as})",
                    "title": title,
                    "help": _help(match.rule, match.same_as, titles),
                    "code": match.code,
                    "where": "" if match.says else how,
                    "links": links,
                    "repairs": repairs,
                }
            )
    context = {
        "text": text,
        "sessions": sessions[:RECENT],
        "chosen": int(chosen) if chosen.isdecimal() else None,
        "asked": bool(text.strip()),
        "matches": matches,
    }
    return render(request, "errors/page.html", context)


def _holding(ids: tuple[str, ...]) -> list[Session]:
    """Sessions whose current revision has a row with one of these call ids."""
    if not ids:
        return []
    named = Q()
    for id in ids[:10]:
        named |= Q(calls__contains=id) | Q(results__contains=id)
    current = Session.objects.exclude(current=None).values("current")
    revisions = IndexedRow.objects.filter(named, revision__in=current).values_list("revision", flat=True).distinct()[:5]
    return list(Session.objects.filter(current__in=list(revisions)).select_related("current"))


def _help(rule: str, same_as: str, known: dict[str, str]) -> str:
    """Address of the help page of a rule, or of the one that it is the same as; blank where none is known."""
    code = next((code for code in (rule, same_as) if code in known or code in rulebook.PAGES), "")
    return reverse("rule", args=[code]) if code else ""


def _links(text: str, rule: str, sessions: list[Session]) -> tuple[list[dict[str, Any]], list[dict[str, str]], str]:
    """Rows that cause it, the sessions among them that have a repair to review, and how they were found."""
    links: list[dict[str, Any]] = []
    repairs: list[dict[str, str]] = []
    how = ""
    for session in sessions:
        if session.current is None:
            continue
        session.current.session = session
        try:
            derived = derivation.inspection_of(revision=session.current)
        except (CoreError, OSError):
            continue
        looked, request = derived.inspection, derived.inspection.request
        rows_at = {place.pointer: place.row for place in request.places} if request else {}
        found = error_texts.explain(text, request.body if request else None, rows_at, request.problems if request else None, looked.session)
        for match in found:
            if match.rule == rule:
                how = match.how or how
                title = titled(session)[:80]
                links += [
                    {
                        "session": title,
                        "href": f"{reverse('session', args=[session.pk])}?at={quote(ref)}#r{ref}",
                        "words": f"row {ref}",
                        "added": ref.startswith("+"),
                    }
                    for ref in match.rows[:5]
                ]
                repair = {"session": title, "href": reverse("repair", args=[session.pk])}
                if match.rows and repair not in repairs and any(finding.repairable for finding in derived.findings):
                    repairs.append(repair)
    return links, repairs, HOW[how]
