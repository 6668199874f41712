"""What holds of the ledger at every moment, whatever was done: asked of the rows themselves, without the services."""

from __future__ import annotations

import json
from collections import Counter

from inspector.models import Approval, AuditEntry, Claim, Operation, Run

OPEN = ("proposed", "approved", "dispatched", "uncertain")
FINAL = ("confirmed", "failed", "cancelled", "expired")
MOVES = {
    ("proposed", "approved"), ("proposed", "cancelled"), ("approved", "cancelled"), ("approved", "expired"), ("approved", "dispatched"),
    ("dispatched", "confirmed"), ("dispatched", "failed"), ("dispatched", "uncertain"), ("uncertain", "dispatched"), ("uncertain", "resolved"),
    ("resolved", "resolved"), ("uncertain", "confirmed"),
}  # fmt: skip
REFUSED = ("failed", "not-applied")


def settled(operation: Operation) -> str:
    return operation.outcome or operation.state


def rows_fit(run: Run) -> tuple[list[Operation], list[Claim]]:
    """What must hold of each row, and of the rows among each other. Returns the operations, and the claims that nobody has decided."""
    operations = list(run.operations.select_related("retry_of", "target").order_by("pk"))
    open_ones = Counter(each.intent for each in operations if each.state in OPEN)
    happened = Counter(each.intent for each in operations if settled(each) in ("confirmed", "applied"))
    for intent, count in (open_ones + happened).items():
        assert count <= 1, f"{intent} is open or has happened {count} times"
    approvals: dict[int, list[Approval]] = {each.pk: [] for each in operations}
    for approval in Approval.objects.filter(operation__run=run):
        approvals[approval.operation_id].append(approval)
    claims: dict[int, list[Claim]] = {each.pk: [] for each in operations}
    made = list(Claim.objects.filter(operation__run=run, state__in=("open", "approved")).order_by("pk").prefetch_related("evidence"))
    for claim in made:
        if claim.state == "approved":
            claims[claim.operation_id].append(claim)
    for each in operations:
        for approval in approvals[each.pk]:
            assert approval.approver_id != each.proposer_id, "approved by who proposed it"
            assert approval.used_at is None or approval.used_at <= approval.expires_at, "used after it ran out"
        assert (each.state == "resolved") == bool(each.outcome) == bool(claims[each.pk]), (
            "resolved without a claim, or claimed without being resolved"
        )
        for claim in claims[each.pk]:
            assert claim.decided_by_id != claim.claimant_id, "decided by who claimed it"
            assert claim.evidence.all(), "claimed without evidence"
        if each.retry_of is not None:
            assert settled(each.retry_of) in REFUSED, "tried again though it may have happened"
    return operations, [claim for claim in made if claim.state == "open"]


def kept_well(run: Run) -> None:
    """From the trail: every state was reached by allowed moves, each written down once, under the lease then current."""
    states: dict[str, str] = {}
    fence, sendings = 0, Counter[str]()
    for action, body in AuditEntry.objects.order_by("seq").values_list("action", "body"):
        details = json.loads(body)["details"]
        if details.get("run") != run.pk or action.startswith("refused-"):
            continue
        if action == "lease-taken":
            assert details["fence"] == fence + 1, "the number of the lease did not grow by one"
            fence = details["fence"]
        if "to" not in details:
            continue
        key, to = details["operation"], details["to"]
        assert key not in states if "from" not in details else states[key] == details["from"], f"{key}: a move is missing from the trail"
        assert "from" not in details or (details["from"], to) in MOVES, f"{key}: {details['from']} became {to}"
        if "fence" in details:
            assert details["fence"] == fence, f"{key}: written under an earlier lease"
        sendings[key] += to == "dispatched"
        states[key] = to
    for operation in run.operations.all():
        assert states[operation.key] == operation.state, f"{operation.key} is {operation.state} without an entry"
        used = operation.approvals.exclude(used_at=None).count()
        assert used == sendings[operation.key], f"{operation.key} was sent {sendings[operation.key]} times with {used} approvals"
