"""Workers as real processes: this program imports Django once and then forks one process for each job it is told, which may die anywhere.

Orders come as JSON lines on standard input: `{"start": JOB}` answers with the process's number, `{"wait": NUMBER}` with its exit code.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

KILLED = 9
POINTS = ("before-intent", "after-intent", "sent", "committed", "response", "after-persist")


class Points:
    """The named points of a job: at one of them the process may die, or sleep until it is woken."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.ending, self.at, self.files = job.get("ending"), job.get("at"), Path(job["files"])

    def reach(self, point: str) -> float:
        """Seconds of the sleep, 0 where there was none."""
        if point != self.at:
            return 0
        if self.ending == "killed":
            os._exit(KILLED)
        (self.files / "asleep").touch()
        while not (woken := self.files / "woken").exists():
            time.sleep(0.005)
        return float(woken.read_text())


def carry_out(job: dict[str, Any]) -> list[str]:
    """What a well-behaved worker does for one operation. Returns what became of each step."""
    from django.contrib.auth.models import User

    from inspector.models import Operation
    from inspector.services.dispatch_operation import dispatch_operation
    from inspector.services.moves import Refused
    from inspector.services.save_checkpoint import save_checkpoint
    from inspector.services.settle_operation import settle_operation

    points, asleep = Points(job), 0.0
    user, operation = User.objects.get(pk=job["user"]), Operation.objects.get(pk=job["operation"])
    lease = {"actor": user, "holder": job["holder"], "fence": job["fence"]}
    did = []
    try:
        asleep += points.reach("before-intent")
        if job["kind"] == "same-database":
            _bound(operation, points, lease)
        else:
            sent = dispatch_operation(operation=operation, **lease)
            did.append("dispatched")
            asleep += points.reach("after-intent")
            answer, reason = _send(sent, points, job, asleep)
            end = "confirmed" if answer else "uncertain"
            settle_operation(operation=sent, **lease, end=end, response=answer and {"effect": answer}, reason=reason)
        did.append("settled")
        asleep += points.reach("after-persist")
        save_checkpoint(run=operation.run, **lease, kind="resolved-mutation", name=operation.key, operation=operation)
        did.append("checkpoint")
    except Refused as refused:
        did.append(refused.code)
    return did


def _send(operation: Any, points: Points, job: dict[str, Any], asleep: float) -> tuple[int | None, str]:
    """The effect's number and why there is none. A worker that woke up too late does not send."""
    from datetime import timedelta

    from django.utils import timezone

    from .downstream import Downstream, NoAnswer

    if timezone.now() + timedelta(seconds=asleep) > operation.send_by:
        return None, "it was too late to send it"
    try:
        answer = Downstream(Path(job["store"]), knows_keys=job["kind"] == "key").receive(operation.intent, operation.idempotency_key, points.reach)
    except NoAnswer:
        return None, "no answer came"
    points.reach("response")
    return answer, ""


def _bound(operation: Any, points: Points, lease: dict[str, Any]) -> None:
    from django.db import connection, transaction

    from inspector.services.bind_operation import bind_operation

    with bind_operation(operation=operation, **lease):
        points.reach("after-intent")
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO crash_effects (business_id) VALUES (%s)", [operation.intent])
        points.reach("sent")
        transaction.on_commit(lambda: points.reach("committed") and None)
    points.reach("response")


def restart(job: dict[str, Any]) -> list[str]:
    """A worker that died, started again with the lease that it remembers: it tries everything. Returns the answer to each try."""
    from django.contrib.auth.models import User

    from inspector.models import Operation
    from inspector.services.bind_operation import bind_operation
    from inspector.services.dispatch_operation import dispatch_operation
    from inspector.services.moves import Refused
    from inspector.services.release_lease import release_lease
    from inspector.services.renew_lease import renew_lease
    from inspector.services.save_checkpoint import save_checkpoint
    from inspector.services.settle_operation import settle_operation

    operation = Operation.objects.get(pk=job["operation"])
    lease = {"actor": User.objects.get(pk=job["user"]), "holder": job["holder"], "fence": job["fence"]}

    def bind() -> None:
        with bind_operation(operation=operation, **lease):
            raise RuntimeError("the change must not be reached")

    tries = [
        lambda: dispatch_operation(operation=operation, **lease),
        lambda: settle_operation(operation=operation, **lease, end="confirmed", response={"effect": 1}),
        lambda: save_checkpoint(run=operation.run, **lease, kind="resolved-mutation", name="late"),
        lambda: renew_lease(run=operation.run, **lease),
        lambda: release_lease(run=operation.run, **lease),
    ] + ([bind] if job["kind"] == "same-database" else [])
    answers = []
    for attempt in tries:
        try:
            attempt()
            answers.append("done")
        except Refused as refused:
            answers.append(refused.code)
    return answers


def work(job: dict[str, Any]) -> Any:
    from . import race

    return {"carry-out": carry_out, "restart": restart, "race": race.compete}[job["do"]](job)


def main() -> None:
    import django

    django.setup()
    from inspector.services import bind_operation, claim_session, decide_claim, renew_lease, save_checkpoint  # noqa: F401  (imported once, before the forks)

    from . import downstream, race  # noqa: F401

    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            print(os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1]), flush=True)
            continue
        child = os.fork()
        if child == 0:
            try:
                done = work(order["start"])
                (Path(order["start"]["files"]) / "done.json").write_text(json.dumps(done))
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
        print(child, flush=True)


if __name__ == "__main__":
    main()
