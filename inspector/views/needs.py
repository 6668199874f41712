"""Pages that only some roles may open at all: the same question that the service behind the page asks again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from inspector.services.permit import permit

View = Callable[..., HttpResponseBase]


def needs(permission: str) -> Callable[[View], View]:
    """Decorate a view: a person without the permission gets the page that says which role to ask for."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            permit(request.user, permission)
            return view(request, *args, **kwargs)

        return guarded

    return decorate
