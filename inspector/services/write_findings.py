"""Write what is judged of a revision, and what lists say of its session: findings, verdict, counts, title, times."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

from django.utils import timezone

from inspector.core import reading
from inspector.core.dialects.messages import messages_of
from inspector.core.findings import Severity
from inspector.core.session import RowKind
from inspector.models import Finding, Revision, Session
from inspector.models.text import clean
from inspector.queries.derivation import Derivation

SEVERITIES = {Severity.FATAL: "fatal", Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "infos"}
TALK = (RowKind.MESSAGE, RowKind.CONTEXT, RowKind.SYSTEM)
OF_A_REVISION = ("problems", "sent")
"""Counts that lists of sessions do not show."""
PROMPTS = 20_000
"""Characters of prompts that the inbox search looks in."""


def write_findings(revision: Revision, derivation: Derivation) -> None:
    """Write what is judged: findings, verdict and counts, and what lists say when the revision is the current one. Saves the revision."""
    revision.verdict, revision.summary, revision.counts = derivation.verdict, clean(derivation.summary), counts_of(derivation)
    revision.save()
    Finding.objects.bulk_create(
        [
            Finding(
                revision=revision, number=number, code=clean(found.code, 80), severity=str(found.severity), rows=list(found.rows),
                message=clean(found.message), repairable=found.repairable, operation=clean(found.operation, 200),
            )
            for number, found in enumerate(derivation.findings)
        ],
        batch_size=500,
    )  # fmt: skip
    session = revision.session
    if session.current_id == revision.pk:
        describe(session, revision, derivation)
        session.save()


def counts_of(derivation: Derivation) -> dict[str, int]:
    """The numbers that lists and the header show."""
    looked, message = derivation.inspection, RowKind.MESSAGE
    counts = {
        "rows": len(looked.session.rows),
        "messages": sum(1 for row in looked.session.main() if row.kind is message),
        "on_branch": len(looked.state.branch),
        "reached": len({place.row for place in looked.request.places if not place.row.startswith("+")}) if looked.request else 0,
        "open_operations": len(looked.operations_open()),
        "size": sum(len(part.data) for part in looked.session.source.parts),
        "problems": len(looked.request.problems) if looked.request else 0,
        "sent": len(messages_of(looked.request.body)) if looked.request else 0,
    } | dict.fromkeys(SEVERITIES.values(), 0)
    for finding in derivation.findings:
        counts[SEVERITIES[finding.severity]] += 1
    return counts


def describe(session: Session, revision: Revision, derivation: Derivation) -> None:
    """Set what lists say of the session to what its new current revision says. Saves nothing."""
    looked = derivation.inspection
    read = looked.session
    prompts = prompts_of(derivation, sidechain=session.relation == Session.Relation.SUB_AGENT)
    session.client = read.client
    if session.relation != Session.Relation.SUB_AGENT:  # its rows name the session that started it
        session.native_id = clean(read.id, 200)
    session.title = clean(read.title, 300)
    session.first_prompt = clean(prompts[0] if prompts else "", 300)
    session.folder = clean(newest_of(derivation, "cwd"), 1000)
    session.version = clean(read.version, 40)
    session.model = clean(looked.state.model, 120)
    session.live = clean(read.source.hints.get("live"), 300)
    session.summary = revision.summary
    session.verdict = Session.Verdict.LIVE if session.live else revision.verdict
    if session.relation == Session.Relation.SUB_AGENT and session.verdict == Session.Verdict.BLOCKED:
        # No client resumes it by itself: that is no fault of it.
        session.verdict, session.summary = Session.Verdict.FINISHED, "A sub-agent's conversation; it goes on only with the session that started it."
    session.status = Session.Status.FAILED if derivation.failed else Session.Status.READY
    session.picker, session.picker_reason = picker_of(session, derivation)
    session.last_activity = activity_of(session, revision, derivation)
    for name, count in revision.counts.items():
        if name not in OF_A_REVISION:
            setattr(session, name, count)
    said = (session.title, session.native_id, session.name, session.slug, session.folder, session.agent, *prompts)
    session.search = clean("\n".join(part for part in said if part).lower(), PROMPTS)


def prompts_of(derivation: Derivation, sidechain: bool) -> list[str]:
    """Beginnings of what the person typed, oldest first: rows of the role user whose text is no note of the client."""
    found, length = [], 0
    for row in derivation.inspection.session.main():
        if row.role == "user" and row.sidechain is sidechain:
            extra = row.extra
            text = (getattr(extra, "text", None) or "").strip()
            if text and not getattr(extra, "meta", False) and not getattr(extra, "compact_summary", False) and not text.startswith("<"):
                found.append(text)
                length += len(text)
                if length > PROMPTS:
                    break
    return found


def newest_of(derivation: Derivation, key: str) -> str | None:
    """The string under `key` in the newest of the last 200 rows of the conversation that has one."""
    read = derivation.inspection.session
    newest = itertools.islice((row for row in reversed(read.rows) if row.part == 0 and row.kind in TALK), 200)
    for row in newest:
        value = read.value(row)
        if isinstance(value, dict) and isinstance(value.get(key), str):
            return str(value[key])
    return None


def activity_of(session: Session, revision: Revision, derivation: Derivation) -> datetime:
    """When the client last wrote: the newest time of the rows as they were imported. Rows that a repair adds are no activity of the session."""
    known = session.last_activity
    if revision.kind == Revision.Kind.REPAIRED and known is not None:
        return known
    newest = newest_time(derivation) or known or timezone.now()
    origin = session.parent.last_activity if revision.kind == Revision.Kind.FORKED and session.parent else None
    return min(newest, origin) if origin is not None else newest


def newest_time(derivation: Derivation) -> datetime | None:
    """The newest valid timestamp of the rows, up to a day from now."""
    now = timezone.now()
    latest = max((row.at for row in derivation.inspection.session.rows if row.at and row.at[:2] == "20" and row.at.endswith("Z")), default=None)
    try:
        at = datetime.fromisoformat(latest) if latest else None
    except ValueError:
        return None
    return min(at.astimezone(UTC), now) if at else None


def picker_of(session: Session, derivation: Derivation) -> tuple[bool | None, str]:
    """Would the client's own list of sessions to resume offer this one, and if not, why."""
    looked = derivation.inspection
    if session.relation == Session.Relation.SUB_AGENT:
        return False, "a sub-agent's conversation is not offered by itself"
    listed = getattr(reading.CLIENTS[looked.session.client], "listed", None)
    if listed is None:
        return None, "not known for this client"
    why = listed(looked.session)
    return why is None, why or ""
