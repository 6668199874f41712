"""Stores of frameworks: their threads, page by page, and what to bring in of them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from inspector.capture.store import candidates
from inspector.capture.tables import Thread
from inspector.core.errors import CoreError
from inspector.models import Session
from inspector.models.roles import HANDLE
from inspector.queries import stores as found
from inspector.services import import_sessions as service
from inspector.services.permit import permit
from inspector.templatetags.words import safe_text, titled

from .imports import LINKED, WORDS, said

PAGE = 100
"""Threads of one page, and of one import from it."""


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """The configured stores."""
    permit(request.user, HANDLE)
    return render(request, "stores/page.html", {"names": found.names()})


@require_http_methods(["GET", "POST"])
def store(request: HttpRequest, name: str) -> HttpResponse:
    """GET: threads behind `after`, with `q` those whose id begins with it. POST: bring `thread`s in; those that are here get what is new."""
    permit(request.user, HANDLE)
    if request.method == "POST":
        return _bring(request, name)
    search, after = request.GET.get("q", "").strip(), request.GET.get("after", "")
    context: dict[str, Any] = {"name": name, "q": search, "first": not after}
    try:
        with found.opened(name) as opened:
            threads = opened.threads(search, after, PAGE + 1)
    except (CoreError, OSError) as error:
        context |= {"wrong": safe_text(str(error)), "threads": []}
        return render(request, "stores/store.html", context, status=200 if name in found.names() else 404)
    here = found.brought(name, (thread.id for thread in threads))
    context["threads"] = [_listed(thread, here.get(thread.id)) for thread in threads[:PAGE]]
    if len(threads) > PAGE:
        context["more"] = "?" + urlencode({"q": search, "after": threads[PAGE - 1].id})
    return render(request, "stores/store.html", context)


def _listed(thread: Thread, here: tuple[Session, int] | None) -> dict[str, Any]:
    listed: dict[str, Any] = {"id": thread.id, "shown": safe_text(thread.id), "title": safe_text(thread.title or ""), "rows": thread.rows}
    listed["at"] = thread.at
    if here is not None:
        session, rows = here
        listed |= {"session": session, "said": titled(session)[:80], "more": max(thread.rows - rows, 0)}
    return listed


def _bring(request: HttpRequest, name: str) -> HttpResponse:
    back = redirect(reverse("store", args=[name]) + "?" + urlencode({"q": request.POST.get("q", ""), "after": request.POST.get("after", "")}))
    threads = request.POST.getlist("thread")[:PAGE]
    if not threads:
        messages.warning(request, "Choose at least one thread.")
        return back
    try:
        with found.opened(name) as opened:
            chosen = candidates(opened, found.place_of(name), threads, service.limits())
            outcomes = service.import_sessions(candidates=chosen, actor=request.user)
    except (CoreError, OSError) as error:
        messages.error(request, safe_text(f"Nothing was imported. {error}"))
        return back
    messages.success(request, said(outcomes))
    for outcome in outcomes[:LINKED]:
        if outcome.what == "changed":
            messages.info(request, f"{titled(outcome.session)[:80]}: {WORDS['changed']}, {_since(outcome)}.")
    return redirect(reverse("session", args=[outcomes[0].session.pk])) if len(outcomes) == 1 else back


def _since(outcome: service.Outcome) -> str:
    """How many rows came since the revision before."""
    before = outcome.revision.parent
    rows = outcome.revision.counts["rows"] - (before.counts["rows"] if before else 0)
    return f"{rows:,} row{'s' if rows != 1 else ''} more" if rows > 0 else "no row more"
