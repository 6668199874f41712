"""The answer of `inspect` as JSON values: the contract that scripts and pages share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .findings import Finding, Severity
from .inspection import Inspection

FORMS = ("all", "screen", "rows", "state", "request", "findings", "operations")


def verdict(inspection: Inspection, findings: list[Finding]) -> str:
    """ready | needs-repair | needs-reconciliation | live | blocked | finished."""
    if inspection.session.source.hints.get("live"):
        return "live"
    if inspection.state.refused is not None:
        return "blocked"
    if any(op.state == "uncertain" for op in inspection.operations):
        return "needs-reconciliation"
    if any(f.severity in (Severity.FATAL, Severity.ERROR) for f in findings):
        return "needs-repair"
    return "ready"


def answer(path: str, inspection: Inspection, findings: list[Finding], form: str = "all") -> dict[str, Any]:
    """One JSON document; the keys that `form` asks for are present."""
    session, state, request = inspection.session, inspection.state, inspection.request
    doc: dict[str, Any] = {
        "path": path,
        "client": session.client,
        "client_version": state.version,
        "session": session.id,
        "verdict": verdict(inspection, findings),
        "summary": "",
        "refused": state.refused,
    }
    wants = FORMS if form == "all" else (form,)
    if "rows" in wants:
        on_branch = set(state.branch)
        doc["rows"] = [
            {
                "ref": row.ref, "part": session.source.parts[row.part].name, "start": row.start, "end": row.end, "kind": str(row.kind),
                "type": row.type, "id": row.id, "parent": row.parent, "at": row.at, "on_branch": row.ref in on_branch,
            }
            for row in session.rows
        ]  # fmt: skip
    if "screen" in wants:
        doc["screen"] = [asdict(item) for item in inspection.screen]
    if "state" in wants:
        doc["state"] = {"messages": len(state.messages), "facts": [asdict(fact) for fact in state.facts]}
    if "request" in wants:
        doc["request"] = None
        if request is not None:
            doc["request"] = {
                "dialect": request.dialect, "model": request.model, "body": request.body, "added_at_send": request.added_at_send,
                "places": [asdict(place) for place in request.places], "drops": [asdict(drop) for drop in request.drops],
                "problems": [asdict(problem) for problem in request.problems],
            }  # fmt: skip
            if request.runs_first is not None:
                doc["request"]["runs_first"] = request.runs_first
        doc["recorded_request"] = None if inspection.recorded is None else asdict(inspection.recorded)
    if "findings" in wants:
        doc["findings"] = [asdict(finding) for finding in findings]
    if "operations" in wants:
        doc["operations"] = [asdict(operation) for operation in inspection.operations]
    return doc
