"""Apply the plan that a person reviewed: it is made again from the same inputs, and only the very same plan is applied."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import AbstractBaseUser

from inspector.core import repair
from inspector.core.errors import ApplyError
from inspector.core.resolving import STAMP
from inspector.core.steps import Resolution
from inspector.models import Revision
from inspector.models.roles import HANDLE
from inspector.queries import ledger
from inspector.queries.artifacts import source_of
from inspector.queries.derivation import inspection_of

from .add_revision import add_revision
from .permit import permit


def repair_session(
    *, revision: Revision, actor: AbstractBaseUser, seed: str, at: str, choices: Mapping[str, str], digest: str
) -> Revision:  # fmt: skip
    """The repaired revision. `seed` and `at` (ISO 8601 with `Z`) are those of the review; `digest` is that of the plan which was shown.

    What was found out about its operations is taken from the kept ledger; it stays in the plan, in the audit entry and in the new rows' marks.
    Raises PermissionDenied, ApplyError where the plan is no longer the one that was reviewed, PlanError where none can be made.
    """
    permit(actor, HANDLE)
    derived = inspection_of(revision=revision)
    resolutions = ledger.resolutions_of(derived.inspection, revision.session)
    plan = repair.plan(derived.inspection, derived.findings, seed=seed, at=at, choices=choices, resolutions=resolutions)
    if plan.refused is not None:
        raise ApplyError(f"there is nothing to resume: {plan.refused}", hint="Nothing was written")
    if plan.digest() != digest:
        raise ApplyError("the plan is not the one that was reviewed", hint="Look at the new plan and apply that one")
    found = [_on_record(key, resolution) for key, resolution in resolutions.items()]
    tools = {operation.key: operation.tool for operation in derived.inspection.operations}
    said = (f"{tools.get(each['operation'], each['operation'])[:60]}: {each['outcome']}" for each in found)
    note = ", ".join(dict.fromkeys([*(step.finding for step in plan.steps()), *said]))
    return add_revision(
        base=revision, source=repair.apply(source_of(revision), plan), plan=repair.report(plan) | {"resolutions": found},
        lineage=plan.outcome.lineage, actor=actor, note=note, details={"resolutions": found} if found else None,
    )  # fmt: skip


def _on_record(key: str, resolution: Resolution) -> dict[str, str]:
    """What was found, by whom, when, and who confirmed it or that nobody did, as plan and audit entry keep it."""
    kept = {"operation": key, "outcome": resolution.outcome, "text": resolution.text, "by": resolution.by, "at": resolution.at}
    return kept | ({"confirmed_by": resolution.confirmed_by} if resolution.confirmed_by else {"stamp": STAMP})
