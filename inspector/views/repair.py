"""Repair review: the plan's steps with what each would change, choices, the request before and after; applied only as it was reviewed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from inspector.core import repair as core
from inspector.core.edits import CutBytes, DropRow, InsertRow, ReplaceRow, SplitRow, Step
from inspector.core.errors import ApplyError, CoreError
from inspector.core.inspection import Inspection
from inspector.core.steps import Resolution
from inspector.models import Operation, Revision
from inspector.queries import ledger
from inspector.services.repair_session import repair_session
from inspector.templatetags.words import safe_text

from . import panels
from .desk import Desk, open_desk
from .drawing import outline
from .drawing.html import Child, SafeString, el, join
from .session import old
from .standing import asked as what_was_asked
from .standing import href, standing

SHOWN = 20_000
"""Characters of a row in a diff: what the repair writes is read whole."""
GONE = 1200
"""Characters of a row that is left out."""
CHOICES = {
    "unresolved-call/keep": ("Keep it, say that nobody knows", "The model reads that it may or may not have happened, and looks first."),
    "unresolved-call/keep/read-only": ("Keep it, say that nobody knows", "It only reads, so nothing can have changed; the model may ask again."),
    "unresolved-call/keep/known": ("Keep it, say what was found", "The model reads what was found, by whom and when."),
    "unresolved-call/leave-out/known": ("Leave it out, as older clients did", "The model will know neither the call nor what was found."),
    "unresolved-call/leave-out": ("Leave it out, as older clients did", "The model will not know that it may have happened."),
    "unresolved-call/leave-out/read-only": ("Leave it out, as older clients did", "It only reads: nothing is lost but the question."),
    "orphan-result/leave-out": ("Leave the result out", "The model will not read it. No call is made up for it."),
    "text": ("Keep its words as marked text", "Nothing is lost, and no call is made up for it."),
    "keep": ("Keep it as it is", ""),
    "leave-out": ("Leave it out", "The original keeps it."),
    "keep-last": ("Keep the last one, as the client does", ""),
    "keep-first": ("Keep the first one", ""),
    "relink": ("Hang it from the row before it", "Earlier rows stay part of the conversation."),
    "begin-here": ("Let the conversation begin here", "Earlier rows are not sent."),
    "as-the-client": ("As the client would", ""),
    "leave-open": ("Leave the end open", "The next prompt follows at once."),
    "default": ("Use the mode “default”", ""),
}
"""Choice, or finding/choice, or finding/choice/case (effect of the call, or `known` where its end was settled) where the words differ -> what it
does, and what follows from it."""
TIME = "%Y-%m-%dT%H:%M:%S.000Z"


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """The plan under review, with the choices that were sent and what the ledger says of the session's operations.

    POST with `do=apply`: apply exactly the plan that was shown; where choices, or what was found out since, give another one, show that.
    """
    desk = open_desk(request, pk)
    asked = {name: value for name, value in (request.POST if request.method == "POST" else request.GET).items() if isinstance(value, str)}
    seed, at = asked.get("seed") or secrets.token_hex(16), _time(asked.get("time", ""))
    choices = {name.removeprefix("choose-"): value for name, value in asked.items() if name.startswith("choose-")}
    resolutions = ledger.resolutions_of(desk.derived.inspection, desk.session)
    newest = desk.session.current.number if desk.session.current else 0
    context: dict[str, Any] = {
        "session": desk.session,
        "title": "Review the repair",
        "rev": desk.revision.number,
        "newest": newest,
        "old": old(desk, "repair", "A repair from here leaves out what was done since, and becomes the newest revision."),
    }
    if request.method == "POST" and asked.get("do") == "apply" and desk.is_old and asked.get("newest") != str(newest):
        context["not_applied"] = f"Not applied yet: revision {newest} was made since you opened this page."
    elif request.method == "POST" and asked.get("do") == "apply":
        try:
            revision = repair_session(
                revision=desk.revision, actor=request.user, seed=seed, at=at, choices=choices, digest=asked.get("digest", "")
            )
        except ApplyError as error:
            context["not_applied"] = f"Not applied yet: {error}"
        except CoreError as error:
            return render(request, "repair/page.html", context | {"refused": str(error)}, status=409)
        else:
            messages.success(request, _applied(revision))
            return redirect(reverse("session", args=[pk]))
    try:
        plan = core.plan(desk.derived.inspection, desk.derived.findings, seed=seed, at=at, choices=choices, resolutions=resolutions)
    except CoreError as error:
        return render(request, "repair/page.html", context | {"refused": str(error)}, status=409)
    steps = plan.steps()
    after = plan.outcome.inspection
    problems = after.request.problems if after.request else []
    waits = [step for step in steps if step.waits_for]
    open_ = list(ledger.of_session(desk.session).filter(state=Operation.State.UNCERTAIN).select_related("run__session").order_by("pk"))
    context |= {
        "title": _title(len(steps), len(waits), len(open_)),
        "refused": plan.refused,
        "open": [
            {"pk": each.pk, "href": href(each), "tool": safe_text(each.tool), "asked": what_was_asked(each), "standing": standing(each)}
            for each in open_
        ],
        "steps": [_step(desk, step, {each.key: href(each) for each in open_}, resolutions) for step in steps],
        "has_choices": any(len(step.choices) > 1 for step in steps),
        "changes": any(step.edits for step in steps),
        "waits": bool(waits),
        "problems_after": len(problems),
        "problem_list": problems[:20],
        "request_diff": _requests(desk.derived.inspection, after) if steps else "",
        "bytes_words": _bytes_words(steps, plan.outcome.changed_bytes),
        "digest": plan.digest(),
        "seed": seed,
        "time": at,
    }
    return render(request, "repair/page.html", context)


def _time(text: str) -> str:
    """The time that the review began, as the form sends it back; now for a first look, and where it is no time of the last day."""
    now = datetime.now(UTC)
    try:
        at = datetime.strptime(text, TIME).replace(tzinfo=UTC)
    except ValueError:
        return now.strftime(TIME)
    return text if timedelta(0) <= now - at <= timedelta(days=1) else now.strftime(TIME)


def _applied(revision: Revision) -> str:
    """What applying came to, for the page that follows."""
    said = [f"Revision {revision.number} was made; the original is unchanged."]
    if not revision.counts.get("problems"):
        said.append("Its next request breaks no rule of the provider.")
    if open_ := revision.counts.get("open_operations"):
        said.append(f"{open_} operation{'s are' if open_ != 1 else ' is'} still open: nobody knows what happened.")
    return " ".join(said)


def _title(steps: int, waits: int, open_: int) -> str:
    if not steps:
        return f"{open_} call{'s' if open_ != 1 else ''} nobody knows, nothing else to repair" if open_ else "Nothing to repair"
    said = f"{steps} step{'s' if steps != 1 else ''}"
    return f"{said}, {waits} wait{'s' if waits == 1 else ''} for a decision" if waits else said


def _step(desk: Desk, step: Step, open_: Mapping[str, str], resolutions: Mapping[str, Resolution]) -> dict[str, Any]:
    of = next((f for f in desk.findings if f.code == step.finding and set(f.rows) & set(step.rows)), None)
    of = of or next((f for f in desk.findings if f.code == step.finding), None)
    call = step.details.get("call")
    about = next((each for each in desk.derived.inspection.operations if call and each.call_id == call), None)
    case = "" if about is None else "known" if about.key in resolutions else about.effect
    return {
        "id": step.id,
        "finding": step.finding,
        "severity": of.severity if of else "info",
        "message": safe_text(of.message) if of else "",
        "why": safe_text(step.why),
        "links": panels.links(desk, step.rows),
        "waits_for": bool(step.waits_for),
        "operation_href": open_.get(step.waits_for or "", ""),
        "choices": [_choice(step, value, case) for value in step.choices] if len(step.choices) > 1 else [],
        "diff": _diff(desk, step),
    }


def _choice(step: Step, value: str, case: str) -> dict[str, Any]:
    plain = (value.replace("-", " ").capitalize(), "")
    names = (f"{step.finding}/{value}/{case}", f"{step.finding}/{value}", value)
    words, says = next((CHOICES[name] for name in names if name in CHOICES), plain)
    return {"value": value, "words": words, "says": says, "chosen": value == step.chosen}


def _diff(desk: Desk, step: Step) -> SafeString:
    """Before and after of each edit, rows named as in the revision that is repaired."""
    cells: list[Child] = [el("div", "Now", class_="h"), el("div", "After this step", class_="h")]
    for edit in step.edits:
        if isinstance(edit, InsertRow):
            where = f"after {edit.row}" if edit.row else "at the start"
            cells += [
                el("div", f"({where}: nothing)", class_="muted"),
                el("div", el("span", f"{edit.ref or '+'} {_words(edit.data)}", class_="l ins")),
            ]
        elif isinstance(edit, ReplaceRow):
            before, after = _changed(_bytes(desk, edit.row), edit.data)
            cells += [el("div", f"{edit.row} ", el("span", before, class_="del")), el("div", f"{edit.row} ", el("span", after, class_="ins"))]
        elif isinstance(edit, DropRow):
            cells += [
                el("div", el("span", f"{edit.row} {_words(_bytes(desk, edit.row), GONE)}", class_="l del")),
                el("div", "(left out of the new revision)", class_="muted"),
            ]
        elif isinstance(edit, CutBytes):
            data = _bytes(desk, edit.row)[edit.start : edit.end]
            cells += [
                el("div", f"{edit.row} bytes {edit.start:,} to {edit.end:,}: ", el("span", _words(data, GONE), class_="del")),
                el("div", "(cut)", class_="muted"),
            ]
        elif isinstance(edit, SplitRow):
            cells += [
                el("div", f"{edit.row}: one line"),
                el("div", f"{len(edit.at) + 1} lines, cut at byte {', '.join(f'{at:,}' for at in edit.at)}"),
            ]
    return el("div", *cells, class_="diff")


def _bytes(desk: Desk, ref: str) -> bytes:
    session = desk.derived.inspection.session
    try:
        return session.body_of(session.row(ref))
    except KeyError:  # a row that an earlier step of the plan added
        return b""


def _words(data: bytes, most: int = SHOWN) -> str:
    """A row in short: its role and words where it is a message, else its text."""
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    message = value.get("message", value) if isinstance(value, dict) else None
    if isinstance(message, dict) and "role" in message:
        body = {"messages": [message]}
        return outline.cut(safe_text("\n".join(outline.outline(body))), most)
    return outline.cut(safe_text(data.decode("utf-8", "replace").strip()), most)


def _changed(before: bytes, after: bytes) -> tuple[str, str]:
    """Only what differs between two versions of a row, with a little around it."""
    # Masked before it is cut: a part of a secret can't be told from other text.
    old, new = (safe_text(data.decode("utf-8", "replace").rstrip("\n")) for data in (before, after))
    start = next((number for number, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    head = max(0, start - 40)

    def part(text: str) -> str:
        tail = min(len(text), len(text) - end + 20)
        return ("… " if head else "") + outline.cut(text[head:tail], SHOWN) + (" …" if tail < len(text) else "")

    return part(old), part(new)


def _requests(before: Inspection, after: Inspection) -> SafeString:
    bodies = [looked.request.body if looked.request else None for looked in (before, after)]
    return join(outline.side_by_side(outline.outline(bodies[0]), outline.outline(bodies[1]), safe_text, ("As it is now", "After the repair")))


def _bytes_words(steps: list[Step], changed: int) -> str:
    kinds = [edit for step in steps for edit in step.edits]
    added = sum(isinstance(edit, InsertRow) for edit in kinds)
    said = [f"adds {added} row{'s' if added != 1 else ''}"] if added else []
    for kind, verb in ((ReplaceRow, "rewrites"), (DropRow, "leaves out"), (SplitRow, "splits"), (CutBytes, "cuts bytes of")):
        if count := sum(isinstance(edit, kind) for edit in kinds):
            said.append(f"{verb} {count} row{'s' if count != 1 else ''}")
    return f"{', '.join(said) or 'changes nothing'}; {changed:,} bytes differ, every other byte stays"
