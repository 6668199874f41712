"""Set up a read-only probe, or change it: people may then click it, and nothing else ever runs it."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from inspector import probes
from inspector.core.canonical import digest
from inspector.models import Probe
from inspector.models.roles import ADMINISTER

from .append_audit import append_audit
from .permit import permit


def template_of(probe: Probe) -> probes.Template:
    """The probe as the room of probes takes it."""
    return probes.Template(probe.name, probe.kind, probe.config, probe.parameters)


def save_probe(*, actor: AbstractBaseUser, probe: Probe) -> Probe:
    """Save a new or changed probe. Its name stays: readings are kept under it.

    One that is switched off may be faulty, so that a probe whose folder is gone can still be switched off. Raises PermissionDenied,
    ValidationError.
    """
    permit(actor, ADMINISTER)
    probe.clean_fields(exclude=["config", "parameters"])  # both may be empty, which is no fault by itself
    probe.validate_unique()
    if not isinstance(probe.parameters, dict):
        raise ValidationError({"parameters": "The parameters must be a JSON object: name -> regular expression."})
    before = Probe.objects.filter(pk=probe.pk).first() if probe.pk else None
    if before is not None and before.name != probe.name:
        raise ValidationError({"name": "The name of a probe stays: its readings are kept under it. Set up another one."})
    wrong = probes.validate(template_of(probe)) if probe.active else []
    if wrong:
        raise ValidationError({"config": wrong})
    said = {"probe": probe.name, "kind": probe.kind, "active": probe.active, "sha256": digest([probe.config, probe.parameters])}
    with transaction.atomic():
        probe.save()
        append_audit(actor=actor, action="probe-saved" if before else "probe-added", details=said)
    return probe
