"""Runs: register the work that goes on, hold its lease, list and propose its operations, note checkpoints."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404
from django.urls import reverse

from inspector import answers
from inspector.models import Operation, Run
from inspector.queries import ledger
from inspector.services.propose_operation import propose_operation
from inspector.services.register_run import register_run
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease
from inspector.services.save_checkpoint import save_checkpoint
from inspector.services.take_over import take_over

from .call import Call, Created, endpoint

PAGE = 100
"""Operations of one answer."""
HELD = {"holder": str, "fence": int}
"""What proves a lease."""


def _register(call: Call) -> dict[str, Any]:
    return {"run": answers.run(register_run(actor=call.user, **call.asked({"client": str, "name": str})))}


def _take(call: Call, run: int) -> Created:
    return Created({"lease": answers.lease(take_over(run=_run(run), actor=call.user, **call.asked({"holder": str}, {"seconds": int})))})


def _renew(call: Call, run: int) -> dict[str, Any]:
    return {"lease": answers.lease(renew_lease(run=_run(run), actor=call.user, **call.asked(HELD, {"seconds": int})))}


def _release(call: Call, run: int) -> dict[str, Any]:
    release_lease(run=_run(run), actor=call.user, **call.asked(HELD))
    return {"released": True}


def _operations(call: Call, run: int) -> dict[str, Any]:
    """Newest first; `state` picks one state, `before` goes on behind an operation."""
    state, before = call.request.GET.get("state", ""), call.request.GET.get("before", "")
    if state and state not in Operation.State.values:
        raise ValidationError({"state": f"There is no state {state!r}. States: {', '.join(Operation.State.values)}."})
    if before and not (before.isdecimal() and len(before) < 18):
        raise ValidationError({"before": "It must be the number of an operation."})
    found = ledger.of_run(_run(run)).select_related("run", "target").order_by("-pk")
    found = found.filter(state=state) if state else found
    page = list(found.filter(pk__lt=int(before))[: PAGE + 1] if before else found[: PAGE + 1])
    further = None
    if len(page) > PAGE:
        further = f"{reverse('api-run-operations', args=[run])}?{f'state={state}&' if state else ''}before={page[PAGE - 1].pk}"
    return {"operations": [ledger.as_json(each) for each in page[:PAGE]], "next": further}


def _propose(call: Call, run: int) -> Created:
    wanted = {"intent": str, "call_id": str, "target": str, "environment": str, "idempotency_key": str, "retry_of": int}
    asked = call.asked({"tool": str, "arguments": object}, wanted)
    if "retry_of" in asked:
        asked["retry_of"] = named(Operation, asked["retry_of"], "retry_of")
    return Created({"operation": answers.operation(propose_operation(run=_run(run), actor=call.user, **asked))})


def _checkpoint(call: Call, run: int) -> Created:
    asked = call.asked({**HELD, "kind": str, "name": str}, {"details": object, "operation": int})
    if "operation" in asked:
        asked["operation"] = named(Operation, asked["operation"], "operation")
    return Created({"checkpoint": answers.checkpoint(save_checkpoint(run=_run(run), actor=call.user, **asked))})


def _run(number: int) -> Run:
    found = Run.objects.select_related("session").filter(pk=number).first()
    if found is None:
        raise Http404(f"There is no run {number}.")
    return found


def named(model: Any, number: int, field: str) -> Any:
    """What a field of the body names. Raises ValidationError."""
    found = model.objects.filter(pk=number).first()
    if found is None:
        raise ValidationError({field: f"There is no {model._meta.model_name} {number}."})
    return found


runs = endpoint(POST=_register)
lease = endpoint(POST=_take, PATCH=_renew, DELETE=_release)
operations = endpoint(GET=_operations, POST=_propose)
checkpoints = endpoint(POST=_checkpoint)
