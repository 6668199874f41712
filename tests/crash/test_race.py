"""Fifty processes want one lease: one holds it at a time, its number only grows, and nothing is written under a lease that is gone."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from inspector.models import Approval, AuditEntry, Checkpoint, Lease, Operation, Run
from inspector.queries import audit, ledger
from inspector.services.register_run import register_run

from .workshop import Workshop

PROCESSES, ROUNDS, SECONDS, POOL = 50, 2, 3.0, 400
TICK = 0.001
"""Seconds that SQLite's clock may lag behind: it counts milliseconds."""
UNDER_LEASE = ("lease-renewed", "lease-released", "checkpoint-saved", "operation-dispatched", "operation-confirmed")


@pytest.fixture
def run(transactional_db: None, owner: User, team_mate: User) -> Run:
    """A run with a pool of operations that are approved and wait to be sent."""
    run = register_run(actor=owner, client="race", name="one-lease")
    common = {"run": run, "origin": "live", "client": "race", "tool": "refund", "target_kind": "http-service", "effect": "mutating", "policy": "none"}
    pool = [Operation(**common, key=f"k{n}", intent=f"i{n}", state="approved", proposer=owner) for n in range(POOL)]
    for operation in pool:
        operation.digest = ledger.digest_of(operation)
    until = timezone.now() + timedelta(hours=1)
    Operation.objects.bulk_create(pool)
    Approval.objects.bulk_create([Approval(operation=each, digest=each.digest, approver=team_mate, expires_at=until) for each in pool])
    return run


def held(run: Run, start: int) -> dict[str, int]:
    """Follow the trail, which is in the order of the writes: each was made under the lease that was taken last. Returns counts by action."""
    fence, counts = 0, dict.fromkeys(("lease-taken", "operation-uncertain", *UNDER_LEASE), 0)
    for action, body in AuditEntry.objects.filter(seq__gt=start).order_by("seq").values_list("action", "body"):
        details = json.loads(body)["details"]
        if details.get("run") != run.pk or action not in counts:
            continue
        counts[action] += 1
        if action == "lease-taken":
            assert details["fence"] == fence + 1
            fence = details["fence"]
        elif action != "operation-uncertain":
            assert details["fence"] == fence, f"{action} under {details['fence']} when {fence} was current"
    return counts


def test_of_fifty_processes_one_holds_the_lease(run: Run, workshop: Workshop, owner: User, team_mate: User, tmp_path: Path) -> None:
    begun, start = time.monotonic(), AuditEntry.objects.count()
    starts = [tmp_path / f"start-{number}" for number in range(ROUNDS)]
    job = {"do": "race", "run": run.pk, "user": owner.pk, "second": team_mate.pk, "starts": [str(each) for each in starts]}
    racers = [workshop.start(job | {"name": f"racer-{number}"}) for number in range(PROCESSES)]
    for number, file in enumerate(starts):
        for each in racers:
            each.come_to(f"ready-{number}")
        (tmp_path / "draft").write_text(str(time.time() + SECONDS))
        (tmp_path / "draft").rename(file)
    assert [each.wait() for each in racers] == [0] * PROCESSES
    answers = [each.answer() for each in racers]
    total = {name: sum(each["counts"][name] for each in answers) for name in answers[0]["counts"]}
    grants = sorted((grant for each in answers for grant in each["grants"]), key=lambda grant: grant["fence"])
    written = held(run, start)
    assert [grant["fence"] for grant in grants] == list(range(1, len(grants) + 1)) and len(grants) == written["lease-taken"] >= ROUNDS
    for earlier, later in zip(grants, grants[1:], strict=False):
        assert later["from"] >= earlier["until"] - TICK, "two held it at the same time"
    assert Lease.objects.get(run=run).fence == len(grants)
    assert total["stale-tries"] == total["stale-refused"] > 0
    assert not Checkpoint.objects.filter(name="late").exists() and not Operation.objects.filter(response="late").exists()
    assert run.checkpoints.count() == written["checkpoint-saved"]
    assert Operation.objects.exclude(state="approved").count() == written["operation-dispatched"]
    assert audit.verify_chain().bad is None
    print(
        f"\n{connection.vendor}: {PROCESSES} processes x {ROUNDS} rounds, {time.monotonic() - begun:.1f} s: {total['attempts']} attempts, "
        f"{len(grants)} leases granted, {total['busy']} busy, {total['writes']} writes, {total['stale-refused']} of {total['stale-tries']} "
        f"stale writes refused, {written['operation-uncertain']} left unknown"
    )
