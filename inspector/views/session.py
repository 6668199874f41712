"""The session page: it opens at the defect, says it in a sentence, and shows the four forms row by row."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET

from inspector.core import reading
from inspector.core.errors import CoreError
from inspector.core.verdicts import SENTENCES, Reason
from inspector.models import IndexedRow, Operation
from inspector.models.roles import ERASE, HANDLE, VIEW, may
from inspector.queries import leases, ledger, readiness
from inspector.templatetags.words import GATES, HOWS, VERDICTS, safe_text, titled

from . import gate, panels
from .desk import LIGHT, SHOWS, Desk, client_title, open_desk, started_by
from .drawing import grid
from .drawing.html import el, join

WINDOW = 200
MOST = 1000
COLUMNS = ((1, "Screen"), (2, "Transcript row"), (3, "Runtime state"), (4, "API request"))
HEADLINES = {
    "needs-reconciliation": "Something may have happened.",
    "needs-repair": "The conversation needs repair.",
    "blocked": "This can't be resumed as it is.",
    "live": "Its client may still be writing.",
    "ready": "Ready to resume.",
    "finished": "Finished.",
    "": "Not judged yet.",
}


@require_GET
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole page, opened at the row asked for or at the defect."""
    desk = open_desk(request, pk)
    start = desk.start()
    selected = start if start.startswith(("+", f"{desk.part}:")) else ""
    rows = _window(desk, request, selected)
    style = VERDICTS.get(desk.verdict, ("plain", ""))[0]
    worst = next((finding for finding in desk.findings_at.get(selected, []) if finding.severity != "info"), None)
    context = {
        "defect": {"ref": selected, "href": desk.row_href(selected)} if worst else None,
        "no_row": f"There is no row {desk.at} in this revision." if desk.at and desk.seq(desk.at) is None else "",
        "session": desk.session,
        "revision": desk.revision,
        "old": old(desk, "session", "What was done since is not in it."),
        "revisions": _revisions(desk),
        "client_title": client_title(desk.session.client),
        "counts": desk.counts,
        "strip": _strip(desk),
        "verdict": desk.verdict,
        "verdict_class": style,
        "headline": HEADLINES.get(desk.verdict, ""),
        "sentence": safe_text(desk.summary),
        "steps": [step for step in _steps(desk) if may(request.user, step.get("needs", VIEW))],
        "hows": HOWS.items(),
        "versions": _versions(desk),
        "version": desk.resume_as.version or "",
        "resume_as": desk.resume_as,
        "gates": [(name, words, desk.resume_as.gate(name)) for name, words in GATES.items() if name in desk.gates],
        "models": _models(desk),
        "model_default": desk.session.model,
        "profile": desk.revision.profile if desk.default else desk.derived.inspection.state.version,
        "profile_note": _profile_note(desk),
        "show": desk.show,
        "filters": [
            {"words": f"{words}{_count(desk, show)}", "href": desk.href(show=show, at=selected), "current": show == desk.show}
            for show, words in SHOWS.items()
        ],
        "find": desk.find,
        "at": selected,
        "part": desk.part,
        "dense": desk.dense,
        "density_href": desk.href(dense="" if desk.dense else 1, at=selected),
        "compare_href": desk.part_href("compare"),
        "rows_href": desk.part_href("session-rows"),
        "panels_href": reverse("session-panel", args=[pk, "PANEL"]) + "?" + desk.query(panel=None),
        "window": WINDOW,
        "problem_refs": json.dumps(desk.problem_refs[:5000]),
        "columns": COLUMNS,
        "total": desk.total(),
        "lines": draw(desk, rows, selected, ends=True),
        "map": desk.map(),
        "back": _back(desk),
        "here": panels.part_name(desk),
        "lease": gate.banner(leases.of_sessions([pk]).get(pk), desk.session, request.user),
    } | panels.context(desk, selected, request.user)
    return render(request, "session/page.html", context)


