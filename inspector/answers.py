"""What the API and `manage.py gate` answer: nouns of the ledger as JSON, with the addresses of the pages where a person goes on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse

from inspector.models import Approval, Checkpoint, Claim, Evidence, Lease, Operation, Revision, Run, Session
from inspector.queries import ledger, readiness
from inspector.queries.artifacts import files_of
from inspector.services.claim_session import Ticket
from inspector.services.export_session import resume_command
from inspector.services.moves import Refused


def run(run: Run) -> dict[str, Any]:
    """A run, and who holds it now."""
    held = Lease.objects.filter(run=run).first()
    return {"id": run.pk, "client": run.client, "name": run.name, "session": run.session_id, "lease": lease(held) if held else None}


def lease(lease: Lease) -> dict[str, Any]:
    """A lease, also one that has run out."""
    return {"run": lease.run_id, "holder": lease.holder, "fence": lease.fence, "expires_at": _iso(lease.expires_at)}


def operation(operation: Operation) -> dict[str, Any]:
    """An operation with all that was approved, found and said of it."""
    return ledger.as_json(operation) | {
        "approvals": [approval(each) for each in operation.approvals.select_related("approver")],
        "evidence": [evidence(each) for each in operation.evidence.select_related("by", "probe")],
        "claims": [claim(each) for each in operation.claims.select_related("claimant", "decided_by")],
    }


def approval(approval: Approval) -> dict[str, Any]:
    """An approval and whether it was used."""
    return {
        "id": approval.pk, "digest": approval.digest, "approver": _name(approval.approver), "alone": approval.alone,
        "given_at": _iso(approval.given_at), "expires_at": _iso(approval.expires_at), "used_at": _iso(approval.used_at),
    }  # fmt: skip


def evidence(evidence: Evidence) -> dict[str, Any]:
    """A piece of evidence; a file by its name and hash."""
    return {
        "id": evidence.pk, "operation": evidence.operation_id, "kind": evidence.kind, "says": evidence.says, "url": evidence.url or None,
        "file_name": evidence.file_name or None, "sha256": evidence.sha256 or None, "probe": evidence.probe.name if evidence.probe else None,
        "verdict": evidence.verdict or None, "details": evidence.details, "by": _name(evidence.by), "at": _iso(evidence.at),
    }  # fmt: skip


def claim(claim: Claim) -> dict[str, Any]:
    """A claim with the digest that whoever decides it sends back."""
    return {
        "id": claim.pk, "operation": claim.operation_id, "outcome": claim.outcome, "statement": claim.statement, "digest": claim.digest,
        "evidence": list(claim.evidence.order_by("pk").values_list("pk", flat=True)), "related": claim.related_id,
        "effect_exists": claim.effect_exists, "claimant": _name(claim.claimant), "made_at": _iso(claim.made_at), "state": claim.state,
        "decided_by": _name(claim.decided_by), "decided_at": _iso(claim.decided_at), "note": claim.decision_note or None, "alone": claim.alone,
    }  # fmt: skip


def checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    """A business boundary that was passed."""
    return {
        "id": checkpoint.pk, "run": checkpoint.run_id, "kind": checkpoint.kind, "name": checkpoint.name, "details": checkpoint.details,
        "operation": checkpoint.operation_id, "by": checkpoint.by, "at": _iso(checkpoint.at),
    }  # fmt: skip


def lines(lines: list[readiness.Line], session: Session) -> list[dict[str, Any]]:
    """The conditions of a resume, each with the page where it is looked at; `probe` is the name of one that has to be run."""
    return [
        {
            "name": each.name, "passed": each.passed, "says": each.says, "link": page_of(each, session), "operation": each.operation,
            "probe": each.details.get("probe"),
        }
        for each in lines
    ]  # fmt: skip


def page_of(line: readiness.Line, session: Session) -> str:
    """Where a person puts right what a line says."""
    if line.operation is not None:
        return reverse("operation", args=[line.operation])
    return reverse("inbox") if line.name == "source" else reverse("repair" if line.name == "transcript" else "session", args=[session.pk])


def refusal(refused: Refused, session: Session | None = None) -> dict[str, Any]:
    """`code` and `says` of a refusal with its details; the gate's lines need their session."""
    details = dict(refused.details)
    if session is not None and "lines" in details:
        details["lines"] = lines(details["lines"], session)
    return {"code": refused.code, "says": refused.says} | details


def ticket(ticket: Ticket) -> dict[str, Any]:
    """The right to go on, with the files to go on with and what must not be done again."""
    files = [
        {"name": place, "sha256": part.artifact_id, "size": part.artifact.size, "url": _part(ticket.revision, part.number)}
        for place, part in files_of(ticket.revision)
    ]
    return {
        "session": ticket.session.pk, "run": ticket.lease.run_id, "revision": ticket.revision.number, "digest": ticket.revision.digest,
        "holder": ticket.lease.holder, "fence": ticket.lease.fence, "expires_at": _iso(ticket.lease.expires_at),
        "transcript": files[0], "files": files, "resume": resume_command(ticket.revision) or None,
        "completed": [ledger.as_json(each) for each in ticket.completed], "allowed": [ledger.as_json(each) for each in ticket.allowed],
        "forbidden": [ledger.as_json(each) for each in ticket.forbidden], "lines": lines(ticket.lines, ticket.session),
        "audit_head": ticket.audit_head,
    }  # fmt: skip


def _part(revision: Revision, number: int) -> str:
    return reverse("api-part", args=[revision.session_id, revision.number, number])


def _name(user: Any) -> str | None:
    return user.get_username() if user else None


def _iso(when: datetime | None) -> str | None:
    return when.isoformat() if when else None
