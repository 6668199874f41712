"""One of many processes that want the same lease, and that do not always notice when they have lost it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Racer:
    """Takes the lease, writes under it, gives it back or lets it run out, and sometimes goes on writing after that."""

    def __init__(self, job: dict[str, Any]) -> None:
        from django.contrib.auth.models import User

        from inspector.models import Run

        self.name, self.chance = job["name"], random.Random(job["name"])
        self._warm_up(job)
        self.run, self.user = Run.objects.get(pk=job["run"]), User.objects.get(pk=job["user"])
        self.second = User.objects.get(pk=job["second"])
        self.grants: list[dict[str, Any]] = []
        self.counts = {"attempts": 0, "busy": 0, "writes": 0, "stale-tries": 0, "stale-refused": 0}

    def _warm_up(self, job: dict[str, Any]) -> None:
        """Everything once, with a run of its own: a new connection's first steps are slow, and are no part of the race."""
        from django.contrib.auth.models import User

        from inspector.services.register_run import register_run
        from inspector.services.release_lease import release_lease
        from inspector.services.save_checkpoint import save_checkpoint
        from inspector.services.take_over import take_over

        user = User.objects.get(pk=job["user"])
        run = register_run(actor=user, client="race", name=self.name)
        own = {"run": run, "actor": user, "holder": self.name}
        fence = take_over(**own).fence
        save_checkpoint(**own, fence=fence, kind="completed-read", name="warm")
        release_lease(**own, fence=fence)

    def race(self, until: float) -> None:
        from inspector.services.moves import Refused
        from inspector.services.take_over import take_over

        while time.time() < until:
            self.counts["attempts"] += 1
            try:
                lease = take_over(run=self.run, actor=self.user, holder=self.name, seconds=1)
            except Refused as refused:
                assert refused.code == "busy"
                self.counts["busy"] += 1
                time.sleep(self.chance.uniform(0.1, 0.8))
                continue
            self._hold(lease)

    def _hold(self, lease: Any) -> None:
        """Write a few times, then give the lease back, or forget it and write once more after it has run out."""
        from inspector.services.moves import Refused
        from inspector.services.release_lease import release_lease

        grant = {"fence": lease.fence, "from": lease.taken_at.timestamp(), "until": lease.expires_at.timestamp()}
        self.grants.append(grant)
        own = {"actor": self.user, "holder": self.name, "fence": lease.fence}
        sent = None
        try:
            self._find_out()
            for _ in range(self.chance.randint(1, 3)):
                sent = self._write(own, grant) or sent
            if self.chance.random() < 0.7:
                given_back = time.time()
                release_lease(run=self.run, **own)
                grant["until"] = given_back
            else:
                time.sleep(max(0.0, grant["until"] - time.time()) + 0.02)
        except Refused as refused:  # it ran out while this process waited for its turn
            assert refused.code == "stale-lease", refused
            self.counts["stale-tries"] += 1
            self.counts["stale-refused"] += 1
        if time.time() > grant["until"]:
            self._write_late(own, sent)

    def _find_out(self) -> None:
        """What the holder before left unknown is settled by two people, or nothing else of the run may be sent."""
        from inspector.models import Operation
        from inspector.services.add_evidence import add_evidence
        from inspector.services.claim_outcome import claim_outcome
        from inspector.services.decide_claim import decide_claim
        from inspector.services.moves import Refused

        for operation in Operation.objects.filter(run=self.run, state="uncertain"):
            try:
                seen = add_evidence(operation=operation, actor=self.user, says="It stands in the books.")
                claim = claim_outcome(operation=operation, actor=self.user, outcome="applied", statement="I looked it up.", evidence=[seen])
                decide_claim(claim=claim, actor=self.second, digest=claim.digest, approve=True)
            except Refused as refused:  # another process does the same
                assert refused.code in ("open-claim", "not-uncertain", "changed-meanwhile"), refused

    def _write(self, own: dict[str, Any], grant: dict[str, Any]) -> Any:
        """One protected write of a kind that chance names; an operation that was dispatched and not settled yet, if that was it."""
        from inspector.models import Operation
        from inspector.services.dispatch_operation import dispatch_operation
        from inspector.services.moves import Refused
        from inspector.services.renew_lease import renew_lease
        from inspector.services.save_checkpoint import save_checkpoint
        from inspector.services.settle_operation import settle_operation

        kind = self.chance.choice(["operation", "checkpoint", "renew"])
        approved = Operation.objects.filter(run=self.run, state="approved").order_by("?").first() if kind == "operation" else None
        if approved is not None:
            try:
                sent = dispatch_operation(operation=approved, **own)
            except Refused as refused:
                if refused.code == "run-uncertain":  # another process is still finding out
                    return None
                raise
            self.counts["writes"] += 1
            if self.chance.random() < 0.2:
                return sent
            settle_operation(operation=sent, **own, end="confirmed", response={"by": self.name, "fence": own["fence"]})
        elif kind == "renew":
            grant["until"] = renew_lease(run=self.run, **own, seconds=1).expires_at.timestamp()
        else:
            save_checkpoint(run=self.run, **own, kind="completed-read", name=self.name, details={"fence": own["fence"]})
        self.counts["writes"] += 1
        return None

    def _write_late(self, own: dict[str, Any], sent: Any) -> None:
        """What a worker does that has not noticed that its lease is gone."""
        from inspector.services.moves import Refused
        from inspector.services.renew_lease import renew_lease
        from inspector.services.save_checkpoint import save_checkpoint
        from inspector.services.settle_operation import settle_operation

        tries: list[Callable[[], Any]] = [
            lambda: save_checkpoint(run=self.run, **own, kind="completed-read", name="late", details={"fence": own["fence"]}),
            lambda: renew_lease(run=self.run, **own),
        ]
        if sent is not None:
            tries.append(lambda: settle_operation(operation=sent, **own, end="confirmed", response="late"))
        for attempt in tries:
            self.counts["stale-tries"] += 1
            try:
                attempt()
            except Refused as refused:
                assert refused.code == "stale-lease"
                self.counts["stale-refused"] += 1


def compete(job: dict[str, Any]) -> dict[str, Any]:
    """For each round: say that this process is ready, wait for the start, race until the time that it names. Every grant, and counts of tries."""
    racer = Racer(job)
    for number, start in enumerate(map(Path, job["starts"])):
        (Path(job["files"]) / f"ready-{number}").touch()
        while not start.exists():
            time.sleep(0.02)
        racer.race(until=float(start.read_text()))
    return {"grants": racer.grants, "counts": racer.counts}