@require_GET
def rows(request: HttpRequest, pk: int) -> HttpResponse:
    """A window of lines: `from` a row, `until` a row, or around `at`; `fold=0` opens what would be folded."""
    desk = open_desk(request, pk)
    found = _window(desk, request, desk.at)
    folded = request.GET.get("fold") == "0"
    return HttpResponse(draw(desk, found, desk.at, ends=not folded, folding=not folded))


def _window(desk: Desk, request: HttpRequest, at: str) -> list[IndexedRow]:
    count = min(_number(request, "count") or WINDOW, MOST)
    if (until := _number(request, "until")) is not None:
        return desk.before(until, count)
    if (seq := _number(request, "from")) is not None:
        return desk.after(seq, count)
    here = desk.seq(at) if at else None
    if here is None:
        return desk.after(0, count)
    later = desk.after(here, count - count // 3)
    return desk.before(here, count - len(later)) + later


def _number(request: HttpRequest, name: str) -> int | None:
    value = request.GET.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 12 else None


def draw(desk: Desk, rows: list[IndexedRow], selected: str, *, ends: bool, folding: bool = True) -> SafeString:
    """Lines of the rows, with an edge at each end where the view goes on."""
    if not rows:
        return el("div", el("div", "No row fits this view.", role="cell"), role="row", class_="empty") if ends else SafeString("")
    around = grid.Context(
        link=desk.row_href,
        unfold=lambda ref, seq, count: f"{desk.href(at=ref, fold=0, count=count)}&from={seq}#r{ref}",
        mask=safe_text,
        findings=desk.findings_at,
        added=desk.added if desk.show in ("all", "messages") and not desk.find else {},
        parents=desk.parents_of(rows),
        sentences=SENTENCES | {Reason.REFUSED: "sent by the sub-agent itself, never by a resume"} if desk.is_agent else SENTENCES,
        is_new=desk.is_new,
        selected=selected,
        folding=folding and desk.show == "all" and not desk.find and desk.session.client != "raw",
    )
    lines = grid.windows(rows, around)
    if not ends:
        return lines
    first, last = rows[0].seq, rows[-1].seq
    before = _edge("before", f"{desk.href()}&until={first}", first, "Load earlier rows") if desk.goes_on(first, back=True) else ""
    after = _edge("after", f"{desk.href()}&from={last + 1}", last + 1, "Load later rows") if desk.goes_on(last + 1, back=False) else ""
    return join(before, lines, after)


def _edge(side: str, href: str, seq: int, words: str) -> SafeString:
    return el("div", el("div", el("a", words, href=href), role="cell"), class_="edge", role="row", data_edge=side, data_seq=seq)


def _count(desk: Desk, show: str) -> str:
    if show == "problems":
        return f" {len(desk.problems):,}"
    return f" {desk.left_out():,}" if show == "left-out" else ""


def old(desk: Desk, page: str, says: str) -> dict[str, Any] | None:
    """Context of the banner over a revision that is not the newest; None over the newest."""
    if not desk.is_old or desk.session.current is None:
        return None
    return {"number": desk.revision.number, "newest": desk.session.current.number, "href": reverse(page, args=[desk.session.pk]), "says": says}


def _revisions(desk: Desk) -> list[Any]:
    found = list(desk.session.revisions.order_by("-number"))
    for revision in found:
        revision.href = reverse("session", args=[desk.session.pk]) + f"?rev={revision.number}"
    return found


def _steps(desk: Desk) -> list[dict[str, Any]]:
    """The safe next steps, in order, some with the permission that they need."""
    pk, rev = desk.session.pk, f"?rev={desk.revision.number}"
    of = f" of revision {desk.revision.number}" if desk.is_old else ""
    unknown = list(ledger.of_session(desk.session).filter(state=Operation.State.UNCERTAIN).values_list("pk", flat=True)[:2])
    all_of_them = desk.href(panel="operations") + "#panel"
    operations = {"words": "Resolve the operation…", "href": reverse("operation", args=[unknown[0]]) if len(unknown) == 1 else all_of_them}
    resume = {"words": "Take over and resume…", "href": desk.href(panel="resume") + "#panel"}
    repair = {"words": f"Review the repair{of}…", "href": reverse("repair", args=[pk]) + rev}
    fork = {"words": f"Fork{of}…", "href": reverse("fork", args=[pk]) + rev, "needs": HANDLE}
    export = {"words": "Export…", "href": reverse("export", args=[pk]), "needs": HANDLE}
    delete = {"words": "Delete…", "href": reverse("delete", args=[pk]), "quiet": True, "needs": ERASE}
    if desk.is_agent and desk.session.parent_id:
        return [{"words": "Go to the session that started it", "href": _parent_href(desk)}, export]
    if not hasattr(reading.CLIENTS.get(desk.session.client), "write"):  # nothing of this client can be written yet
        return [export, delete]
    order = {
        "needs-reconciliation": [repair, fork, export, resume],
        "needs-repair": [repair, fork, export, resume],
        "blocked": [repair, export],
        "live": [export, fork, resume],
    }.get(desk.verdict, [resume, export, fork, repair | {"quiet": True}])
    if not desk.forks:
        order = [step for step in order if step["href"] != fork["href"]]
    unwritten = bool(readiness.unwritten_resolutions(desk.revision))
    if unwritten and desk.verdict not in ("needs-reconciliation", "needs-repair", "blocked"):
        order = [repair, *(step for step in order if step["href"] != repair["href"])]
    if not unwritten and not any(finding.repairable for finding in desk.findings):
        order = [step for step in order if step["href"] != repair["href"]]
    return [operations, *order, delete] if unknown else [*order, delete]


def _versions(desk: Desk) -> list[tuple[str, str]]:
    profiles = list(getattr(reading.CLIENTS.get(desk.session.client), "PROFILES", {}))
    return [("" if number == 0 else version, f"{version} (newest observed)" if number == 0 else version) for number, version in enumerate(profiles)]


def _models(desk: Desk) -> list[str]:
    profiles = getattr(reading.CLIENTS.get(desk.session.client), "PROFILES", {})
    named = [desk.session.model, *(getattr(profile, "default_model", "") for profile in profiles.values())]
    return [model for model in dict.fromkeys(named) if model]


def _profile_note(desk: Desk) -> str:
    """Which release is simulated, and why."""
    if desk.resume_as.version:
        return "as chosen"
    written = desk.session.version
    return "the newest observed: what a person would resume with today" + (f"; the rows were written by {written}" if written else "")


def _strip(desk: Desk) -> list[tuple[str, str]]:
    """Facts for the head, where the session is small enough to derive at once."""
    if desk.session.size > LIGHT:
        return []
    try:
        facts = {fact.name: fact.value for fact in desk.derived.inspection.state.facts if fact.known}
    except CoreError:
        return []
    tokens = facts.get("tokens")
    strip = [("Branch", facts.get("branch")), ("Permissions", facts.get("permission-mode"))]
    strip.append(("Tokens", f"{tokens['context']:,}" if isinstance(tokens, dict) and isinstance(tokens.get("context"), int) else None))
    return [(words, safe_text(value)[:60]) for words, value in strip if isinstance(value, str)]


def _back(desk: Desk) -> list[dict[str, str]]:
    """The way back: inbox, then the session that a sub-agent or a fork came from."""
    places = [{"href": reverse("inbox"), "words": "Inbox"}]
    if desk.session.parent_id:
        places.append({"href": _parent_href(desk), "words": titled(desk.session.parent)[:60]})
    if desk.part:
        places.append({"href": desk.href(part=None, show=None, find=None), "words": titled(desk.session)[:60]})
    return places


def _parent_href(desk: Desk) -> str:
    """The session that a fork or a sub-agent came from; for an agent opened at the call that started it."""
    parent = desk.session.parent
    href = reverse("session", args=[desk.session.parent_id])
    if not desk.is_agent or parent is None or parent.current is None:
        return href
    call = started_by(parent.current).get(desk.session.agent)
    row = parent.current.indexed_rows.filter(part=0, calls__contains=call).order_by("seq").first() if call else None
    return f"{href}?at={row.ref}#r{row.ref}" if row else href
