"""The page of one operation: how it stands, what was asked, what is recorded and kept, what people said, and what may be done about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from inspector.core.masking import mask_json
from inspector.core.targets import KINDS, window_line
from inspector.models import Claim, Evidence, Operation, Probe
from inspector.models.roles import DECIDE, HANDLE
from inspector.queries import audit, leases, ledger, origin
from inspector.services.approve_operation import repeatable
from inspector.services.moves import Refused
from inspector.services.propose_again import again
from inspector.templatetags.words import EFFECTS, clock, safe_text

from .drawing import jsontree
from .standing import asked, href, numbered, row_href, standing

State, Outcome = Operation.State, Operation.Outcome
SAY = {
    Outcome.APPLIED: ("It happened…", "You saw its effect. Say where."),
    Outcome.NOT_APPLIED: ("It did not happen…", "You looked where its effect would be, and it is not there."),
    Outcome.SUPERSEDED: ("No longer needed…", "Something else made it needless, whether it happened or not."),
    Outcome.COMPENSATED: ("It was undone…", "It happened, and another operation reversed it."),
}
"""Outcome -> the words of its button, and what it means."""
GRADES = {"strong": "info", "weak": "plain"}
"""Grade of recorded evidence -> chip class."""
VERDICTS = {
    "applied": ("ok", "says it happened"),
    "not-applied": ("ok", "says it did not happen"),
    "unclear": ("warn", "does not tell"),
    "failed": ("plain", "could not look"),
}
"""Verdict of a probe -> (chip class, words)."""
CLAIMS = {Claim.State.OPEN: "warn", Claim.State.APPROVED: "ok", Claim.State.REFUSED: "blocked", Claim.State.WITHDRAWN: "plain"}
"""State of a claim -> chip class."""
AGAIN = {
    ("retry", State.FAILED): "New attempt",
    ("retry", State.RESOLVED): "New attempt (needs approval)",
    **{("ask", state): "Ask again" for state in (State.PROPOSED, State.APPROVED, State.CANCELLED, State.EXPIRED)},
}
"""How it may be proposed again, and its state -> words of the button."""
CHECKED = (State.UNCERTAIN, State.PROPOSED, State.APPROVED, State.CONFIRMED)
"""States in which its target may be looked at from the page."""
CANDIDATES = 50
ENTRIES = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """What a form sent that was not done: the page shows it again, with the sentence why, where it was typed."""

    form: str = ""
    says: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    evidence: Collection[int] = ()
    """Kept evidence that is ticked."""
    errors: Mapping[str, str] = field(default_factory=dict)


def get_operation(pk: int) -> Operation:
    """Raises Http404."""
    return get_object_or_404(Operation.objects.select_related("run__session__current", "target__probe", "proposer", "retry_of", "retry"), pk=pk)


@require_GET
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """The page; `?say=OUTCOME` opens the form that says so."""
    return show(request, get_operation(pk), Sent(form=request.GET.get("say", "")))


def show(request: HttpRequest, operation: Operation, sent: Sent, status: int = 200) -> HttpResponse:
    """The page as it is now, with a form that was not done."""
    may_handle, may_decide = request.user.has_perm(HANDLE), request.user.has_perm(DECIDE)
    session = operation.run.session
    numbers = numbered(operation)
    address = row_href(operation)
    claims = [_claim(claim, numbers) for claim in operation.claims.select_related("claimant", "decided_by", "related").prefetch_related("evidence")]
    waiting = next((claim for claim in claims if claim["state"] == Claim.State.OPEN), None)
    kept = [_evidence(piece, numbers[piece.pk], sent) for piece in operation.evidence.select_related("by", "probe")]
    context = {
        "operation": operation,
        "standing": standing(operation),
        "tool": safe_text(operation.tool),
        "asked": asked(operation),
        "session": session,
        "run_name": safe_text(operation.run.name),
        "lease": leases.of_runs([operation.run_id]).get(operation.run_id),
        "arguments": _arguments(operation),
        "facts": _facts(operation),
        "window": window_line(operation.target_kind, operation.state),
        "kind": KINDS[operation.target_kind],
        "unknown_effect": operation.effect == "unknown",
        "recorded": [_recorded(each, address) for each in operation.recorded],
        "call_row": address(operation.row),
        "kept": kept,
        "claims": claims,
        "waiting": waiting,
        "decide": _decide(request, waiting, may_decide),
        "take_back": bool(waiting and may_handle and waiting["claimant_id"] == request.user.pk),
        "says": _outcomes(operation, sent.form) if may_handle and not waiting else [],
        "say": _say(operation, sent) if may_handle and not waiting else None,
        "alone": settings.SELF_RESOLUTION,
        "approve": _approve(request, operation, may_decide),
        "again": AGAIN.get((again(operation), operation.state), "") if may_handle else "",
        "withdraw": may_handle and operation.state in (State.PROPOSED, State.APPROVED),
        "probes": _probes(operation) if may_handle and operation.state in CHECKED else [],
        "may_handle": may_handle,
        "sent": sent,
        "history": [
            {"entry": entry, "did": entry.action.replace("-", " ").capitalize()} for entry in audit.of_operation(operation)[:ENTRIES]
        ],
    }
    return render(request, "operations/operation.html", context, status=status)


@require_GET
def evidence_file(request: HttpRequest, pk: int, evidence: int) -> FileResponse:
    """The file of a piece of evidence, always as a download: it is never shown by the browser."""
    piece = get_object_or_404(Evidence, pk=evidence, operation=pk)
    if not piece.file:
        raise Http404("This evidence has no file.")
    return FileResponse(piece.file.open("rb"), as_attachment=True, filename=piece.file_name, content_type="application/octet-stream")


# --- parts of the page ---


def _arguments(operation: Operation) -> list[tuple[str, str]]:
    """Name and text of each argument, whole, secrets masked."""
    given = operation.arguments
    if given is None:
        return []
    if not isinstance(given, dict):
        return [("", safe_text(given if isinstance(given, str) else jsontree.dump(given)))]
    return [(safe_text(name), safe_text(value if isinstance(value, str) else jsontree.dump(value))) for name, value in mask_json(given).items()]


def _facts(operation: Operation) -> list[tuple[str, Any]]:
    """What is known of it, those without a value left out."""
    quiet = ledger.quiet_until(operation)
    found = [
        ("Target", operation.target.name if operation.target else ""),
        ("Acts on", safe_text(operation.target_text)),
        ("Environment", safe_text(operation.environment)),
        ("Effect", EFFECTS.get(operation.effect, operation.effect)),
        ("Why", safe_text(operation.why_effect)),
        ("Judged by", safe_text(operation.policy)),
        ("Found", operation.get_origin_display()),
        ("Proposed by" if operation.origin == Operation.Origin.LIVE else "Reported by", operation.proposer and operation.proposer.get_username()),
        ("Sent", operation.sent_at and clock(operation.sent_at)),
        ("Last possible send", operation.send_by and clock(operation.send_by)),
        ("“Not there” counts from", quiet and clock(quiet)),
        ("Key at the target", safe_text(operation.idempotency_key)),
        ("Key known there until", operation.key_valid_until and clock(operation.key_valid_until)),
        ("Answer", safe_text(jsontree.dump(operation.response)) if operation.response is not None else ""),
    ]
    return [(words, value) for words, value in found if value]


def _recorded(item: Mapping[str, Any], address: Any) -> dict[str, Any]:
    row, grade = str(item.get("row") or ""), str(item.get("grade", ""))
    return {"says": safe_text(str(item.get("says", ""))), "chip": GRADES.get(grade, "plain"), "grade": grade, "row": row, "href": address(row)}


def _evidence(piece: Evidence, number: int, sent: Sent) -> dict[str, Any]:
    chip, verdict = VERDICTS.get(piece.verdict, ("plain", piece.verdict))
    output = piece.details.get("output") or piece.details.get("response")
    return {
        "piece": piece, "number": number, "says": safe_text(piece.says), "chip": chip, "verdict": verdict if piece.verdict else "",
        "url": piece.url, "looked_at": safe_text(str(piece.details.get("looked_at", ""))),
        "output": safe_text(output if isinstance(output, str) else jsontree.dump(output)) if output is not None else "",
        "late": piece.kind == Evidence.Kind.LATE_RESULT, "ticked": piece.pk in sent.evidence,
        "counts": piece.kind != Evidence.Kind.FILE_MARK,
    }  # fmt: skip


def _claim(claim: Claim, numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "claim": claim, "pk": claim.pk, "state": claim.state, "claimant_id": claim.claimant_id, "digest": claim.digest,
        "words": SAY[Outcome(claim.outcome)][0].rstrip("…"), "statement": safe_text(claim.statement), "chip": CLAIMS[Claim.State(claim.state)],
        "evidence": [numbers[piece.pk] for piece in claim.evidence.all()], "related": claim.related and (claim.related.pk, href(claim.related)),
        "note": safe_text(claim.decision_note), "effect_exists": claim.effect_exists,
    }  # fmt: skip


def _decide(request: HttpRequest, waiting: Mapping[str, Any] | None, may_decide: bool) -> dict[str, Any] | None:
    """The form for the second person, or why this person has none."""
    if waiting is None:
        return None
    if waiting["claimant_id"] == request.user.pk:
        return {"why_not": "Who says what happened can't approve it. Ask another person with the role “approver”."}
    if not may_decide:
        return {"why_not": "It waits for a person with the role “approver”."}
    return {"claim": waiting["pk"], "digest": waiting["digest"]}


def _outcomes(operation: Operation, chosen: str) -> list[dict[str, Any]]:
    """What a person may say of it now."""
    if operation.state == State.UNCERTAIN:
        open_for = list(Outcome)
    elif operation.state == State.RESOLVED and operation.outcome == Outcome.APPLIED:
        open_for = [Outcome.COMPENSATED]
    else:
        return []
    here = href(operation)
    return [{"outcome": each.value, "words": SAY[each][0], "href": f"{here}?say={each}#act", "current": each == chosen} for each in open_for]


def _say(operation: Operation, sent: Sent) -> dict[str, Any] | None:
    """The form that is open, with what was typed."""
    if sent.form not in [each["outcome"] for each in _outcomes(operation, "")]:
        return None
    outcome = Outcome(sent.form)
    words, means = SAY[outcome]
    return {
        "outcome": outcome.value, "words": words.rstrip("…"), "means": means, "wait": _wait(operation) if outcome == Outcome.NOT_APPLIED else "",
        "asks_related": outcome in (Outcome.SUPERSEDED, Outcome.COMPENSATED), "asks_exists": outcome == Outcome.SUPERSEDED,
        "candidates": _candidates(operation, outcome),
    }  # fmt: skip


def _wait(operation: Operation) -> str:
    """Why “it did not happen” can't be said yet; blank when it can."""
    quiet = ledger.quiet_until(operation)
    if quiet is not None and timezone.now() < quiet:
        return f"It may still arrive: a request can be under way, or a paused worker can send it late. Look again after {quiet:%Y-%m-%d %H:%M:%S %Z}."
    live = origin.live(operation)
    return f"Its client may still be at work ({live}). Close it first." if live else ""


