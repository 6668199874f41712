"""What the kept ledger shows beside a session: its operations, and what was done, in the order of time."""

from __future__ import annotations

import json
from typing import Any

from django.urls import reverse

from inspector.core.operations import Operation, call_key
from inspector.models import Checkpoint, Session
from inspector.models import Operation as Kept
from inspector.queries import audit, ledger
from inspector.templatetags.words import EFFECTS, OPERATION_STATES, safe_text

from .desk import Desk
from .standing import asked, href, standing

LIMIT = 200
ENTRIES = 100


def operations(desk: Desk, at: str, message: str) -> dict[str, Any]:
    """Those of the kept ledger with its word and their page, whether or not a row of this revision speaks of them; then what only rows tell."""
    order = list(OPERATION_STATES)
    order.insert(0, order.pop(order.index("uncertain")))
    held = {ledger.key_in_rows(each): each for each in ledger.of_session(desk.session).select_related("run__session", "target").order_by("pk")}
    own = {op.key: held.get(op.key) or held.get(call_key(op)) for op in desk.derived.inspection.operations}
    kept = {key: each for key, each in own.items() if each is not None}
    listed = [op for op in desk.derived.inspection.operations if op.effect != "read-only" or op.state == "uncertain" or op.key in kept]
    listed.sort(key=lambda op: order.index(op.state) if op.state in order else len(order))
    spoken = {op.key for op in listed} | {kept[op.key].key for op in listed if op.key in kept}
    silent = [each for each in held.values() if each.key not in spoken]
    return {
        "operations": [_silent(each) for each in silent[:LIMIT]] + [_words(desk, op, kept.get(op.key)) for op in listed[:LIMIT]],
        "operations_left": max(0, len(listed) - LIMIT) + max(0, len(silent) - LIMIT),
        "report_href": reverse("report", args=[desk.session.pk]),
    }


def _words(desk: Desk, operation: Operation, kept: Kept | None) -> dict[str, Any]:
    """Template context of one operation: as the kept ledger has it, or else as the rows tell it."""
    asked = (
        operation.arguments if isinstance(operation.arguments, str) else json.dumps(operation.arguments, ensure_ascii=False, indent=1, default=str)
    )
    evidence = [{"says": safe_text(item.says), "row": item.row, "href": desk.row_href(item.row) if item.row else ""} for item in operation.evidence]
    return _badge(operation.state, kept) | {
        "tool": safe_text(operation.tool),
        "asked": safe_text(asked[:1500]),
        "effect": EFFECTS.get(operation.effect, operation.effect),
        "why_effect": safe_text(operation.why_effect),
        "target": safe_text(operation.target or ""),
        "links": [{"ref": ref, "href": desk.row_href(ref)} for ref in (operation.call, operation.result) if ref],
        "on_branch": operation.on_branch,
        "evidence": evidence,
    }


def _badge(state: str, kept: Kept | None) -> dict[str, Any]:
    if kept is None:
        chip, badge, sentence = OPERATION_STATES.get(state, ("plain", state, ""))
        return {"chip": chip, "badge": badge, "sentence": sentence}
    stands = standing(kept)
    return {"chip": stands.chip, "badge": stands.badge, "sentence": stands.sentence, "href": href(kept), "number": kept.pk}


def _silent(kept: Kept) -> dict[str, Any]:
    """An operation of the ledger of which no row of this revision speaks."""
    return _badge(kept.state, kept) | {
        "tool": safe_text(kept.tool), "asked": asked(kept), "effect": EFFECTS.get(kept.effect, kept.effect), "why_effect": safe_text(kept.why_effect),
        "target": safe_text(kept.target_text), "on_branch": True,
    }  # fmt: skip


def done(session: Session) -> list[dict[str, Any]]:
    """What was done, newest first: deeds and moves of the trail, and the boundaries that applications passed."""
    kept = {each.key: each for each in ledger.of_session(session)}
    found = []
    for entry in audit.entries(session=session.pk).exclude(action="checkpoint-saved")[:ENTRIES]:
        details = json.loads(entry.body)["details"]
        operation = kept.get(details.get("operation", "")) if isinstance(details.get("operation"), str) else None
        did = entry.action.replace("-", " ").capitalize()
        found.append({"at": entry.at, "by": entry.actor, "did": did, "number": entry.seq, "operation": operation, "words": ""})
    for passed in Checkpoint.objects.filter(run__session=session).select_related("operation").order_by("-pk")[:ENTRIES]:
        what = {"did": passed.get_kind_display(), "words": safe_text(passed.name), "mark": True}
        found.append({"at": passed.at, "by": passed.by, "operation": passed.operation} | what)
    return sorted(found, key=lambda each: each["at"], reverse=True)[:ENTRIES]
