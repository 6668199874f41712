"""What holds for every answer, whichever view made it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.http import urlencode

Answer = Callable[[HttpRequest], HttpResponse]


def private_answers(get_response: Answer) -> Answer:
    """Keep pages out of shared caches, and have a browser ask before it shows one again: they hold other people's transcripts."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "private, no-cache")
        return response

    return middleware


def sign_in_for_parts(get_response: Answer) -> Answer:
    """When a sign-in has ended and htmx asks for a part, send the whole browser to the sign-in page instead of putting that page into the part."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        sign_in = resolve_url(settings.LOGIN_URL)
        if request.headers.get("HX-Request") != "true" or response.status_code != 302 or response["Location"].split("?")[0] != sign_in:
            return response
        page = request.headers.get("HX-Current-URL", "")
        here = page.removeprefix(f"{request.scheme}://{request.get_host()}") if page else reverse("login")
        return HttpResponse(status=204, headers={"HX-Redirect": f"{sign_in}?{urlencode({'next': here})}"})

    return middleware
