"""What people do about an operation: evidence, claims, their decision, approval. What is refused is said where it was typed, which stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from inspector.forms import ClaimForm
from inspector.models import Claim, Evidence, Operation
from inspector.services.add_evidence import add_evidence
from inspector.services.approve_operation import approve_operation
from inspector.services.cancel_operation import cancel_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.moves import Refused
from inspector.services.propose_again import propose_again
from inspector.services.withdraw_claim import withdraw_claim

from .operation import Sent, get_operation, show
from .standing import numbered

NOT_WHOLE = "Nothing was saved: look at what is marked."


@require_POST
def claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what happened, with kept evidence, with new evidence, or with both."""
    operation = get_operation(pk)
    form = ClaimForm(request.POST, request.FILES, operation=operation)
    outcome = request.POST.get("outcome", "")
    if not form.is_valid():
        return show(request, operation, _sent(request, outcome, NOT_WHOLE, form.wrong()), status=400)
    said = form.cleaned_data
    evidence, added = list(said["evidence"]), None
    try:
        if said["note"] or said["url"] or said["file"]:
            added = add_evidence(operation=operation, actor=request.user, says=said["note"], url=said["url"], file=said["file"])
            evidence.append(added)
        claim_outcome(
            operation=operation, actor=request.user, outcome=outcome, statement=said["statement"], evidence=evidence, related=said["related"],
            effect_exists=said["effect_exists"],
        )  # fmt: skip
    except ValidationError as error:
        return show(request, operation, _sent(request, outcome, NOT_WHOLE, {"note": error.messages[0]}), status=400)
    except Refused as refused:
        says = refused.says + (f" What you attached was kept as evidence {numbered(operation)[added.pk]}." if added else "")
        return show(request, operation, _sent(request, outcome, says, evidence=evidence, kept=added is not None), status=409)
    alone, second = "It counts at once: resolved without second person.", "It was saved. It counts when another person approves it."
    messages.success(request, alone if settings.SELF_RESOLUTION else second)
    return redirect("operation", pk)


@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add evidence without saying what happened."""
    operation = get_operation(pk)
    note, url = request.POST.get("note", ""), request.POST.get("url", "")
    try:
        add_evidence(operation=operation, actor=request.user, says=note, url=url, file=request.FILES.get("file"))
    except ValidationError as error:
        return show(request, operation, _sent(request, "evidence", error.messages[0]), status=400)
    messages.success(request, "The evidence was kept.")
    return redirect("operation", pk)


Deed = Callable[[HttpRequest, Operation], tuple[str, int]]


def refusable(form: str) -> Callable[[Deed], Callable[..., HttpResponse]]:
    """Make a view of a deed, which returns what to say and the operation to go on to. A refusal is said at the named form of the page."""

    def decorate(deed: Deed) -> Callable[..., HttpResponse]:
        @require_POST
        @wraps(deed)
        def view(request: HttpRequest, pk: int) -> HttpResponse:
            try:
                said, to = deed(request, get_operation(pk))
            except Refused as refused:
                return show(request, get_operation(pk), _sent(request, form, refused.says), status=409)
            messages.success(request, said)
            return redirect("operation", to)

        return view

    return decorate


@refusable("decide")
def decide(request: HttpRequest, operation: Operation) -> tuple[str, int]:
    """Approve or refuse what somebody said, as it was shown."""
    claim, approve = _claim(operation, request), request.POST.get("do") == "approve"
    decide_claim(claim=claim, actor=request.user, digest=request.POST.get("digest", ""), approve=approve, note=request.POST.get("note", ""))
    return "You approved it: it counts now." if approve else "You refused it. It stays on record; the operation stays open.", operation.pk


@refusable("take-back")
def take_back(request: HttpRequest, operation: Operation) -> tuple[str, int]:
    """Take back one's own word while nobody has decided it."""
    withdraw_claim(claim=_claim(operation, request), actor=request.user, note=request.POST.get("note", ""))
    return "You took it back. It stays on record.", operation.pk


@refusable("approve")
def approve(request: HttpRequest, operation: Operation) -> tuple[str, int]:
    """Approve exactly what was shown."""
    approve_operation(operation=operation, actor=request.user, digest=request.POST.get("digest", ""))
    return f"Approved, for exactly this action, for {settings.APPROVAL_MINUTES} minutes and one sending.", operation.pk


@refusable("withdraw")
def withdraw(request: HttpRequest, operation: Operation) -> tuple[str, int]:
    """Withdraw what was not sent."""
    cancel_operation(operation=operation, actor=request.user, reason=request.POST.get("note", ""))
    return "It was withdrawn: nothing was sent.", operation.pk


@refusable("again")
def again(request: HttpRequest, operation: Operation) -> tuple[str, int]:
    """Propose it once more, as an operation of its own."""
    made = propose_again(operation=operation, actor=request.user)
    return f"It waits for approval as op {made.pk}. Nothing was sent.", made.pk


def _claim(operation: Operation, request: HttpRequest) -> Claim:
    """The claim that the form names. Raises Http404."""
    number = request.POST.get("claim", "")
    return get_object_or_404(operation.claims, pk=int(number) if number.isdecimal() and len(number) < 18 else 0)


def _sent(
    request: HttpRequest, form: str, says: str, errors: dict[str, str] | None = None, evidence: list[Evidence] | None = None, kept: bool = False
) -> Sent:  # fmt: skip
    """What was typed; new evidence that was kept is ticked instead of typed once more."""
    values: dict[str, Any] = {name: value for name, value in request.POST.items() if not (kept and name in ("note", "url"))}
    ticked = {int(number) for number in request.POST.getlist("evidence") if number.isdecimal() and len(number) < 18}
    return Sent(form, says, values, ticked | {piece.pk for piece in evidence or ()}, errors or {})
