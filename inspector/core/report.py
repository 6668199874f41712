"""The answer of `inspect` as JSON values: the contract that scripts and pages share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from . import wording
from .findings import Finding, Severity
from .inspection import Inspection
from .operations import left_out, only_kept

FORMS = ("all", "screen", "rows", "state", "request", "findings", "operations")


def verdict(inspection: Inspection, findings: list[Finding]) -> str:
    """ready | needs-repair | needs-reconciliation | live | blocked | finished."""
    if inspection.session.source.hints.get("live"):
        return "live"
    if inspection.state.refused is not None and not inspection.state.finished:
        return "blocked"
    if any(op.state == "uncertain" for op in inspection.operations):
        return "needs-reconciliation"
    if inspection.state.refused is not None:
        return "finished"
    if any(f.severity in (Severity.FATAL, Severity.ERROR) for f in findings):
        return "needs-repair"
    return "finished" if inspection.state.finished else "ready"


def summary(inspection: Inspection, findings: list[Finding]) -> str:
    """One sentence for a person: what state it is in, what may have happened, what to do next."""
    state = inspection.state
    said = verdict(inspection, findings)
    if said == "live":
        return f"A client may have this session open ({inspection.session.source.hints['live']}): close it first."
    if said == "finished" and state.refused is not None:
        return f"Nothing is left to do: {state.refused}."
    if said == "blocked":
        return f"This session can't be resumed: {state.refused}."
    blocking = [finding for finding in findings if finding.severity in (Severity.FATAL, Severity.ERROR)]
    if said == "needs-reconciliation":
        uncertain = [each for each in inspection.operations if each.state == "uncertain" and (each.call or left_out(each) or only_kept(each))]
        if not uncertain:
            return "A tool may have run without any row that says so: look at what it could have changed before anybody goes on."
        more = f" and {wording.count(len(uncertain) - 1, 'other call')}" if len(uncertain) > 1 else ""
        named = wording.operation(uncertain[-1].tool, uncertain[-1].arguments)
        return f"Nobody knows whether {named}{more} happened: check the target before anything is repeated."
    if said == "needs-repair":
        more = f" ({wording.count(len(blocking) - 1, 'more fault')})" if len(blocking) > 1 else ""
        return f"Repair it first: {wording.clause(blocking[0].message)}{more}."
    known = [finding for finding in findings if finding.severity is Severity.WARNING]
    sent = wording.count(len(state.messages), "message")
    if said == "finished" and not known:
        return f"Finished: no task is left, and a resume without new input does nothing. The conversation holds {sent}."
    if not known:
        return f"Nothing is wrong: the next request would hold {sent}."
    more = f" ({wording.count(len(known) - 1, 'more thing')} to know)" if len(known) > 1 else ""
    return f"The next request would hold {sent}; note that {wording.clause(known[-1].message)}{more}."


def simulated_note(inspection: Inspection) -> str | None:
    """What a person must know where the release that was asked for is not the one that was simulated."""
    asked, simulated = inspection.resume_as.version, inspection.state.version
    if asked is None or asked == simulated or inspection.session.client == "raw":
        return None
    return f"{asked} was not observed; simulated as {simulated}"


def answer(path: str, inspection: Inspection, findings: list[Finding], form: str = "all") -> dict[str, Any]:
    """One JSON document; the keys that `form` asks for are present."""
    session, state, request = inspection.session, inspection.state, inspection.request
    doc: dict[str, Any] = {
        "path": path,
        "client": session.client,
        "client_version": state.version,
        "session": session.id,
        "verdict": verdict(inspection, findings),
        "summary": summary(inspection, findings),
        "refused": state.refused,
        "simulated_note": simulated_note(inspection),
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
                "places": [asdict(place) for place in request.places], "drops": [drop._asdict() for drop in request.drops],
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
