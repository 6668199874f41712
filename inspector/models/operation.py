"""Operation: one thing that was to be done in the world, with its state, its approvals, and the claims and evidence about it.

The states and who may move them: proposed → approved → dispatched → confirmed | failed | uncertain → resolved. Every move is one conditional
update with its audit entry in one transaction (`services.moves`).
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .roles import ADMINISTER, DECIDE, HANDLE
from .run import Run
from .session import Session
from .target import Probe, Target


class Operation(models.Model):
    """A call of an imported session that nobody knows the end of, a suspected effect, or an operation that an application registered."""

    class Origin(models.TextChoices):
        RECORDED = "recorded", "Found in a transcript"
        LIVE = "live", "Registered by an application"
        REPORTED = "reported", "Reported by a person"

    class State(models.TextChoices):
        PROPOSED = "proposed", "Waiting for approval"
        APPROVED = "approved", "Approved, not sent"
        CANCELLED = "cancelled", "Withdrawn"
        EXPIRED = "expired", "Approval no longer valid"
        DISPATCHED = "dispatched", "In progress"
        CONFIRMED = "confirmed", "Done"
        FAILED = "failed", "Refused by the target"
        UNCERTAIN = "uncertain", "We don't know if this happened"
        RESOLVED = "resolved", "Resolved"

    class Outcome(models.TextChoices):
        APPLIED = "applied", "It happened"
        NOT_APPLIED = "not-applied", "It did not happen"
        SUPERSEDED = "superseded", "No longer needed"
        COMPENSATED = "compensated", "Undone"

    OPEN = (State.PROPOSED, State.APPROVED, State.DISPATCHED, State.UNCERTAIN)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="operations")
    """Where it was first seen: whose lease covers it."""
    sessions = models.ManyToManyField(Session, related_name="ledger")
    """Sessions whose transcript holds the call: the imported one, and forks of it."""
    origin = models.CharField(max_length=10, choices=Origin.choices)
    key = models.CharField(max_length=200)
    """Its name through repair and fork (`core.operations.key_of`); for a live one made from run, intent and attempt."""
    intent = models.CharField(max_length=200)
    """What is wanted, whichever attempt: at most one of it is open, has happened, or is no longer needed. Wanted once more, it is another intent."""
    call_id = models.CharField(max_length=200, blank=True)
    client = models.CharField(max_length=40)
    tool = models.CharField(max_length=200)
    arguments = models.JSONField(null=True)
    target_text = models.TextField(blank=True)
    """What it acts on, as recorded: a path, a host, an id."""
    target = models.ForeignKey(Target, null=True, on_delete=models.PROTECT, related_name="operations")
    """The declared target, where a rule or the application names one."""
    target_kind = models.CharField(max_length=20)
    """`core.targets` kind: which window of uncertainty it has."""
    environment = models.CharField(max_length=80, blank=True)
    effect = models.CharField(max_length=12)
    why_effect = models.TextField(blank=True)
    policy = models.CharField(max_length=80)
    """Version of tables and rules by which the effect was judged."""

    state = models.CharField(max_length=12, choices=State.choices)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True)
    """Set when resolved, and only then."""
    digest = models.CharField(max_length=64)
    """SHA-256 of what an approver is shown; any change makes earlier approvals invalid."""
    proposer = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    idempotency_key = models.CharField(max_length=200, blank=True)
    key_valid_until = models.DateTimeField(null=True)
    fence = models.BigIntegerField(null=True)
    """Of the lease that sent it."""
    worker = models.CharField(max_length=200, blank=True)
    sent_at = models.DateTimeField(null=True)
    """When it was dispatched; for a recorded call the time of its row."""
    send_by = models.DateTimeField(null=True)
    """After this nobody sends it any more: the quiet period begins."""
    response = models.JSONField(null=True)
    """What the target answered."""
    reason = models.TextField(blank=True)
    """Why it was withdrawn, or became uncertain."""
    recorded = models.JSONField(default=list)
    """Evidence of the transcript when it was imported: objects with `kind`, `says`, `row`, `grade`."""
    row = models.CharField(max_length=24, blank=True)
    """Ref of the call's row in the revision that was imported."""
    retry_of = models.OneToOneField("self", null=True, on_delete=models.SET_NULL, related_name="retry")
    """The attempt before it; none any more where that was erased with its session."""
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["client", "key"], name="operation_key"),
            models.UniqueConstraint(
                fields=["client", "intent"],
                condition=Q(state__in=["proposed", "approved", "dispatched", "uncertain", "confirmed"])
                | Q(state="resolved", outcome__in=["applied", "superseded"]),
                name="one_per_intent",
            ),
            models.UniqueConstraint(fields=["target", "idempotency_key"], condition=Q(idempotency_key__gt=""), name="one_operation_per_key"),
            models.CheckConstraint(condition=Q(state="resolved", outcome__gt="") | ~Q(state="resolved") & Q(outcome=""), name="outcome_if_resolved"),
        ]
        indexes = [models.Index(fields=["state", "-id"], name="operation_queue")]
        permissions = [
            (HANDLE.partition(".")[2], "Can handle sessions: import, repair, fork, export, take over, claim outcomes"),
            (DECIDE.partition(".")[2], "Can approve operations and decide claims"),
            (ADMINISTER.partition(".")[2], "Can change policy, targets, probes and tokens"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.key}"


class Approval(models.Model):
    """One person's word for exactly what the digest covers; good for one dispatch, until it expires."""

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="approvals")
    digest = models.CharField(max_length=64)
    approver = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    alone = models.BooleanField(default=False)
    """Given by the proposer, where one person may act alone."""
    given_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.approver} for {self.operation_id}"


