"""One operation: look at it, approve, withdraw, send, say how it ended, add evidence, claim what happened."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404

from inspector import answers
from inspector.models import Evidence, Operation
from inspector.services.add_evidence import add_evidence
from inspector.services.approve_operation import approve_operation
from inspector.services.cancel_operation import cancel_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.settle_operation import settle_operation

from .call import Call, Created, endpoint
from .runs import HELD, named


def _look(call: Call, pk: int) -> dict[str, Any]:
    return {"operation": answers.operation(_operation(pk))}


def _approve(call: Call, pk: int) -> Created:
    found = _operation(pk)
    given = approve_operation(operation=found, actor=call.user, **call.asked({"digest": str}))
    return Created({"approval": answers.approval(given), "operation": answers.operation(found)})


def _cancel(call: Call, pk: int) -> dict[str, Any]:
    return {"operation": answers.operation(cancel_operation(operation=_operation(pk), actor=call.user, **call.asked({"reason": str})))}


def _dispatch(call: Call, pk: int) -> dict[str, Any]:
    """The answer is the right to send, once, until `send_by`. Who does not get it must not send."""
    return {"operation": answers.operation(dispatch_operation(operation=_operation(pk), actor=call.user, **call.asked(HELD)))}


def _outcome(call: Call, pk: int) -> dict[str, Any]:
    asked = call.asked({**HELD, "end": str}, {"response": object, "reason": str})
    return {"operation": answers.operation(settle_operation(operation=_operation(pk), actor=call.user, **asked))}


def _evidence(call: Call, pk: int) -> Created:
    asked = call.form({"says": str, "url": str}, "file")
    return Created({"evidence": answers.evidence(add_evidence(operation=_operation(pk), actor=call.user, **asked))})


def _claim(call: Call, pk: int) -> Created:
    found = _operation(pk)
    asked = call.asked({"outcome": str, "statement": str, "evidence": list}, {"related": int, "effect_exists": bool})
    wanted = set(asked["evidence"])
    asked["evidence"] = list(Evidence.objects.filter(pk__in=wanted, operation=found).order_by("pk"))
    missing = wanted - {each.pk for each in asked["evidence"]}
    if missing:
        raise ValidationError({"evidence": f"Operation {pk} has no evidence {min(missing)}."})
    if "related" in asked:
        asked["related"] = named(Operation, asked["related"], "related")
    return Created({"claim": answers.claim(claim_outcome(operation=found, actor=call.user, **asked))})


def _operation(number: int) -> Operation:
    found = Operation.objects.select_related("run__session", "target").filter(pk=number).first()
    if found is None:
        raise Http404(f"There is no operation {number}.")
    return found


operation = endpoint(GET=_look)
approve = endpoint(POST=_approve)
cancel = endpoint(POST=_cancel)
dispatch = endpoint(POST=_dispatch)
outcome = endpoint(POST=_outcome)
evidence = endpoint(POST=_evidence)
claim = endpoint(POST=_claim)
