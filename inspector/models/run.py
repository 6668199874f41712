"""Run: the work that goes on under one session, whatever does it; and its lease, of which there is one holder at a time."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .session import Session


class Run(models.Model):
    """What one lease covers. An imported session has one; an application may register one before any transcript of it is here."""

    session = models.OneToOneField(Session, null=True, on_delete=models.SET_NULL, related_name="run")
    client = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    """The session's id in its own client, or the name that the application gave."""
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "name"], condition=models.Q(session__isnull=True), name="run_without_session")]

    def __str__(self) -> str:
        return self.name


class Lease(models.Model):
    """Who may act on a run. The row is never deleted: releasing it lets it expire, so that the fence only grows."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="lease")
    holder = models.CharField(max_length=200)
    """Name of the worker or the browser that holds it."""
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    fence = models.BigIntegerField(default=0)
    """One more with every taking: a write that carries an older one is refused."""
    taken_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.holder} ({self.fence})"


class Checkpoint(models.Model):
    """A boundary that an application passed: a completed read, a saved proposal, an approval, a resolved mutation; or its state before the system
    suspends it."""

    class Kind(models.TextChoices):
        READ = "completed-read", "Read completed"
        PROPOSAL = "saved-proposal", "Proposal saved"
        APPROVAL = "approval", "Approved"
        MUTATION = "resolved-mutation", "Change settled"
        SUSPENSION = "before-suspension", "Saved before a suspension"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    name = models.CharField(max_length=200)
    details = models.JSONField(default=dict)
    operation = models.ForeignKey("Operation", null=True, on_delete=models.SET_NULL, related_name="checkpoints")
    by = models.CharField(max_length=150)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "pk"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"
