"""A state machine that works at the desk in every order that it can think of, and knows what really happened in the world outside.

Three workers hold leases one after another and go on with old ones; requests are under way, arrive late or get lost; people look and tell the
truth. The right to send exists only in the memory of the worker whose dispatch was answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from inspector.models import AuditEntry, Claim, Lease, Operation
from inspector.queries import audit
from inspector.services.approve_operation import approve_operation
from inspector.services.bind_operation import bind_operation
from inspector.services.cancel_operation import cancel_operation, expire_approvals
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.moves import Refused
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease
from inspector.services.save_checkpoint import save_checkpoint
from inspector.services.settle_operation import settle_operation
from inspector.services.withdraw_claim import withdraw_claim

from .desk import KEY_VALID, LEASE, QUIET, Desk, pass_time, reading
from .invariants import FINAL, kept_well, rows_fit, settled

INTENTS = ("order-1", "order-2", "order-3")
EXTERNAL = ("key", "lookup", "http-service")
BACK = st.integers(0, 1)
"""Which of several: the newest, or the one before. Chance alone would hardly ever come back to the same one."""
ENDS_AT = {"confirmed": 1, "applied": 1, "failed": 0, "not-applied": 0, "proposed": 0, "approved": 0, "cancelled": 0, "expired": 0}
"""How often the effect of an operation is there in a state; of the others nobody can say."""


@dataclass
class Hands:
    """A worker and the lease that it believes to have."""

    user: User
    holder: str
    fence: int

    def own(self) -> dict[str, Any]:
        return {"actor": self.user, "holder": self.holder, "fence": self.fence}


@dataclass
class Sending:
    """A right to send, then a request that is under way, then an answer: what one worker knows of one dispatch."""

    operation: Operation
    hands: Hands
    until: float
    """When it may be sent for the last time; then, when it arrives for the latest."""
    answer: str = ""


@dataclass
class World:
    now: float = 0.0
    rights: list[Sending] = field(default_factory=list)
    under_way: list[Sending] = field(default_factory=list)
    answers: list[Sending] = field(default_factory=list)
    known_keys: dict[str, float] = field(default_factory=dict)
    effects: Counter[int] = field(default_factory=Counter)
    """By operation."""

    def arrive(self, sending: Sending, at: float) -> None:
        operation = sending.operation
        key = operation.idempotency_key
        if not key or at - self.known_keys.get(key, -KEY_VALID) >= KEY_VALID:
            self.effects[operation.pk] += 1
            self.known_keys[key] = at
        self.answers.append(Sending(operation, sending.hands, at, "confirmed"))

    def pass_time(self, seconds: float, late: bool) -> None:
        """What is under way for too long arrives at the last moment, or never."""
        self.now += seconds
        for sending in [each for each in self.under_way if each.until <= self.now]:
            self.under_way.remove(sending)
            if late:
                self.arrive(sending, sending.until)


def pick(values: list[Any], back: int) -> Any:
    return values[-1 - min(back, len(values) - 1)]


@contextmanager
def may_be_refused() -> Iterator[None]:
    try:
        yield
    except Refused:
        pass


class DeskMachine(RuleBasedStateMachine):
    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.example = transaction.atomic()
        self.example.__enter__()
        self.start = AuditEntry.objects.count()
        desk.proposed = 0
        self.desk, self.world = desk, World()
        self.hands: list[Hands] = []
        self.lease_until = -1.0
        self.operations: list[Operation] = []
        self.open_claims: list[Claim] = []
        """Both as they were after the step before."""
        self.final: dict[int, tuple[Any, ...]] = {}

    def teardown(self) -> None:
        try:
            kept_well(self.desk.run)
            assert audit.verify_chain().bad is None
        finally:
            transaction.set_rollback(True)
            self.example.__exit__(None, None, None)

    # --- Leases ---

    def _take(self, which: int) -> None:
        user = (self.desk.owner, self.desk.successor)[which % 2]
        free = self.world.now >= self.lease_until
        try:
            lease = self.desk.take_over(user, f"worker-{which}")
        except Refused:
            assert not free, "nobody holds the lease, and it is not given"
            return
        assert free, "two hold the lease"
        assert not self.hands or lease.fence > self.hands[-1].fence, "the number of the lease does not grow"
        self.hands.append(Hands(user, lease.holder, lease.fence))
        self.lease_until = self.world.now + LEASE

    @rule(which=st.integers(0, 2))
    def take_over(self, which: int) -> None:
        self._take(which)

    @precondition(lambda self: self.hands)
    @rule(back=BACK, what=st.sampled_from(["renew", "release", "checkpoint"]))
    def use_lease(self, back: int, what: str) -> None:
        hands = pick(self.hands, back)
        current = hands is self.hands[-1] and self.world.now < self.lease_until
        try:
            if what == "renew":
                renew_lease(run=self.desk.run, **hands.own(), seconds=LEASE)
            elif what == "release":
                release_lease(run=self.desk.run, **hands.own())
            else:
                save_checkpoint(run=self.desk.run, **hands.own(), kind="completed-read", name="page")
        except Refused:
            assert not current, "the lease is current, and its holder is refused"
            return
        assert current, "written under a lease that is gone"
        self.lease_until = {"renew": self.world.now + LEASE, "release": self.world.now}.get(what, self.lease_until)

    # --- Proposing and sending ---

    def _dispatch(self, operation: Operation, hands: Hands) -> None:
        with may_be_refused():
            sent = dispatch_operation(operation=operation, **hands.own())
            assert hands is self.hands[-1] and self.world.now < self.lease_until, "sent under a lease that is gone"
            left = (sent.send_by - timezone.now()).total_seconds()
            self.world.rights.append(Sending(sent, hands, self.world.now + left))

    @rule(kind=st.sampled_from(EXTERNAL), intent=st.sampled_from(INTENTS), send=st.booleans())
    def start_one(self, kind: str, intent: str, send: bool) -> None:
        """All the way to a right to send, which is used or kept."""
        if not self.hands or self.world.now >= self.lease_until:
            self._take(0)
        with may_be_refused():
            operation = self.desk.approved(kind, intent)
            self._dispatch(operation, self.hands[-1])
            if send and self.world.rights and self.world.rights[-1].operation.pk == operation.pk:
                self.send(0)

    @rule(kind=st.sampled_from(EXTERNAL), intent=st.sampled_from(INTENTS), arrives=st.booleans(), look=st.booleans(), alone=st.booleans())
    def hear_nothing(self, kind: str, intent: str, arrives: bool, look: bool, alone: bool) -> None:
        """All the way to an operation that nobody knows the end of; what was sent arrived, or is still under way. With `look` people ask at once."""
        waiting = len(self.world.under_way)
        self.start_one(kind, intent, True)
        if len(self.world.under_way) > waiting:
            operation = self.world.under_way[-1].operation
            if arrives:
                self.deliver(0, "arrives")
            with may_be_refused():
                settle_operation(operation=operation, **self.hands[-1].own(), end="uncertain", reason="no answer came")
            if look:
                self._look_and_decide(operation, True, alone)

    @rule(kind=st.sampled_from(EXTERNAL), intent=st.sampled_from(INTENTS), by_proposer=st.booleans())
    def propose(self, kind: str, intent: str, by_proposer: bool) -> None:
        with may_be_refused():
            operation = self.desk.propose(kind, intent)
            if by_proposer:
                approve_operation(operation=operation, actor=self.desk.owner, digest=operation.digest)

    @precondition(lambda self: self.operations)
    @rule(back=BACK, by_proposer=st.booleans())
    def approve(self, back: int, by_proposer: bool) -> None:
        operation = pick(self.operations, back)
        with may_be_refused():
            approve_operation(operation=operation, actor=self.desk.owner if by_proposer else self.desk.other, digest=operation.digest)

    @precondition(lambda self: self.hands and self.operations)
    @rule(back=BACK, hands=BACK)
    def dispatch(self, back: int, hands: int) -> None:
        self._dispatch(pick(self.operations, back), pick(self.hands, hands))

    @precondition(lambda self: self.hands and self.operations)
    @rule(back=BACK)
    def try_again(self, back: int) -> None:
        """A new attempt, or the same key again: whatever the ledger lets one do."""
        operation = pick(self.operations, back)
        with may_be_refused():
            if operation.state == "uncertain":
                self.desk.approve(operation)
            else:
                operation = self.desk.approved(operation.target.kind if operation.target else "lookup", operation.intent, retry_of=operation)
            self._dispatch(operation, self.hands[-1])

    @precondition(lambda self: self.operations)
    @rule(back=BACK)
    def retry_blindly(self, back: int) -> None:
        earlier = pick(self.operations, back)
        with may_be_refused():
            self.desk.propose(earlier.target.kind, earlier.intent, retry_of=earlier)
            assert settled(earlier) in ("failed", "not-applied"), "tried again though it may have happened"

    @precondition(lambda self: self.world.rights)
    @rule(back=BACK)
    def send(self, back: int) -> None:
        """A worker uses its right once, and only as long as it is told."""
        right = pick(self.world.rights, back)
        self.world.rights.remove(right)
        if self.world.now <= right.until:
            self.world.under_way.append(Sending(right.operation, right.hands, self.world.now + QUIET - 1))

    @precondition(lambda self: self.world.under_way)
    @rule(back=BACK, what=st.sampled_from(["arrives", "lost", "refused"]))
    def deliver(self, back: int, what: str) -> None:
        request = pick(self.world.under_way, back)
        self.world.under_way.remove(request)
        if what == "arrives":
            self.world.arrive(request, self.world.now)
        elif what == "refused":
            self.world.answers.append(Sending(request.operation, request.hands, self.world.now, "failed"))

    @precondition(lambda self: self.world.answers)
    @rule(back=BACK)
    def settle(self, back: int) -> None:
        """A worker writes down what it was answered, whether or not it still has its lease."""
        answer = pick(self.world.answers, back)
        self.world.answers.remove(answer)
        current = answer.hands is self.hands[-1] and self.world.now < self.lease_until
        with may_be_refused():
            settle_operation(operation=answer.operation, **answer.hands.own(), end=answer.answer, response={"at": answer.until})
            assert current, "settled under a lease that is gone"

    @precondition(lambda self: self.hands and self.operations)
    @rule(back=BACK, look=st.booleans(), evident=st.booleans(), alone=st.booleans())
    def give_up(self, back: int, look: bool, evident: bool, alone: bool) -> None:
        """The worker hears nothing; with `look` two people ask the target at once."""
        operation = pick(self.operations, back)
        with may_be_refused():
            settle_operation(operation=operation, **self.hands[-1].own(), end="uncertain", reason="no answer came")
        if look:
            self._look_and_decide(operation, evident, alone)

    @precondition(lambda self: self.hands)
    @rule(which=st.integers(0, 2), late=st.booleans())
    def hand_over(self, which: int, late: bool) -> None:
        """The holder is not heard of any more, and after its time somebody else takes over."""
        self._pass_time(LEASE + 1, late)
        self._take(which)

    @rule(intent=st.sampled_from(INTENTS), fails=st.booleans())
    def bind(self, intent: str, fails: bool) -> None:
        if not self.hands:
            return
        done = False
        try:
            operation = self.desk.approved("same-database", intent)
            with bind_operation(operation=operation, **self.hands[-1].own()):
                if fails:
                    raise ZeroDivisionError
                done = True
        except (Refused, ZeroDivisionError):
            return
        self.world.effects[operation.pk] += done

    @precondition(lambda self: self.operations)
    @rule(back=BACK)
    def cancel(self, back: int) -> None:
        with may_be_refused():
            cancel_operation(operation=pick(self.operations, back), actor=self.desk.owner, reason="not wanted")

    # --- Time and people ---

    @rule(seconds=st.sampled_from([30, QUIET + 1, LEASE + 1, LEASE + QUIET + 1, KEY_VALID - LEASE]), late=st.booleans())
    def time_passes(self, seconds: int, late: bool) -> None:
        self._pass_time(seconds, late)

    def _pass_time(self, seconds: int, late: bool) -> None:
        pass_time(seconds)
        self.world.pass_time(seconds, late)
        expire_approvals(run=self.desk.run)

    def _claim(self, operation: Operation, evident: bool) -> Claim | None:
        """Somebody looks, and says what is there; without evidence nobody may believe it."""
        there = "applied" if self.world.effects[operation.pk] else "not-applied"
        evidence = [reading(operation, there, self.desk.owner)] if evident else []
        with may_be_refused():
            claim = claim_outcome(operation=operation, actor=self.desk.owner, outcome=there, statement="I looked.", evidence=evidence)
            assert evident, "claimed without evidence"
            return claim
        return None

    @precondition(lambda self: self.operations)
    @rule(back=BACK, evident=st.booleans(), alone=st.booleans())
    def look_and_decide(self, back: int, evident: bool, alone: bool) -> None:
        self._look_and_decide(pick(self.operations, back), evident, alone)

    def _look_and_decide(self, operation: Operation, evident: bool, alone: bool) -> None:
        claim = self._claim(operation, evident)
        if claim is not None:
            with may_be_refused():
                decide_claim(claim=claim, actor=self.desk.owner if alone else self.desk.other, digest=claim.digest, approve=True)
                assert not alone, "decided by who claimed it"

    @precondition(lambda self: self.open_claims)
    @rule(what=st.sampled_from(["approve", "refuse", "withdraw"]))
    def close_claim(self, what: str) -> None:
        claim = self.open_claims[-1]
        with may_be_refused():
            if what == "withdraw":
                withdraw_claim(claim=claim, actor=self.desk.owner, note="I was wrong")
            else:
                decide_claim(claim=claim, actor=self.desk.other, digest=claim.digest, approve=what == "approve", note="I looked too")

    # --- What always holds ---

    @invariant()
    def the_world_is_as_the_ledger_says(self) -> None:
        self.operations, self.open_claims = rows_fit(self.desk.run)
        effects = self.world.effects
        by_intent = Counter[str]()
        for each in self.operations:
            by_intent[each.intent] += effects[each.pk]
            expected = ENDS_AT.get(settled(each))
            assert expected in (None, effects[each.pk]), f"{each.intent} is {settled(each)}, and there are {effects[each.pk]} effects"
            if each.state in FINAL or each.outcome:
                row = (each.state, each.outcome, each.response, each.digest, each.fence)
                assert self.final.setdefault(each.pk, row) == row, f"{each.intent} was settled and has changed"
        for intent, count in by_intent.items():
            assert count <= 1, f"{intent} has {count} effects"
        lease = Lease.objects.filter(run=self.desk.run).first()
        assert (lease.fence if lease else 0) == (self.hands[-1].fence if self.hands else 0)
