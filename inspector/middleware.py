"""What holds for every answer, whichever view made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils.http import urlencode

from inspector.models.roles import VIEW
from inspector.services.permit import permit

Answer = Callable[[HttpRequest], HttpResponse]


def private_answers(get_response: Answer) -> Answer:
    """Keep pages out of shared caches, and have a browser ask before it shows one again: they hold other people's transcripts."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "private, no-cache")
        return response

    return middleware


def arrivals(get_response: Answer) -> Answer:
    """Two ways to arrive at the sign-in page that nobody means.

    A link to a page of ours in a chat or a ticket: the browser keeps a SameSite=Strict cookie back on a step that another site began, so a person
    who is signed in looks like nobody. A page of ours that steps on to the same address is our own step, and carries the cookie.

    A part that htmx asks for after the sign-in has ended: the whole browser goes to the sign-in page, instead of that page into the part.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        sign_in = resolve_url(settings.LOGIN_URL)
        if response.status_code != 302 or response["Location"].split("?")[0] != sign_in:
            return response
        if request.headers.get("HX-Request") == "true":
            here = request.headers.get("HX-Current-URL", "").removeprefix(f"{request.scheme}://{request.get_host()}")
            return HttpResponse(status=204, headers={"HX-Redirect": f"{sign_in}?{urlencode({'next': here})}"})
        fetch = (request.method, request.headers.get("Sec-Fetch-Mode"), request.headers.get("Sec-Fetch-Site"))
        if fetch in (("GET", "navigate", "cross-site"), ("GET", "navigate", "same-site")):
            return render(request, "launch/step.html", {"to": request.get_full_path(), "keep_hash": True})
        return response

    return middleware


class MembersOnly(LoginRequiredMiddleware):
    """Every view needs a person who is signed in and may see sessions, unless the view says itself that it needs no sign-in.

    One place for both questions: a page that is added later can't forget the second.
    """

    def process_view(self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any) -> HttpResponseBase | None:
        refused: HttpResponseBase | None = super().process_view(request, view_func, view_args, view_kwargs)
        if refused is None and getattr(view_func, "login_required", True):
            permit(request.user, VIEW)
        return refused
