"""Fork at any row: what the fork would send is derived before it is offered."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from inspector.core import fork as core
from inspector.core.errors import CoreError
from inspector.services.fork_session import fork_session
from inspector.templatetags.words import safe_text

from .desk import open_desk
from .drawing import outline


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the fork as it would be. POST: make it, as a session of its own."""
    desk = open_desk(request, pk)
    asked = request.POST if request.method == "POST" else request.GET
    row = asked.get("at", "").strip()[:24]
    new_id = asked.get("new_id") or str(uuid.uuid4())
    at = asked.get("time") or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    context: dict[str, Any] = {"session": desk.session, "at": row, "rev": desk.revision.number}
    if request.method == "POST":
        try:
            made = fork_session(revision=desk.revision, actor=request.user, new_id=new_id, at=at, row=row or None)
        except CoreError as error:
            messages.error(request, safe_text(f"No fork was made. {error}"))
            return redirect(reverse("fork", args=[pk]) + f"?rev={desk.revision.number}&at={row}")
        messages.success(request, f"The fork is a session of its own: {made.native_id}. The original is unchanged.")
        return redirect(reverse("session", args=[made.pk]))
    try:
        fork = core.fork(desk.derived.inspection, new_id=new_id, at=at, row=row or None)
    except CoreError as error:
        return render(request, "fork/page.html", context | {"error": str(error)}, status=409)
    derived = fork.inspection.request
    original = desk.derived.inspection.request
    facts = [("New id", fork.session), ("Goes on from", f"row {fork.at}"), ("Rows taken over", f"{len(fork.lineage):,}")]
    facts += [("Left behind", f"{count:,}: {why}") for why, count in fork.left_behind.items()]
    facts += [("Files copied", ", ".join(fork.copied[:12]) + (", …" if len(fork.copied) > 12 else ""))] if fork.copied else []
    context |= {
        "facts": facts,
        "notes": fork.notes,
        "problems": derived.problems if derived else [],
        "open": len(fork.operations_open()),
        "diff": outline.side_by_side(
            outline.outline(original.body if original else None),
            outline.outline(derived.body if derived else None),
            safe_text,
            ("This session would send", "The fork would send"),
        ),
        "fields": {"rev": desk.revision.number, "at": row, "new_id": new_id, "time": at}.items(),
    }
    return render(request, "fork/page.html", context)
