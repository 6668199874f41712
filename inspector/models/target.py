"""What an administrator declares: targets with what they promise, read-only probes, and the policy by which effects are classed."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Probe(models.Model):
    """A read-only look at a target, as a template: `kind`, `config` and `parameters` are those of `inspector.probes.Template`."""

    name = models.SlugField(max_length=80, unique=True)
    kind = models.CharField(max_length=40)
    config = models.JSONField(default=dict)
    parameters = models.JSONField(default=dict)
    """Name of each value that a person types -> the regular expression that it must match as a whole."""
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Target(models.Model):
    """A system that operations act on, with the contract that it is known to keep."""

    class Kind(models.TextChoices):
        KEY = "key", "Knows an operation again by its key"
        LOOKUP = "lookup", "Can be asked what happened"
        OPAQUE = "http-service", "Can't be asked"
        SAME_DATABASE = "same-database", "Its change and its operation are one transaction"

    name = models.SlugField(max_length=80, unique=True)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    contract = models.TextField(blank=True)
    """What the target promises, in the words of its documentation, and where that stands."""
    key_valid_seconds = models.PositiveIntegerField(default=0)
    """How long the target knows a key after it was first sent; 0: it has no keys."""
    quiet_seconds = models.PositiveIntegerField(default=300)
    """Longest pause of a worker plus longest time a request may be under way: only after it is “not found” evidence."""
    probe = models.ForeignKey(Probe, null=True, blank=True, on_delete=models.PROTECT, related_name="targets")
    probe_max_age_seconds = models.PositiveIntegerField(default=900)
    """How old a probe's answer may be when work goes on."""
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class PolicyVersion(models.Model):
    """One state of the operators' rules for effects. Every save is a new one; the highest number is in force."""

    number = models.PositiveIntegerField(primary_key=True)
    policy = models.JSONField()
    """As `core.policy.Policy.to_json`."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    note = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"policy {self.number}"
