"""What every address of the API shares: whose token it is, what was sent, and every refusal as JSON.

A token in the `Authorization` header is the only way in. The cookie of a browser that is signed in is never looked at, so that no other site can
make it send anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation, ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt

from inspector import answers
from inspector.core.errors import CoreError
from inspector.core.masking import mask_json
from inspector.models.roles import HANDLE, VIEW, may
from inspector.models.text import clean
from inspector.queries import tokens
from inspector.services.moves import Refused
from inspector.services.permit import permit

FORM = 21_000_000
"""Bytes of a form with a file."""
DEEPEST = 100
"""Levels of a JSON body."""
GREATEST = 2**63 - 1
NAMES = {str: "a text", int: "a whole number from 0", bool: "true or false", list: "a list of whole numbers", object: "any JSON"}
"""Type of a field -> what the error calls it."""
Fields = Mapping[str, type]


class Problem(Exception):
    """An answer that is an error: `status`, and what stands under `error`."""

    def __init__(self, status: int, code: str, says: str, **details: Any) -> None:
        super().__init__(says)
        self.status, self.error = status, {"code": code, "says": says} | details


@dataclass(frozen=True, slots=True)
class Call:
    """One request, and the person whose token it carries."""

    request: HttpRequest
    user: AbstractBaseUser

    def asked(self, needed: Fields, optional: Fields | None = None) -> dict[str, Any]:
        """The fields of the body, checked: all of `needed`, those of `optional` that were sent and are not null.

        Raises ValidationError that names the field.
        """
        return _checked(self._json(), needed, optional or {})

    def form(self, optional: Fields, file: str) -> dict[str, Any]:
        """The same for a body that may be a form with a file (multipart/form-data)."""
        if self.request.content_type != "multipart/form-data":
            return self.asked({}, optional)
        if int(self.request.META.get("CONTENT_LENGTH") or 0) > FORM:
            raise Problem(413, "too-large", f"A form may have {FORM:,} bytes.")
        try:
            sent: dict[str, Any] = {**self.request.POST.dict(), **self.request.FILES.dict()}
        except MultiPartParserError as error:
            raise ValidationError(f"The form can't be read: {error}") from None
        return _checked(sent, {}, {**optional, file: UploadedFile})

    def _json(self) -> dict[str, Any]:
        try:
            value = json.loads(self.request.body or b"{}", parse_constant=_no_constant, object_pairs_hook=_no_doubles, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            raise ValidationError(f"The body is no JSON that can be read: {error}.") from None
        if not isinstance(value, dict):
            raise ValidationError("The body must be one JSON object.")
        if _depth(value) > DEEPEST:
            raise ValidationError(f"The body is nested deeper than {DEEPEST} levels.")
        return value


Handler = Callable[..., HttpResponseBase | dict[str, Any]]


def endpoint(**methods: Handler) -> Callable[..., HttpResponseBase]:
    """The view of one address: the handler of each method gets the Call and what the address names; it returns an answer, or a dict for 200."""

    def view(request: HttpRequest, **named: Any) -> HttpResponseBase:
        try:
            user = _user(request)
            permit(user, VIEW)
            handler = methods.get(request.method or "")
            if handler is None:
                raise Problem(405, "no-such-method", f"Use {' or '.join(methods)} here.")
            answer = handler(Call(request, user), **named)
            if not isinstance(answer, dict):
                return answer
            # Who may take sessions out of here may have the arguments that are to be sent; to others they are shown as the pages show them.
            return JsonResponse(answer if may(user, HANDLE) else mask_json(answer), status=201 if isinstance(answer, Created) else 200)
        except Problem as problem:
            return _refuse(problem, list(methods))
        except PermissionDenied as error:
            return _refuse(Problem(403, "forbidden", str(error)))
        except Http404 as error:
            return _refuse(Problem(404, "not-found", str(error)))
        except Refused as refused:
            return _refuse(Problem(409, **answers.refusal(refused)))
        except RequestDataTooBig:
            limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            return _refuse(Problem(413, "too-large", f"A body may have {limit:,} bytes. Register a reference to larger arguments instead."))
        except SuspiciousOperation as error:
            return _refuse(Problem(400, "invalid", str(error)))
        except ValidationError as error:
            fields = list(error.message_dict) if hasattr(error, "error_dict") else []
            return _refuse(Problem(400, "invalid", " ".join(error.messages), **({"field": fields[0]} if fields else {})))
        except (CoreError, OSError) as error:
            return _refuse(Problem(500, "unreadable", f"The stored bytes can't be read: {error}"))

    view.methods = tuple(methods)  # type: ignore[attr-defined]  # what the documentation is checked against
    return csrf_exempt(login_not_required(view))


class Created(dict[str, Any]):
    """An answer with status 201: something new is kept."""


def _user(request: HttpRequest) -> AbstractBaseUser:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Problem(401, "no-token", "Send “Authorization: Bearer TOKEN”; `manage.py add_token` gives one.")
    user = tokens.user_of(token.strip())
    if user is None:
        raise Problem(401, "bad-token", "This token is unknown, revoked or expired. `manage.py add_token` gives a new one.")
    return user


def _refuse(problem: Problem, methods: list[str] | None = None) -> JsonResponse:
    answer = JsonResponse({"error": problem.error}, status=problem.status)
    if problem.status == 401:
        error = ', error="invalid_token"' if problem.error["code"] == "bad-token" else ""
        answer["WWW-Authenticate"] = f'Bearer realm="inspector"{error}'
    if problem.status == 405:
        answer["Allow"] = ", ".join(methods or [])
    return answer


def _checked(sent: dict[str, Any], needed: Fields, optional: Fields) -> dict[str, Any]:
    known = {**needed, **optional}
    for name in sent:
        if name not in known:
            raise ValidationError({clean(name, 80): f"There is no field {clean(name, 80)!r} here. Fields: {', '.join(known) or 'none'}."})
    found = {name: value for name, value in sent.items() if value is not None or (name in needed and known[name] is object)}
    for name, kind in known.items():
        if name not in found:
            if name in needed:
                raise ValidationError({name: f"The field {name!r} is missing: {NAMES[kind]}."})
        elif not _fits(found[name], kind):
            raise ValidationError({name: f"The field {name!r} must be {NAMES.get(kind, 'a file')}."})
        elif kind is str:
            found[name] = clean(found[name])
    return found


def _fits(value: Any, kind: type) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= GREATEST
    if kind is list:
        return isinstance(value, list) and all(_fits(each, int) for each in value)
    return isinstance(value, kind)


def _depth(value: Any) -> int:
    """Levels of a JSON value, without walking it recursively."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, (dict, list))]
        level, depth = [item for items in inner for item in items], depth + 1
    return depth


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too great")
    return value


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found
