"""What the ledger must refuse and must keep, one check for each rule: run as tests, and run again on ledgers that are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection

from inspector.core.policy import BUILT_IN
from inspector.models import Approval, AuditEntry, Checkpoint, Claim, Evidence, Lease, Operation, PolicyVersion
from inspector.queries import audit, ledger
from inspector.services.add_evidence import add_evidence
from inspector.services.approve_operation import approve_operation
from inspector.services.bind_operation import bind_operation
from inspector.services.cancel_operation import cancel_operation
from inspector.services.claim_outcome import claim_outcome
from inspector.services.decide_claim import decide_claim
from inspector.services.dispatch_operation import dispatch_operation
from inspector.services.moves import Refused, deed, move
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease
from inspector.services.save_checkpoint import save_checkpoint
from inspector.services.settle_operation import settle_operation

from .desk import KEY_VALID, LEASE, QUIET, Desk, pass_time, reading
from .invariants import kept_well

CHECKS: dict[str, Callable[[Desk], None]] = {}


def check(rule: Callable[[Desk], None]) -> Callable[[Desk], None]:
    CHECKS[rule.__name__.replace("_", "-")] = rule
    return rule


@contextmanager
def refused(*codes: str, but: bool = False) -> Iterator[None]:
    """What is inside must be refused with one of these codes, and must change nothing but the trail and, with `but`, the evidence."""
    before = _state(but)
    try:
        yield
    except Refused as found:
        assert found.code in codes, f"refused as {found.code}, not as {codes}"
    else:
        raise AssertionError(f"was not refused, should be as {codes}")
    assert _state(but) == before, "what was refused changed something"


def _state(but: bool) -> list[Any]:
    models = [Operation, Lease, Approval, Claim, Checkpoint] + ([] if but else [Evidence])
    return [list(model._default_manager.order_by("pk").values()) for model in models]


class Hands:
    """Somebody who holds the lease and works under it."""

    def __init__(self, desk: Desk, holder: str = "worker-a", successor: bool = False) -> None:
        self.desk, self.user = desk, desk.successor if successor else desk.owner
        self.lease = desk.take_over(self.user, holder)
        self.own: dict[str, Any] = {"actor": self.user, "holder": holder, "fence": self.lease.fence}

    def send(self, kind: str = "lookup", intent: str = "order-1", **more: Any) -> Operation:
        return dispatch_operation(operation=self.desk.approved(kind, intent, **more), **self.own)

    def settle(self, operation: Operation, end: str, response: Any = None) -> Operation:
        return settle_operation(operation=operation, **self.own, end=end, response=response)

    def unknown(self, kind: str = "lookup", intent: str = "order-1") -> Operation:
        """One that was sent, and nobody knows what came of it."""
        return self.settle(self.send(kind, intent), "uncertain")


def denied(desk: Desk, operation: Operation, outcome: str, evidence: list[Evidence], *codes: str, **more: Any) -> None:
    with refused(*codes):
        claim_outcome(operation=operation, actor=desk.owner, outcome=outcome, statement="I looked.", evidence=evidence, **more)


@check
def not_there_counts_only_after_the_quiet_period(desk: Desk) -> None:
    operation = Hands(desk).unknown()
    early = reading(operation, "not-applied", desk.owner)
    denied(desk, operation, "not-applied", [early], "too-early")
    pass_time(LEASE + QUIET - 5)
    denied(desk, operation, "not-applied", [early, reading(operation, "not-applied", desk.owner)], "too-early")
    pass_time(6)
    early.refresh_from_db()
    denied(desk, operation, "not-applied", [early], "too-early")
    desk.resolve(operation, "not-applied", reading(operation, "not-applied", desk.owner))


@check
def what_was_sent_is_uncertain_after_a_take_over(desk: Desk) -> None:
    operation = Hands(desk).send()
    pass_time(LEASE + 1)
    Hands(desk, "worker-b", successor=True)
    operation.refresh_from_db()
    assert operation.state == "uncertain"


@check
def the_number_of_a_lease_only_grows(desk: Desk) -> None:
    fences = []
    for holder in ("worker-a", "worker-a", "worker-b"):
        hands = Hands(desk, holder)
        fences.append(hands.lease.fence)
        release_lease(run=desk.run, **hands.own)
    assert fences == [1, 2, 3]


@check
def a_current_lease_is_not_taken_over(desk: Desk) -> None:
    hands = Hands(desk)
    for holder, user in (("worker-b", desk.successor), ("worker-a", desk.owner)):
        with refused("busy"):
            desk.take_over(user, holder)
    renew_lease(run=desk.run, **hands.own, seconds=LEASE + 600)
    pass_time(LEASE + 1)
    with refused("busy"):
        desk.take_over(desk.successor, "worker-b")


@check
def who_proposes_does_not_approve(desk: Desk) -> None:
    operation = desk.propose("lookup", "order-1")
    with refused("own-proposal"):
        approve_operation(operation=operation, actor=desk.owner, digest=operation.digest)


@check
def who_claims_does_not_decide(desk: Desk) -> None:
    operation = Hands(desk).unknown()
    seen = reading(operation, "applied", desk.owner)
    claim = claim_outcome(operation=operation, actor=desk.owner, outcome="applied", statement="It is there.", evidence=[seen])
    with refused("own-claim"):
        decide_claim(claim=claim, actor=desk.owner, digest=claim.digest, approve=True)
    with refused("changed"):
        decide_claim(claim=claim, actor=desk.other, digest="0" * 64, approve=True)


@check
def nothing_is_said_without_evidence_for_it(desk: Desk) -> None:
    hands = Hands(desk)
    operation, other = hands.send(), desk.approved("lookup", "order-2")
    operation = hands.settle(operation, "uncertain")
    pass_time(LEASE + QUIET + 1)
    mark = Evidence.objects.create(operation=operation, kind=Evidence.Kind.FILE_MARK, says="The file says so.")
    against, elsewhere = reading(operation, "not-applied", desk.owner), reading(other, "applied", desk.owner)
    for evidence in ([], [mark], [against], [elsewhere]):
        denied(desk, operation, "applied", evidence, "no-evidence")
    for_it = reading(operation, "applied", desk.owner)
    for evidence in ([], [mark], [for_it], [against, for_it]):
        denied(desk, operation, "not-applied", evidence, "no-evidence")
    denied(desk, operation, "superseded", [against], "no-relation", effect_exists=None, related=other)
    denied(desk, operation, "compensated", [against], "not-uncertain", "no-relation", related=other)


@check
def a_late_result_speaks_against_not_there(desk: Desk) -> None:
    old = Hands(desk)
    operation = old.send("http-service")
    pass_time(LEASE + 1)
    Hands(desk, "worker-b", successor=True)
    with refused("stale-lease", but=True):
        old.settle(operation, "confirmed", {"request": "req_1"})
    late = operation.evidence.get(kind="late-result")
    pass_time(QUIET)
    denied(desk, operation, "not-applied", [add_evidence(operation=operation, actor=desk.owner, says="Not in the books.")], "no-evidence")
    desk.resolve(operation, "applied", late)


@check
def a_late_refusal_does_not_show_that_it_happened(desk: Desk) -> None:
    old = Hands(desk)
    operation = old.send("http-service")
    pass_time(LEASE + 1)
    Hands(desk, "worker-b", successor=True)
    with refused("stale-lease", but=True):
        old.settle(operation, "failed", {"error": "no such order"})
    denied(desk, operation, "applied", list(operation.evidence.all()), "no-evidence")


@check
def only_what_did_not_happen_is_tried_again(desk: Desk) -> None:
    hands = Hands(desk)
    operation = hands.unknown()
    with refused("no-retry"):
        desk.propose("lookup", "order-1", retry_of=operation)
    desk.resolve(operation, "applied", reading(operation, "applied", desk.owner))
    done = hands.settle(hands.send("lookup", "order-2"), "confirmed", "ok")
    for earlier in (operation, done):
        with refused("no-retry"):
            desk.propose("lookup", earlier.intent, retry_of=earlier)
    failed = hands.settle(hands.send("lookup", "order-3"), "failed", {"status": 422})
    again = desk.propose("lookup", "order-3", retry_of=failed)
    cancel_operation(operation=again, actor=desk.owner, reason="not now")
    with refused("same-intent"):
        desk.propose("lookup", "order-3", retry_of=failed)


@check
def an_approval_is_good_for_one_sending(desk: Desk) -> None:
    hands = Hands(desk)
    operation = hands.unknown("key")
    with refused("no-approval"):
        dispatch_operation(operation=operation, **hands.own)
    desk.approve(operation)
    dispatch_operation(operation=operation, **hands.own)


@check
def an_approval_runs_out(desk: Desk) -> None:
    operation = desk.approved("lookup", "order-1")
    pass_time(31 * 60)
    hands = Hands(desk)
    with refused("no-approval"):
        dispatch_operation(operation=operation, **hands.own)


@check
def an_approval_is_for_exactly_what_was_shown(desk: Desk) -> None:
    hands, operation = Hands(desk), desk.propose("lookup", "order-1")
    with refused("changed"):
        approve_operation(operation=operation, actor=desk.other, digest="0" * 64)
    desk.approve(operation)
    Operation.objects.filter(pk=operation.pk).update(arguments={"order": "another"})
    with refused("changed"):
        dispatch_operation(operation=operation, **hands.own)
    Operation.objects.filter(pk=operation.pk).update(arguments={"order": "order-1"})
    PolicyVersion.objects.create(number=1, policy=BUILT_IN.to_json())
    with refused("changed"):
        dispatch_operation(operation=operation, **hands.own)
    PolicyVersion.objects.all().delete()
    dispatch_operation(operation=operation, **hands.own)


@check
def who_lost_the_role_is_not_believed(desk: Desk) -> None:
    hands, operation = Hands(desk), desk.approved("lookup", "order-1")
    groups = list(desk.other.groups.all())
    desk.other.groups.clear()
    with refused("no-approval"):
        dispatch_operation(operation=operation, **hands.own)
    desk.other.groups.set(groups)


@check
def nothing_is_written_under_a_lease_that_is_gone(desk: Desk) -> None:
    old = Hands(desk)
    operation = old.send("key")
    pass_time(LEASE + 1)
    for taken in (False, True):  # it ran out; then somebody has it
        if taken:
            new = Hands(desk, "worker-b", successor=True)
            desk.approve(Operation.objects.get(pk=operation.pk))
            dispatch_operation(operation=operation, **new.own)
        with refused("stale-lease", but=True):
            old.settle(operation, "confirmed", {"request": "req_1"})
        assert operation.evidence.filter(kind="late-result").count() == 1 + taken
        with refused("stale-lease"):
            save_checkpoint(run=desk.run, **old.own, kind="approval", name="late")
        with refused("stale-lease"):
            renew_lease(run=desk.run, **old.own)
        with refused("stale-lease"):
            release_lease(run=desk.run, **old.own)
        with refused("stale-lease"):
            dispatch_operation(operation=operation, **old.own)


@check
def an_earlier_lease_of_the_same_holder_is_gone_too(desk: Desk) -> None:
    old = Hands(desk)
    operation = old.send("key")
    release_lease(run=desk.run, **old.own)
    new = Hands(desk)
    desk.approve(Operation.objects.get(pk=operation.pk))
    dispatch_operation(operation=operation, **new.own)
    with refused("stale-lease", but=True):
        old.settle(operation, "failed", "refused")


@check
def what_is_settled_stays(desk: Desk) -> None:
    hands = Hands(desk)
    done = hands.settle(hands.send(), "confirmed", {"request": "req_1"})
    for end, response in (("failed", "no"), ("uncertain", None), ("confirmed", "another")):
        with refused("changed-meanwhile", but=True):
            hands.settle(done, end, response)
    for attempt in (
        lambda: cancel_operation(operation=done, actor=desk.owner, reason="late"),
        lambda: dispatch_operation(operation=done, **hands.own),
        lambda: desk.approve(done),
    ):
        with refused("changed-meanwhile", "changed"):
            attempt()
    denied(desk, done, "not-applied", [reading(done, "not-applied", desk.owner)], "not-uncertain")


@check
def a_move_starts_from_what_was_seen(desk: Desk) -> None:
    seen = desk.propose("lookup", "order-1")
    desk.approve(Operation.objects.get(pk=seen.pk))
    with refused("changed-meanwhile"), deed(actor=desk.owner, action="cancel-operation", run=desk.run, operation=seen):
        move(seen, to="cancelled", actor=desk.owner, action="operation-cancelled")


@check
def uncertain_is_not_approved_again(desk: Desk) -> None:
    hands = Hands(desk)
    for kind, intent in (("http-service", "order-1"), ("lookup", "order-2")):
        operation = hands.unknown(kind, intent)
        with refused("not-repeatable"):
            desk.approve(operation)
        with refused("not-repeatable"):
            dispatch_operation(operation=operation, **hands.own)
        desk.resolve(operation, "applied", add_evidence(operation=operation, actor=desk.owner, says="It is in the books."))
    known = hands.unknown("key", "order-3")
    desk.approve(known)
    known.refresh_from_db()
    assert known.state == "uncertain"


@check
def of_one_intent_one_is_open_or_has_happened(desk: Desk) -> None:
    hands = Hands(desk)
    first = desk.propose("lookup", "order-1")
    with refused("same-intent"):
        desk.propose("lookup", "order-1")
    desk.approve(first)
    first = hands.settle(dispatch_operation(operation=first, **hands.own), "confirmed", "ok")
    moot = hands.unknown("lookup", "order-2")
    desk.resolve(moot, "superseded", reading(moot, "applied", desk.owner), related=first, effect_exists=True)
    for intent in ("order-1", "order-2"):
        with refused("same-intent"):
            desk.propose("lookup", intent)


@check
def of_one_target_one_has_a_key(desk: Desk) -> None:
    desk.propose("key", "order-1")
    desk.proposed -= 1
    with refused("key-used"):
        desk.propose("key", "order-2")


@check
def a_key_is_sent_again_only_while_it_is_known(desk: Desk) -> None:
    hands = Hands(desk)
    operation = hands.unknown("key")
    desk.approve(operation)
    pass_time(KEY_VALID - QUIET - 600)
    hands = Hands(desk, "worker-b", successor=True)
    desk.approve(operation)
    again = dispatch_operation(operation=operation, **hands.own)
    assert again.send_by + timedelta(seconds=QUIET) <= again.key_valid_until < hands.lease.expires_at + timedelta(seconds=QUIET)
    operation = hands.settle(again, "uncertain")
    desk.approve(operation)
    pass_time(601)  # it is still known, but not for as long as a request may be under way
    for attempt in (lambda: dispatch_operation(operation=operation, **hands.own), lambda: desk.approve(operation)):
        with refused("not-repeatable"):
            attempt()


@check
def a_key_is_first_sent_only_while_it_could_be_sent_again(desk: Desk) -> None:
    target = desk.targets["key"]
    target.key_valid_seconds = QUIET + 60
    target.save()
    sent = Hands(desk).send("key")
    assert sent.send_by + timedelta(seconds=QUIET) <= sent.key_valid_until + timedelta(milliseconds=1)


@check
def a_second_refusal_says_nothing_about_the_first_sending(desk: Desk) -> None:
    hands = Hands(desk)
    operation = hands.unknown("key")
    desk.approve(operation)
    assert hands.settle(dispatch_operation(operation=operation, **hands.own), "failed", {"status": 429}).state == "uncertain"


@check
def while_one_is_unknown_nothing_else_is_sent(desk: Desk) -> None:
    hands = Hands(desk)
    beside = desk.approved("lookup", "order-2")
    hands.unknown()
    with refused("run-uncertain"):
        dispatch_operation(operation=beside, **hands.own)


@check
def the_gate_waits_for_what_is_open(desk: Desk) -> None:
    old = Hands(desk)
    operation = old.send()
    pass_time(LEASE + 1)
    gate_closed(desk)
    operation.refresh_from_db()
    assert operation.state == "uncertain"
    Operation.objects.filter(pk=operation.pk).update(state="dispatched", fence=99)
    gate_closed(desk)
    Operation.objects.filter(pk=operation.pk).update(state="uncertain", fence=1)
    desk.resolve(operation, "applied", reading(operation, "applied", desk.owner))
    assert operation in desk.gate("worker-b").completed


def gate_closed(desk: Desk) -> None:
    try:
        desk.gate("worker-b")
    except Refused as found:
        assert found.code == "not-ready" and [line.name for line in found.details["lines"]] == ["operations"]
    else:
        raise AssertionError("the gate opened")


@check
def what_is_resolved_has_its_claim(desk: Desk) -> None:
    operation = Hands(desk).unknown()
    desk.resolve(operation, "applied", reading(operation, "applied", desk.owner))
    claim = ledger.decided(operation)
    assert claim is not None and claim.outcome == operation.outcome and claim.evidence.count() == 1


@check
def a_bound_change_is_all_or_nothing(desk: Desk) -> None:
    hands, operation = Hands(desk), desk.approved("same-database", "order-1")
    with refused("stale-lease"), bind_operation(operation=operation, **{**hands.own, "fence": 7}):
        raise AssertionError("the change must not be reached")
    assert AuditEntry.objects.filter(action="refused-bind-operation").count() == 1
    with refused("stale-lease"), bind_operation(operation=operation, **hands.own) as bound:
        assert bound.state == "dispatched"
        Checkpoint.objects.create(run=desk.run, kind="approval", name="the change", by="x")
        with connection.cursor() as cursor:  # the change takes longer than the lease lasts
            cursor.execute("UPDATE inspector_lease SET expires_at = taken_at")
    assert AuditEntry.objects.filter(action="refused-bind-operation").count() == 2
    pass_time(LEASE + 1)
    with bind_operation(operation=operation, **Hands(desk, "worker-b").own):
        pass
    assert operation.state == "confirmed"
    other = desk.approved("lookup", "order-2")
    with refused("not-bound"), bind_operation(operation=other, **hands.own):
        raise AssertionError("the change must not be reached")


@check
def each_move_is_one_entry_of_the_trail(desk: Desk) -> None:
    hands = Hands(desk)
    hands.settle(hands.send(), "confirmed", "ok")
    desk.resolve(operation := hands.unknown("lookup", "order-2"), "applied", reading(operation, "applied", desk.owner))
    kept_well(desk.run)
    assert audit.verify_chain().bad is None
