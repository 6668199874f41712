"""A worker dies, or sleeps too long, at each named point of an operation; whoever takes over finds out what happened, and it has happened once.

Workers are real processes that end by `os._exit`. Time passes by moving dates back. What is under way for a target arrives before its quiet
period is over, or never: nothing can be promised to whom that does not hold for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection

from inspector.models import AuditEntry, Checkpoint, Evidence, Lease, Operation
from inspector.queries import audit
from inspector.services.add_evidence import add_evidence
from inspector.services.claim_outcome import claim_outcome
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.moves import Refused

from .desk import KINDS, LEASE, QUIET, Desk, pass_time, reading
from .downstream import Downstream
from .worker import KILLED, POINTS
from .workshop import Workshop

pytestmark = pytest.mark.django_db(transaction=True)
INTENT = "refund-order-71"
ELSEWHERE = dict(zip(POINTS, [("approved", 0), *[("uncertain", 0)] * 2, *[("uncertain", 1)] * 2, ("confirmed", 1)], strict=True))
HERE = dict(zip(POINTS, [*[("approved", 0)] * 3, *[("confirmed", 1)] * 3], strict=True))
"""Point -> the state that is found after a take-over, and how often the effect is there by then."""
CELLS = [(kind, point, "killed") for kind in KINDS for point in POINTS] + [
    (kind, point, "asleep")
    for kind in KINDS
    for point in POINTS
    # Inside a transaction of this database a sleeper keeps its lease locked: nobody takes over before the database ends the transaction.
    if not (kind == "same-database" and point in ("after-intent", "sent"))
]


class Cell:
    """One cell of the matrix: a desk, a target with its own store, and the operation of worker A."""

    def __init__(self, desk: Desk, workshop: Workshop, folder: Path, kind: str) -> None:
        self.desk, self.workshop, self.kind, self.late = desk, workshop, kind, False
        self.downstream = Downstream(folder / "downstream.sqlite3", knows_keys=kind == "key")
        self.downstream.set_up()
        self.operation = desk.approved(kind, INTENT)
        self.first = desk.take_over(desk.owner, "worker-a")

    def effects(self) -> int:
        if self.kind != "same-database":
            return self.downstream.look_up(INTENT)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM crash_effects WHERE business_id = %s", [INTENT])
            return int(cursor.fetchone()[0])

    def order(self, do: str, lease: Lease, operation: Operation, **more: str) -> dict[str, object]:
        user = self.desk.owner if lease.fence == self.first.fence else self.desk.successor
        return self.desk.job(do, user, lease, operation, self.kind, store=str(self.downstream.path), **more)

    def send(self, operation: Operation, lease: Lease) -> None:
        """Worker B carries it out and comes to its end."""
        did = self.workshop.run(self.order("carry-out", lease, operation))
        assert did[-2:] == ["settled", "checkpoint"]
        operation.refresh_from_db()

    def taken_over(self) -> Lease:
        """What nobody can do while A's lease is current, B does after it."""
        with pytest.raises(Refused, match="holds it until"):
            self.desk.take_over(self.desk.successor, "worker-b")
        pass_time(LEASE + 1)
        lease = self.desk.take_over(self.desk.successor, "worker-b")
        assert lease.fence == self.first.fence + 1
        self.operation.refresh_from_db()
        return lease

    def waits(self) -> None:
        """An unknown end keeps everything else of the run from going on."""
        beside = self.desk.approved(self.kind, "another-order")
        lease = Lease.objects.get(run=self.desk.run)
        with pytest.raises(Refused) as refused:
            dispatch_operation(operation=beside, actor=self.desk.successor, holder=lease.holder, fence=lease.fence)
        assert refused.value.code == "run-uncertain"

    def truth(self) -> Evidence:
        """What the target says when it is asked; of one that can't be asked a person finds it out elsewhere."""
        there = self.downstream.look_up(INTENT) > 0
        if self.kind == "lookup":
            return reading(self.operation, "applied" if there else "not-applied", self.desk.owner)
        says = "The bank's statement of today shows it." if there else "The bank's statement of today does not show it."
        return add_evidence(operation=self.operation, actor=self.desk.owner, says=says)

    def too_early(self) -> None:
        with pytest.raises(Refused) as refused:
            claim_outcome(operation=self.operation, actor=self.desk.owner, outcome="not-applied", statement="Not there.", evidence=[self.truth()])
        assert refused.value.code == "too-early"

    def naive(self) -> None:
        """What a program does that keeps no ledger: what has no recorded result is simply called again."""
        if self.operation.state == "confirmed":
            return
        if self.kind != "same-database":
            self.downstream.receive(INTENT, "a-new-key")
            return
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO crash_effects (business_id) VALUES (%s)", [INTENT])

    def recover(self, lease: Lease) -> Operation:
        """What the desk asks for from the state that is found; returns the attempt that made the effect."""
        operation = self.operation
        if operation.state == "approved":
            self.send(operation, lease)
        elif operation.state == "uncertain" and self.kind == "key":
            self.waits()
            self.desk.approve(operation)
            self.send(operation, lease)
        elif operation.state == "uncertain":
            self.waits()
            if self.effects() == 0:
                self.too_early()
            if self.late:
                assert self.downstream.deliver_late() == 1
            pass_time(QUIET)
            there = self.effects() > 0
            self.desk.resolve(operation, "applied" if there else "not-applied", self.truth())
            if not there:
                operation = self.desk.approved(self.kind, INTENT, retry_of=operation)
                self.send(operation, lease)
        return operation


