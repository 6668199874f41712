"""How a kept operation stands, in the words for people: its badge, its sentence, what was asked; the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from inspector.core import wording
from inspector.models import Claim, Evidence, Operation, Revision
from inspector.queries import ledger
from inspector.templatetags.words import clock, safe_text

from .drawing.outline import cut

State, Outcome, Origin = Operation.State, Operation.Outcome, Operation.Origin
SHORT = 160
"""Characters of what was asked in a list or a heading."""
READ = 20_000
"""Characters of it that are read for that: far more than are shown, so that no secret is cut before it is masked."""
NOT_VALID = ("warn", "Approval no longer valid")


@dataclass(frozen=True, slots=True)
class Standing:
    """`chip` is the class of the badge; `sentence` is HTML that is safe to show."""

    chip: str
    badge: str
    sentence: str


def standing(operation: Operation) -> Standing:
    """Badge and sentence of an operation as it is now."""
    match State(operation.state):
        case State.PROPOSED:
            return Standing("warn", "Waiting for approval", "Nothing was sent.")
        case State.APPROVED:
            return _approved(operation)
        case State.CANCELLED:
            return Standing("plain", "Withdrawn", _with_reason("Nothing was sent.", operation))
        case State.EXPIRED:
            return Standing(*NOT_VALID, _with_reason("Nothing was sent.", operation))
        case State.DISPATCHED:
            by = safe_text(operation.worker) or "a worker"
            return Standing("live", "In progress", format_html("Sent by {} at {}. Wait for the answer.", by, clock(operation.sent_at)))
        case State.CONFIRMED if operation.origin == Origin.RECORDED:
            return Standing("ok", "Done according to the transcript", "We did not check the target.")
        case State.CONFIRMED:
            request = _request_id(operation.response)
            return Standing("ok", "Done", format_html("The system confirmed it{}.", f" ({request})" if request else ""))
        case State.FAILED:
            return Standing("plain", "Refused by the target", "It did not happen. You may try again.")
        case State.UNCERTAIN:
            return Standing("danger", "We don't know if this happened", _unknown(operation))
    return _resolved(operation)


def _approved(operation: Operation) -> Standing:
    approval = ledger.valid_approvals(operation).first()
    if approval is None or operation.digest != ledger.digest_of(operation):
        return Standing(*NOT_VALID, "The action changed since it was approved." if approval else "It ran out before the action was sent.")
    return Standing("ok", "Approved, not sent", format_html("Approval for exactly this action, until {}.", clock(approval.expires_at)))


def _unknown(operation: Operation) -> str:
    if operation.origin == Origin.REPORTED:
        return "A person reported that it may have happened. Do not repeat it. Check the target first."
    return "The request was made; no result was saved. Do not repeat it. Check the target first."


def _resolved(operation: Operation) -> Standing:
    claim = ledger.decided(operation)
    outcome = Outcome(operation.outcome)
    badges = {Outcome.APPLIED: "It happened", Outcome.NOT_APPLIED: "It did not happen", Outcome.SUPERSEDED: "No longer needed"}
    chip = "plain" if outcome in (Outcome.SUPERSEDED, Outcome.COMPENSATED) else "ok"
    sentence = _because(operation, outcome, claim) if claim else ""
    if claim is not None and claim.alone:
        sentence = format_html("{} Resolved without second person.", sentence)
    return Standing(chip, badges.get(outcome, "Undone"), sentence)


def _because(operation: Operation, outcome: str, claim: Claim) -> str:
    """The sentence of a settled operation."""
    used = list(claim.evidence.all())
    if outcome == Outcome.APPLIED:
        numbers = numbered(operation)
        return format_html("Confirmed by {} from evidence {}.", person(claim.decided_by), _listed([str(numbers[each.pk]) for each in used]))
    if outcome == Outcome.NOT_APPLIED:
        looked = max((each.at for each in used if each.kind != Evidence.Kind.FILE_MARK), default=claim.made_at)
        after = f", {span(looked - operation.send_by)} after the last possible send" if operation.send_by else ""
        return format_html("Checked {}{}.", clock(looked), after)
    if outcome == Outcome.SUPERSEDED:
        by = format_html("Replaced by {}.", link(claim.related)) if claim.related else "What made it needless is linked in the evidence."
        return format_html("{} Its old effect {}.", by, "exists" if claim.effect_exists else "does not exist")
    return format_html("Reversed by {}.", link(claim.related)) if claim.related else ""


def _with_reason(sentence: str, operation: Operation) -> str:
    return format_html("{} {}", sentence, safe_text(operation.reason)) if operation.reason else sentence


def _request_id(response: Any) -> str:
    """What the target calls the request, where its answer names it."""
    found = next((response[name] for name in ("request_id", "id") if isinstance(response.get(name), str)), "") if isinstance(response, dict) else ""
    return cut(safe_text(found), 80)


def person(user: Any) -> str:
    return str(user.get_username()) if user else "a person who is gone"


def link(operation: Operation | None) -> SafeString | str:
    """`op 18`, linked to its page."""
    return format_html('<a href="{}">op {}</a>', href(operation), operation.pk) if operation else ""


def href(operation: Operation) -> str:
    return reverse("operation", args=[operation.pk])


def numbered(operation: Operation) -> dict[int, int]:
    """Evidence -> its number on the operation's page, from 1."""
    return {pk: number for number, pk in enumerate(operation.evidence.order_by("pk").values_list("pk", flat=True), 1)}


def _listed(words: Sequence[str]) -> SafeString | str:
    """`1, 2 and 3`, each linked to the evidence of the page."""
    links = [format_html('<a href="#evidence-{}">{}</a>', word, word) for word in words]
    if len(links) < 2:
        return links[0] if links else ""
    return format_html("{} and {}", format_html_join(", ", "{}", ((each,) for each in links[:-1])), links[-1])


def span(time: timedelta) -> str:
    """`40 s`, `6 min`, `3 h`, `12 days`."""
    seconds = max(0, time.total_seconds())
    for size, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size * (2 if word == "days" else 1):
            return f"{seconds / size:.0f} {word}"
    return f"{seconds:.0f} s"


def asked(operation: Operation) -> str:
    """What was asked, in a line: the telling argument, or what a person reported. Masked before it is cut."""
    text = operation.reason if operation.origin == Origin.REPORTED else wording.about(operation.arguments)
    return cut(" ".join(safe_text(text[:READ]).split()), SHORT)


def when(operation: Operation) -> datetime:
    """When it was sent, or became known."""
    return operation.sent_at or operation.created


def row_href(operation: Operation) -> Callable[[str], str]:
    """Ref -> address of the row in the newest revision that came from outside: every later import keeps the rows. Blank where there is none."""
    session = operation.run.session
    revision = session.revisions.exclude(kind=Revision.Kind.REPAIRED).order_by("-number").first() if session else None

    def address(ref: str) -> str:
        part, _, number = ref.partition(":")
        if session is None or revision is None or not (part.isdecimal() and number.isdecimal()):
            return ""
        query: dict[str, Any] = {"rev": revision.number} if revision.pk != session.current_id else {}
        return reverse("session", args=[session.pk]) + "?" + urlencode(query | ({"part": part} if part != "0" else {}) | {"at": ref}) + f"#r{ref}"

    return address
