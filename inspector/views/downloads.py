"""What a session's page hands out as files: the derived request, the same as a shell command, one row's bytes."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from inspector.core.dialects import anthropic_messages
from inspector.core.masking import mask_bytes
from inspector.queries import rows as stored
from inspector.queries import screen
from inspector.services.reveal_secret import reveal_secret
from inspector.templatetags.words import safe_text

from .desk import Desk, open_desk


@require_GET
def request_json(request: HttpRequest, pk: int) -> HttpResponse:
    """The derived request as JSON, secrets masked. 404 where there is none."""
    answer = HttpResponse(_body(open_desk(request, pk), indent=2), content_type="application/json")
    answer["Content-Disposition"] = 'attachment; filename="request.json"'
    return answer


@require_GET
def request_curl(request: HttpRequest, pk: int) -> HttpResponse:
    """A shell command that sends the derived request; the key stays a variable of the shell. Raises Http404 for what no shell can send."""
    desk = open_desk(request, pk)
    body = _body(desk, indent=None)
    if desk.derived.inspection.state.dialect != anthropic_messages.NAME:
        raise Http404("This request is made on the device: there is no address to send it to.")
    lines = [
        "curl https://api.anthropic.com/v1/messages \\",
        '  --header "x-api-key: $ANTHROPIC_API_KEY" \\',
        '  --header "anthropic-version: 2023-06-01" \\',
        '  --header "content-type: application/json" \\',
        "  --data @- <<'REQUEST_BODY'",
        body,
        "REQUEST_BODY",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


def _body(desk: Desk, indent: int | None) -> str:
    derived = desk.derived.inspection.request
    if derived is None:
        raise Http404("There is no request: this client would not resume the session.")
    return safe_text(json.dumps(derived.body, indent=indent))


@require_GET
def row_bytes(request: HttpRequest, pk: int) -> HttpResponse:
    """The exact bytes of row `at`. Where they hold a secret: only with the permission, and with an audit entry."""
    desk = open_desk(request, pk)
    row = desk.row(desk.at)
    if row is None:
        raise Http404("no such row")
    data = stored.slices(revision=desk.revision, rows=[row])[0]
    body = screen.bodies(revision=desk.revision, rows=[row])[0]
    if mask_bytes(data) != data or mask_bytes(body) != body:
        reveal_secret(revision=desk.revision, ref=row.ref, actor=request.user)
    answer = HttpResponse(data, content_type="application/octet-stream")
    answer["Content-Disposition"] = f'attachment; filename="row-{row.part}-{row.idx}.jsonl"'
    return answer
