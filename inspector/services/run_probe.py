"""Look at a target by a probe, because a person clicked, and keep what was found as evidence."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from inspector import probes
from inspector.core.errors import CoreError
from inspector.core.expected_content import ExpectedContent, expected_content, expected_of
from inspector.models import Evidence, Operation, Probe
from inspector.models.roles import HANDLE
from inspector.models.text import clean, clean_json
from inspector.queries.derivation import inspection_of

from .append_audit import append_audit
from .permit import permit
from .save_probe import template_of

FILE = "file-hash"


def run_probe(*, operation: Operation, probe: Probe, values: Mapping[str, str], actor: AbstractBaseUser) -> Evidence:
    """The evidence, whatever the probe says; `values` were typed by the person. Looks first and writes then: no transaction waits for a target.

    Raises PermissionDenied, ValidationError for a probe that is switched off or faulty and for values that it does not take; then nothing was
    asked and nothing is kept.
    """
    permit(actor, HANDLE)
    template = template_of(probe)
    if not probe.active:
        raise ValidationError("This probe is switched off.")
    if wrong := probes.validate(template):
        raise ValidationError(f"An administrator must set the probe right first: {' '.join(wrong)}")
    if wrong := probes.refused(template, values):
        raise ValidationError(wrong)
    content = content_of(operation) if probe.kind == FILE else ExpectedContent(None, None, None)
    reading = probes.run(template, values, probes.Expected(content.after, content.before, operation.sent_at))
    verdict, says = str(reading.verdict), reading.says
    if content.path and _name(values.get("path", "")) != _name(content.path) and verdict in ("applied", "not-applied"):
        # Its digest may fit by chance, as that of an empty file does.
        verdict, says = "unclear", f"{says} But the call names another file: {content.path}"
    details = {"looked_at": reading.looked_at, "output": reading.output.decode("utf-8", "replace")}
    with transaction.atomic():
        evidence = Evidence.objects.create(
            operation=operation, kind=Evidence.Kind.PROBE, probe=probe, verdict=verdict, says=clean(says), details=clean_json(details),
            sha256=reading.output_sha256, by=actor,
        )  # fmt: skip
        append_audit(
            actor=actor, action="probe-run", session=operation.run.session_id,
            details={"operation": operation.key, "evidence": evidence.pk, "probe": probe.name, "verdict": verdict, "sha256": evidence.sha256},
        )  # fmt: skip
    return evidence


def content_of(operation: Operation) -> ExpectedContent:
    """What the operation's file held before its call and would hold after it, as far as its arguments and its session's own backups say."""
    session = operation.run.session
    if session is not None and session.current is not None:
        session.current.session = session
        try:
            inspection = inspection_of(revision=session.current).inspection
        except (CoreError, OSError):
            pass
        else:
            called = (each for each in inspection.operations if (each.call_id or "") == operation.call_id)
            found = next((each for each in called if clean(each.key, 200) == operation.key), None)
            if found is not None:
                return expected_of(inspection.session, found)
    return expected_content(operation.tool, operation.arguments, None)


def _name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
