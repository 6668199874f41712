"""The gate before a session goes on: look at its conditions, claim it, keep or give back the lease, fetch the files of the ticket."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse

from inspector import answers
from inspector.models import RevisionPart, Session
from inspector.queries import readiness
from inspector.services.claim_session import SECONDS, claim_session
from inspector.services.export_session import export_part
from inspector.services.moves import Refused
from inspector.services.register_run import run_of
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease

from .call import Call, Problem, endpoint
from .runs import HELD


def _readiness(call: Call, pk: int) -> dict[str, Any]:
    session = _session(pk)
    lines = readiness.lines(session)
    return {"session": pk, "ready": all(line.passed for line in lines), "lines": answers.lines(lines, session)}


def _claim(call: Call, pk: int) -> dict[str, Any]:
    session = _session(pk)
    asked = call.asked({"holder": str}, {"seconds": int, "source_sha256": str, "permission_mode": str, "attested": bool})
    seconds = asked.pop("seconds", SECONDS)
    asked["attested"] = call.user.get_username() if asked.get("attested") else ""
    try:
        return {"ticket": answers.ticket(claim_session(session=session, actor=call.user, asked=readiness.Asked(**asked), seconds=seconds))}
    except Refused as refused:
        raise Problem(409, **answers.refusal(refused, session)) from None


def _renew(call: Call, pk: int) -> dict[str, Any]:
    return {"lease": answers.lease(renew_lease(run=run_of(_session(pk)), actor=call.user, **call.asked(HELD, {"seconds": int})))}


def _release(call: Call, pk: int) -> dict[str, Any]:
    release_lease(run=run_of(_session(pk)), actor=call.user, **call.asked(HELD))
    return {"released": True}


def _part(call: Call, pk: int, revision: int, part: int) -> StreamingHttpResponse:
    """The exact bytes; who may export may have them."""
    found = _session(pk).revisions.select_related("session").filter(number=revision).first()
    if found is None:
        raise Http404(f"Session {pk} has no revision {revision}.")
    try:
        kept, pieces = export_part(revision=found, number=part, actor=call.user)
    except RevisionPart.DoesNotExist:
        raise Http404(f"Revision {revision} hands out no part {part}.") from None
    answer = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    answer["Content-Length"], answer["X-Content-SHA256"] = str(kept.artifact.size), kept.artifact_id
    return answer


def _session(number: int) -> Session:
    found = Session.objects.select_related("current").filter(pk=number).first()
    if found is None:
        raise Http404(f"There is no session {number}.")
    return found


conditions = endpoint(GET=_readiness)
claim = endpoint(POST=_claim)
renew = endpoint(POST=_renew)
release = endpoint(POST=_release)
part = endpoint(GET=_part)
