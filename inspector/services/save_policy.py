"""Save the operators' rules for effects as a new version, and judge again what it touches."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from inspector.core.canonical import digest
from inspector.core.errors import PolicyError
from inspector.core.policy import Policy
from inspector.models import PolicyVersion, Target
from inspector.models.roles import ADMINISTER
from inspector.models.text import clean, clean_json
from inspector.queries import ledger

from .append_audit import append_audit
from .apply_policy import Applied, apply_policy
from .moves import Refused
from .permit import permit

LONGEST_NOTE = 2000
SECONDS = 15
"""How long a person waits for sessions to be judged again; what is left then is for `manage.py judge_again`."""


def save_policy(*, actor: AbstractBaseUser, rules: Any, servers: Any, note: str, base: int) -> tuple[PolicyVersion, Applied]:
    """The new version, in force at once, and what judging again came to.

    `rules` and `servers` are as in `Policy.to_json`; `base` is the number of the version that was edited. Raises PermissionDenied, PolicyError
    with the place of what is wrong, ValidationError without a note or a change, Refused (`changed-meanwhile`) where somebody saved first.
    """
    permit(actor, ADMINISTER)
    note = clean(note.strip(), LONGEST_NOTE)
    if not note:
        raise ValidationError("Say why the policy is changed. The note stays with the version and in the audit trail.")
    before = ledger.policy()
    if base != before.version:
        raise Refused("changed-meanwhile", f"Version {before.version} was saved since you opened this page. Nothing was saved.")
    after = checked(rules=rules, servers=servers, number=before.version + 1)
    if (after.rules, after.servers) == (before.rules, before.servers):
        raise ValidationError("Nothing was changed, so there is nothing to save.")
    try:
        with transaction.atomic():
            version = PolicyVersion.objects.create(number=after.version, policy=after.to_json(), author=actor, note=note)
            counts = {"rules": len(after.rules), "servers": sorted(after.servers)}
            details = {"policy": after.version, "note": note, "sha256": digest(after.to_json())} | counts
            append_audit(actor=actor, action="policy-saved", details=details)
    except IntegrityError:
        raise Refused("changed-meanwhile", "Somebody else saved a version at the same time. Nothing was saved.") from None
    return version, apply_policy(before=before, after=after, actor=actor, seconds=SECONDS)


def checked(*, rules: Any, servers: Any, number: int) -> Policy:
    """The policy, if it can be one whose targets are declared. Raises PolicyError."""
    policy = Policy.from_json(clean_json({"version": number, "rules": rules, "servers": servers}))
    declared = set(Target.objects.filter(active=True).values_list("name", flat=True))
    for place, rule in enumerate(policy.rules):
        if rule.target and rule.target not in declared:
            hint = "Declare it on the page of targets first, or leave it blank"
            raise PolicyError(f"no active target is called {rule.target[:80]!r}", f"/rules/{place}/target", hint)
    return policy
