"""One claim: decide what another person said happened, or take back one's own."""

from __future__ import annotations

from typing import Any

from django.http import Http404

from inspector import answers
from inspector.models import Claim
from inspector.services.decide_claim import decide_claim
from inspector.services.withdraw_claim import withdraw_claim

from .call import Call, endpoint


def _decide(call: Call, pk: int) -> dict[str, Any]:
    decided = decide_claim(claim=_claim(pk), actor=call.user, **call.asked({"digest": str, "approve": bool}, {"note": str}))
    return {"claim": answers.claim(decided)}


def _withdraw(call: Call, pk: int) -> dict[str, Any]:
    return {"claim": answers.claim(withdraw_claim(claim=_claim(pk), actor=call.user, note=call.asked({}, {"note": str}).get("note", "")))}


def _claim(number: int) -> Claim:
    found = Claim.objects.select_related("operation__run__session").filter(pk=number).first()
    if found is None:
        raise Http404(f"There is no claim {number}.")
    return found


decide = endpoint(POST=_decide)
withdraw = endpoint(POST=_withdraw)
