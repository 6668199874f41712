"""May this resume? The conditions with the page where each is put right, taking over, and the ticket of whoever did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from inspector import answers
from inspector.models import Lease, Operation, Session
from inspector.models.roles import HANDLE, may
from inspector.queries import audit, leases, ledger, origin, readiness
from inspector.services.claim_session import claim_session
from inspector.services.export_session import resume_command
from inspector.services.moves import Refused
from inspector.services.register_run import run_of
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease
from inspector.templatetags.words import safe_text

from .desk import get_session
from .standing import asked as what_was_asked
from .standing import href, standing

NAMES = {
    "lease": "Who holds it",
    "operations": "Operations",
    "transcript": "Transcript",
    "source": "Source file",
    "live": "Its client",
    "responding": "Its response",
    "approvals": "Approvals",
    "policy": "Policy",
    "targets": "Targets",
    "permissions": "Permissions",
}
"""Name of a condition -> its words."""
FIXES = {
    "operations": "Go to the operation",
    "approvals": "Go to the operation",
    "policy": "Go to the operation",
    "targets": "Go to the operation",
    "transcript": "Review the repair",
    "source": "Import it again",
}
"""Name of a condition -> words of the link to the page where it is put right; those without one are put right in the form below, or elsewhere."""


GROUPS = {
    "Done: not to be done again": "Nothing was done yet.",
    "Allowed: approved and not sent yet": "Nothing is approved.",
    "Forbidden without a new approval": "Nothing.",
}
"""Heading of each group of `ledger.sorted_out` -> what stands there when it is empty."""
IN_THE_FORM = ("source", "live", "responding", "permissions")
"""Conditions that the form below them may put right."""
NOTHING_SAID = readiness.Asked()


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the conditions as they are. POST: take over, if they all pass: on to the ticket; else the same page with what stands in the way."""
    session = get_session(pk)
    sent = request.POST
    name = request.user.get_username()
    asked = readiness.Asked(
        holder=f"{name} in a browser",
        source_sha256=sent.get("source_sha256", "").strip().lower()[:64],
        permission_mode=sent.get("permission_mode", "") if sent.get("permission_mode") in readiness.MODES else "",
        attested=name if sent.get("attested") else "",
    )
    if request.method == "GET":
        return render(request, "session/gate.html", {"session": session} | conditions(session, request.user, asked))
    try:
        ticket = claim_session(session=session, actor=request.user, asked=asked)
    except Refused as refused:
        context = {"session": session, "refused": refused.says} | conditions(get_session(pk), request.user, asked)
        return render(request, "session/gate.html", context, status=409)
    return redirect("ticket", pk, ticket.lease.fence)


def conditions(
    session: Session, user: AbstractBaseUser | AnonymousUser, asked: readiness.Asked = NOTHING_SAID
) -> dict[str, Any]:
    """Template context of the conditions and of the form that takes over."""
    lease = leases.of_sessions([session.pk]).get(session.pk)
    if lease is not None and lease.user_id == user.pk:
        asked = replace(asked, holder=lease.holder, fence=lease.fence)
    lines = readiness.lines(session, asked)
    found = [_line(line, session) for line in lines]
    return {
        "conditions": found,
        "blocked": any(not line.passed and line.name not in IN_THE_FORM for line in lines),
        "failing": sum(not line["passed"] for line in found),
        "lease": banner(lease, session, user),
        "gate_href": reverse("gate", args=[session.pk]),
        "asks_word": not origin.look(session).seen and session.source_kind != Session.SourceKind.FORK,
        "asks_responding": any(line.name == "responding" for line in lines),
        "modes": readiness.MODES,
        "asked": asked,
        "may_take_over": isinstance(user, AbstractBaseUser) and may(user, HANDLE),
    }


def banner(lease: Lease | None, session: Session, user: AbstractBaseUser | AnonymousUser) -> dict[str, Any] | None:
    """Who holds a session now, and for its holder the way to the ticket; None where nobody does."""
    if lease is None:
        return None
    mine = lease.user_id == user.pk
    known = mine and audit.ticket_of(session.pk, lease.fence) is not None
    return {
        "holder": safe_text(lease.holder), "mine": mine, "until": lease.expires_at,
        "ticket": reverse("ticket", args=[session.pk, lease.fence]) if known else "",
    }  # fmt: skip


def _line(line: readiness.Line, session: Session) -> dict[str, Any]:
    fix = "" if line.passed else FIXES.get(line.name, "")
    return {
        "name": NAMES.get(line.name, line.name), "passed": line.passed, "says": safe_text(line.says), "fix": fix,
        "href": answers.page_of(line, session) if fix else "",
    }  # fmt: skip


@require_http_methods(["GET", "POST"])
def ticket(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """GET: what the ticket allows, and whether it is still good. POST with `do=renew` or `do=release`: by its holder."""
    session = get_session(pk)
    found = audit.ticket_of(pk, number)
    revision = session.revisions.filter(number=found[1].get("revision")).first() if found else None
    if found is None or revision is None:
        raise Http404("There is no such ticket.")
    entry, details = found
    refused = ""
    if request.method == "POST":
        holder = str(details.get("holder", ""))
        try:
            if request.POST.get("do") == "release":
                release_lease(run=run_of(session), actor=request.user, holder=holder, fence=number)
                messages.success(request, "You gave it back. Whoever takes over next looks at everything again.")
                return redirect("session", pk)
            renew_lease(run=run_of(session), actor=request.user, holder=holder, fence=number)
            messages.success(request, "Renewed.")
            return redirect("ticket", pk, number)
        except Refused as no:
            refused = no.says
    lease = leases.of_sessions([pk]).get(pk)
    current = lease is not None and lease.fence == number
    revision.session = session
    mode = str(details.get("permission_mode") or "")
    command = resume_command(revision)
    groups = zip(GROUPS.items(), ledger.sorted_out(session), strict=True)
    context = {
        "session": session,
        "revision": revision,
        "moved": revision.pk != session.current_id,
        "entry": entry,
        "refused": refused,
        "lease": lease,
        "current": current,
        "mine": current and lease is not None and lease.user_id == request.user.pk,
        "holder": safe_text(str(details.get("holder", ""))),
        "attested": safe_text(str(details.get("attested") or "")),
        "command": safe_text(f"{command} --permission-mode {mode}" if command and mode else command),
        "groups": [(words, [_told(each) for each in group], none) for (words, none), group in groups],
    }
    return render(request, "session/ticket.html", context, status=409 if refused else 200)


def _told(operation: Operation) -> dict[str, Any]:
    return {
        "pk": operation.pk, "href": href(operation), "tool": safe_text(operation.tool), "asked": what_was_asked(operation),
        "standing": standing(operation),
    }  # fmt: skip