class Evidence(models.Model):
    """Something that supports or weakens an answer. Never changed, never deleted."""

    class Kind(models.TextChoices):
        TEXT = "text", "Note"
        LINK = "link", "Link"
        FILE = "file", "File"
        PROBE = "probe", "Probe"
        LATE_RESULT = "late-result", "Result that came too late"
        FILE_MARK = "file-mark", "Mark in the file"

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="evidence")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    says = models.TextField(blank=True)
    url = models.URLField(max_length=2000, blank=True)
    file = models.FileField(upload_to="evidence/%Y/%m/", blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    """Of the file, or of a probe's output."""
    probe = models.ForeignKey(Probe, null=True, on_delete=models.PROTECT, related_name="readings")
    verdict = models.CharField(max_length=12, blank=True)
    """A probe's: applied, not-applied, unclear, failed."""
    details = models.JSONField(default=dict)
    """A probe's `looked_at` and `output`; a late result's response and fence."""
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.says[:60]}"


class Claim(models.Model):
    """What one person says happened, with evidence; it counts when another person approves it."""

    class State(models.TextChoices):
        OPEN = "open", "Waiting for a second person"
        APPROVED = "approved", "Approved"
        REFUSED = "refused", "Refused"
        WITHDRAWN = "withdrawn", "Withdrawn"

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="claims")
    outcome = models.CharField(max_length=12, choices=Operation.Outcome.choices)
    statement = models.TextField()
    evidence = models.ManyToManyField(Evidence, related_name="claims")
    related = models.ForeignKey(Operation, null=True, on_delete=models.SET_NULL, related_name="+")
    """The operation that made it moot or that undid it."""
    effect_exists = models.BooleanField(null=True)
    """For “no longer needed”: whether the old effect exists all the same."""
    claimant = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    digest = models.CharField(max_length=64)
    """SHA-256 of what the second person is shown."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision_note = models.TextField(blank=True)
    alone = models.BooleanField(default=False)
    """Approved without a second person, where one person may act alone."""

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["operation"], condition=Q(state="open"), name="one_open_claim")]

    def __str__(self) -> str:
        return f"{self.outcome} ({self.state})"
