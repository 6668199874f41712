"""Ledgers that are broken on purpose: one line of one service says something else, or one index of the database is gone."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType

from django.db import connection


@dataclass(frozen=True)
class Broken:
    """`changes`: pairs of a text that stands once in the module, and what stands there instead. `caught_by`: names of checks."""

    module: str
    changes: tuple[tuple[str, str], ...]
    caught_by: str
    without_index: str = ""


ONCE = "one_per_intent"
BROKEN = {
    "no-quiet-period": Broken(
        "services.claims", (("if quiet is None or timezone.now() < quiet or looked < quiet:", "if quiet is None:"),),
        "not-there-counts-only-after-the-quiet-period",
    ),
    "looked-before-the-quiet-period": Broken(
        "services.claims", ((" or looked < quiet:", ":"),), "not-there-counts-only-after-the-quiet-period"
    ),
    "sweep-back-to-approved": Broken(
        "services.take_over", (("to=Operation.State.UNCERTAIN", "to=Operation.State.APPROVED"),), "what-was-sent-is-uncertain-after-a-take-over"
    ),
    "no-sweep": Broken("services.take_over", (("fence__lt=lease.fence", "fence__lt=0"),), "what-was-sent-is-uncertain-after-a-take-over"),
    "fence-not-increased": Broken("services.take_over", (('F("fence") + 1', 'F("fence")'),), "the-number-of-a-lease-only-grows"),
    "take-over-of-a-current-lease": Broken(
        "services.take_over", (("filter(run=run, expires_at__lte=DatabaseNow())", "filter(run=run)"),), "a-current-lease-is-not-taken-over"
    ),
    "self-approval": Broken(
        "services.approve_operation", (("if alone and not settings.SELF_RESOLUTION:", "if False:"),), "who-proposes-does-not-approve"
    ),
    "self-decision": Broken("services.decide_claim", (("if claim.claimant_id == actor.pk:", "if False:"),), "who-claims-does-not-decide"),
    "claim-not-as-it-was-seen": Broken("services.decide_claim", (("if digest != claim.digest", "if False"),), "who-claims-does-not-decide"),
    "applied-without-evidence": Broken(
        "services.claims", (("if not _good(evidence, verdict):", "if False:"),), "nothing-is-said-without-evidence-for-it"
    ),
    "late-result-forgotten-in-a-claim": Broken(
        "services.claims", (("*operation.evidence.filter(kind=Evidence.Kind.LATE_RESULT)", ""),), "a-late-result-speaks-against-not-there"
    ),
    "resolved-without-a-claim": Broken(
        "services.claims", (("close(claim, Claim.State.APPROVED, actor, note, alone=alone)", "pass"),), "what-is-resolved-has-its-claim"
    ),
    "retry-from-uncertain": Broken(
        "services.propose_operation", (("if not settled or earlier.run_id != run.pk:", "if False:"),), "only-what-did-not-happen-is-tried-again", ONCE
    ),
    "two-open-of-one-intent": Broken("services.propose_operation", (), "of-one-intent-one-is-open-or-has-happened", ONCE),
    "two-operations-with-one-key": Broken("services.propose_operation", (), "of-one-target-one-has-a-key", "one_operation_per_key"),
    "approval-used-twice": Broken(
        "services.dispatch_operation",
        (
            ("ledger.valid_approvals(operation)", "operation.approvals.filter(digest=operation.digest, expires_at__gt=DatabaseNow())"),
            ("pk=approval.pk, used_at=None, ", "pk=approval.pk, "),
        ),
        "an-approval-is-good-for-one-sending",
    ),
    "approval-that-ran-out": Broken(
        "services.dispatch_operation",
        (
            ("ledger.valid_approvals(operation)", "operation.approvals.filter(digest=operation.digest, used_at=None)"),
            ("used_at=None, expires_at__gt=DatabaseNow(), ", ""),
        ),
        "an-approval-runs-out",
    ),
    "digest-not-looked-at": Broken(
        "services.dispatch_operation", (("if operation.digest != ledger.digest_of(operation):", "if False:"),),
        "an-approval-is-for-exactly-what-was-shown",
    ),
    "approver-without-the-role": Broken(
        "services.dispatch_operation", (("may(each.approver, DECIDE) and ", ""),), "who-lost-the-role-is-not-believed"
    ),
    "sent-beside-an-unknown": Broken(
        "services.dispatch_operation", (("        _others_known(operation)\n", ""),), "while-one-is-unknown-nothing-else-is-sent"
    ),
    "sent-after-the-key-is-forgotten": Broken(
        "services.dispatch_operation",
        (("min(lease.expires_at, operation.key_valid_until - timedelta(seconds=target.quiet_seconds))", "lease.expires_at"),),
        "a-key-is-sent-again-only-while-it-is-known",
    ),
    "key-after-its-time": Broken(
        "services.approve_operation",
        (("key_valid_until__gt=DatabaseNow() + timedelta(seconds=target.quiet_seconds)", "key_valid_until__isnull=False"),),
        "a-key-is-sent-again-only-while-it-is-known",
    ),
    "uncertain-approved": Broken(
        "services.approve_operation",
        (("if operation.state == Operation.State.PROPOSED:", "if operation.state in (Operation.State.PROPOSED, Operation.State.UNCERTAIN):"),),
        "uncertain-is-not-approved-again",
    ),
    "stale-lease-settles": Broken(
        "services.settle_operation", (("hold(operation.run, holder=holder, fence=fence, actor=actor)", "pass"),),
        "nothing-is-written-under-a-lease-that-is-gone",
    ),
    "late-result-overwrites": Broken(
        "services.settle_operation", (("return late.pk", "Operation.objects.filter(pk=operation.pk).update(state=state)\n        return late.pk"),),
        "what-is-settled-stays",
    ),
    "late-result-lost": Broken(
        "services.settle_operation", (("operation=operation, keep=keep)", "operation=operation)"),), "nothing-is-written-under-a-lease-that-is-gone"
    ),
    "second-refusal-believed": Broken(
        "services.settle_operation", (('if end == "failed" and operation.approvals', "if False and operation.approvals"),),
        "a-second-refusal-says-nothing-about-the-first-sending",
    ),
    "any-lease-will-do": Broken(
        "services.moves", ((", fence=fence, user=actor,", ", user=actor,"),),
        "an-earlier-lease-of-the-same-holder-is-gone-too",
    ),
    "moved-from-any-state": Broken(
        "services.moves", (("pk=operation.pk, state=before, outcome=operation.outcome", "pk=operation.pk"),), "a-move-starts-from-what-was-seen"
    ),
    "moved-without-an-entry": Broken(
        "services.moves", (("append_audit(actor=actor, action=action,", "dict(actor=actor, action=action,"),), "each-move-is-one-entry-of-the-trail"
    ),
    "gate-passes-what-is-sent": Broken(
        "queries.readiness", (("(State.DISPATCHED, State.UNCERTAIN)", "(State.UNCERTAIN,)"),), "the-gate-waits-for-what-is-open"
    ),
    "gate-passes-what-is-unknown": Broken(
        "queries.readiness", (("(State.DISPATCHED, State.UNCERTAIN)", "(State.DISPATCHED,)"),), "the-gate-waits-for-what-is-open"
    ),
}  # fmt: skip


@contextmanager
def broken(mutant: Broken) -> Iterator[None]:
    """Inside, the ledger is the broken one. An index that was dropped comes back when the test's transaction is rolled back."""
    module = importlib.import_module(f"inspector.{mutant.module}")
    source = inspect.getsource(module)
    for old, new in mutant.changes:
        assert source.count(old) == 1, f"{mutant.module} does not say once: {old}"
        source = source.replace(old, new)
    changed = dict(vars(module))
    exec(compile(source, str(module.__file__), "exec"), changed)
    kept = {}
    for each, original in vars(module).items():
        if isinstance(original, FunctionType) and original.__module__ == module.__name__ and not hasattr(original, "__wrapped__"):
            kept[original], original.__code__ = original.__code__, changed[each].__code__  # in place: other modules have imported it
    try:
        if mutant.without_index:
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute(f"DROP INDEX {mutant.without_index}")
        yield
    finally:
        for function, code in kept.items():
            function.__code__ = code