@pytest.fixture
def cell_of(desk: Desk, workshop: Workshop, effects_here: None, tmp_path: Path) -> Callable[[str], Cell]:
    return lambda kind: Cell(desk, workshop, tmp_path, kind)


@pytest.mark.parametrize(("kind", "point", "ending"), CELLS)
def test_after_a_crash_it_has_happened_once(cell_of: Callable[[str], Cell], kind: str, point: str, ending: str) -> None:
    cell = cell_of(kind)
    worker = cell.workshop.start(cell.order("carry-out", cell.first, cell.operation, at=point, ending=ending))
    if ending == "killed":
        assert worker.wait() == KILLED
    else:
        worker.come_to("asleep")
    lease = cell.taken_over()
    assert (cell.operation.state, cell.effects()) == (HERE if kind == "same-database" else ELSEWHERE)[point]
    made = cell.recover(lease)
    settled = list(Operation.objects.order_by("pk").values_list("state", "outcome", "response"))
    if ending == "killed":
        answers = cell.workshop.run(cell.order("restart", cell.first, cell.operation))
        assert set(answers) == {"stale-lease"} and len(answers) == 5 + (kind == "same-database")
        kept = 1
    else:
        worker.wake(LEASE + QUIET + 1)
        assert worker.wait() == 0
        assert worker.answer()[-1] == "stale-lease"
        kept = int(kind != "same-database" and point not in ("before-intent", "after-persist"))
    assert cell.operation.evidence.filter(kind="late-result").count() == kept
    assert list(Operation.objects.order_by("pk").values_list("state", "outcome", "response")) == settled
    assert not Checkpoint.objects.filter(name="late").exists()
    assert cell.effects() == 1
    assert (made.state, made.outcome) in [("confirmed", ""), ("resolved", "applied")]
    assert AuditEntry.objects.filter(action__startswith="refused-", body__contains="stale-lease").exists()
    assert audit.verify_chain().bad is None
    for beside in Operation.objects.filter(intent="another-order"):
        assert beside.state == "approved"  # nobody sent it meanwhile
    pass_time(LEASE)
    assert made in cell.desk.gate("worker-c").completed


@pytest.mark.parametrize("kind", ["key", "lookup", "http-service"])
def test_a_request_that_arrives_late_is_waited_for(cell_of: Callable[[str], Cell], kind: str) -> None:
    cell = cell_of(kind)
    assert cell.workshop.start(cell.order("carry-out", cell.first, cell.operation, at="sent", ending="killed")).wait() == KILLED
    lease = cell.taken_over()
    cell.late = True
    made = cell.recover(lease)
    if kind == "key":
        assert cell.downstream.deliver_late() == 1
    assert cell.effects() == 1 and made == cell.operation and Operation.objects.filter(retry_of=made).count() == 0


TWICE = {(kind, point) for kind in ("key", "lookup", "http-service") for point in ("committed", "response")}


@pytest.mark.parametrize(("kind", "point"), [(kind, point) for kind in KINDS for point in POINTS])
def test_without_the_ledger_it_happens_twice(cell_of: Callable[[str], Cell], kind: str, point: str) -> None:
    cell = cell_of(kind)
    assert cell.workshop.start(cell.order("carry-out", cell.first, cell.operation, at=point, ending="killed")).wait() == KILLED
    cell.taken_over()
    cell.naive()
    assert cell.effects() == (2 if (kind, point) in TWICE else 1)


@pytest.mark.parametrize("kind", ["key", "lookup", "http-service"])
def test_without_the_quiet_period_a_late_request_makes_it_twice(cell_of: Callable[[str], Cell], kind: str) -> None:
    cell = cell_of(kind)
    assert cell.workshop.start(cell.order("carry-out", cell.first, cell.operation, at="sent", ending="killed")).wait() == KILLED
    cell.taken_over()
    cell.naive()
    cell.downstream.deliver_late()
    assert cell.effects() == 2