def _candidates(operation: Operation, outcome: str) -> list[dict[str, Any]]:
    """Operations that may have replaced or undone it, those of the same session first."""
    found = Operation.objects.exclude(pk=operation.pk)
    if outcome == Outcome.COMPENSATED:
        done = found.filter(state=State.CONFIRMED) | found.filter(state=State.RESOLVED, outcome=Outcome.APPLIED)
        found = done
    here = list(found.filter(run=operation.run).order_by("-pk")[:CANDIDATES])
    same = found.filter(target=operation.target) if operation.target_id else found.none()
    others = list(same.exclude(run=operation.run).order_by("-pk")[: CANDIDATES - len(here)])
    return [{"pk": each.pk, "words": f"op {each.pk}: {safe_text(each.tool)} {asked(each)}"[:120]} for each in here + others]


def _approve(request: HttpRequest, operation: Operation, may_decide: bool) -> dict[str, Any] | None:
    """The form for the approver, or why this person has none; also for sending a key again that its target knows."""
    repeats = False
    if operation.state == State.UNCERTAIN:
        try:
            repeatable(operation)
        except Refused:
            return None
        repeats = True
    elif operation.state != State.PROPOSED:
        return None
    elif operation.digest != ledger.digest_of(operation):
        return {"why_not": "The action changed since it was proposed. Ask again.", "again": False}
    if operation.proposer_id == request.user.pk and not settings.SELF_RESOLUTION:
        return {"why_not": "Who proposed it can't approve it. Ask another person with the role “approver”.", "again": repeats}
    if not may_decide:
        return {"why_not": "It waits for a person with the role “approver”.", "again": repeats}
    return {"digest": ledger.digest_of(operation), "again": repeats, "minutes": settings.APPROVAL_MINUTES}


def _probes(operation: Operation) -> list[dict[str, Any]]:
    """Read-only looks that an administrator has set up, that of the operation's own target first."""
    own = operation.target.probe_id if operation.target else None
    found = sorted(Probe.objects.filter(active=True), key=lambda probe: (probe.pk != own, probe.name))
    return [{"probe": probe, "own": probe.pk == own, "parameters": list(probe.parameters.items())} for probe in found]
