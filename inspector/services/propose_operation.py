"""Register what an application or agent is about to do, before it does it: nothing is sent, and only one attempt of an intent is open at a time."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q

from inspector.core.canonical import canonical, digest
from inspector.core.effects import effect_of, policy_version
from inspector.core.operations import target_of
from inspector.core.targets import kind_of
from inspector.models import Operation, Run, Target
from inspector.models.roles import HANDLE
from inspector.models.text import clean, clean_json
from inspector.queries import ledger

from .append_audit import append_audit
from .cancel_operation import expire_approvals
from .moves import HAPPENED_AFTER_ALL, Refused, deed
from .permit import permit

State, Outcome = Operation.State, Operation.Outcome
LONGEST_ARGUMENTS = 1_000_000
"""Characters of the arguments as JSON."""

SAME_INTENT = (
    "Another operation of the same intent is open, has happened, is no longer needed, or has been tried again already. If it is wanted once more, "
    "give it an intent of its own."
)


def propose_operation(
    *, run: Run, actor: AbstractBaseUser, tool: str, arguments: Any, intent: str = "", call_id: str = "", target: str = "", environment: str = "",
    idempotency_key: str = "", retry_of: Operation | None = None,
) -> Operation:  # fmt: skip
    """The operation, in state proposed. Without `intent`, the same tool and arguments in the same run are the same intent.

    A retry is a new operation of the same intent; it is allowed where the earlier one was refused by its target or did not happen. Raises
    PermissionDenied, ValidationError for values that mean nothing, and Refused (`same-intent`, `key-used`, `no-retry`).
    """
    permit(actor, HANDLE)
    tool, arguments = clean(tool.strip(), 200), clean_json(arguments)
    if not tool:
        raise ValidationError("An operation needs a tool: the name of what is to be done.")
    if len(canonical(arguments)) > LONGEST_ARGUMENTS:
        raise ValidationError(f"The arguments are longer than {LONGEST_ARGUMENTS:,} characters as JSON. Register a reference to them instead.")
    ruled = ledger.policy().rule_for(run.client, tool, arguments)
    declared = Target.objects.filter(name=target or (ruled[1].target if ruled else ""), active=True).first()
    if target and declared is None:
        raise ValidationError(f"No target named {target!r} is declared. An administrator declares targets on the policy page.")
    with deed(actor=actor, action="propose-operation", run=run, operation=retry_of):
        expire_approvals(run=run)
        if retry_of is not None:
            _may_retry(retry_of, run)
        else:
            _not_recorded(run, tool, arguments, intent, call_id)
        intent = retry_of.intent if retry_of else clean(intent, 200) or digest([run.client, run.name, tool, arguments])
        attempt = Operation.objects.filter(client=run.client, intent=intent, origin=Operation.Origin.LIVE).count() + 1
        policy = ledger.policy()
        effect = effect_of(run.client, tool, arguments, policy)
        kind = kind_of(tool, str(effect.name), arguments, run.client, declared.kind if declared else "")
        operation = Operation(
            run=run, origin=Operation.Origin.LIVE, key="live-" + digest([run.pk, intent, attempt])[:24], intent=intent, call_id=clean(call_id, 200),
            client=run.client, tool=tool, arguments=arguments, target_text=clean(target_of(arguments), 2000), target=declared,
            target_kind=kind, environment=clean(environment, 80), effect=str(effect.name),
            why_effect=clean(effect.why), policy=policy_version(policy), state=Operation.State.PROPOSED, proposer=actor,
            idempotency_key=clean(idempotency_key, 200), retry_of=retry_of,
        )  # fmt: skip
        operation.digest = ledger.digest_of(operation)
        try:
            with transaction.atomic():
                operation.save(force_insert=True)
        except IntegrityError:
            other = Operation.objects.filter(client=run.client, intent=intent).order_by("-pk").values_list("pk", flat=True).first()
            if declared and idempotency_key and Operation.objects.filter(target=declared, idempotency_key=operation.idempotency_key).exists():
                raise Refused("key-used", "Another operation of this target has this key: the target would take them for one.") from None
            raise Refused("same-intent", SAME_INTENT, operation=other) from None
        if run.session is not None:
            operation.sessions.add(run.session)
        append_audit(
            actor=actor, action="operation-proposed", session=run.session_id,
            details={"operation": operation.key, "tool": tool, "to": operation.state, "run": run.pk, "digest": operation.digest},
        )  # fmt: skip
    return operation


def _may_retry(earlier: Operation, run: Run) -> None:
    not_applied = earlier.state == Operation.State.RESOLVED and earlier.outcome == Operation.Outcome.NOT_APPLIED
    settled = earlier.state == Operation.State.FAILED or not_applied
    if not settled or earlier.run_id != run.pk:
        raise Refused("no-retry", "Only what was refused by its target, or did not happen, may be tried again. Find out first what happened.")
    if ledger.happened_after_all(earlier):
        raise Refused("no-retry", HAPPENED_AFTER_ALL)


def _not_recorded(run: Run, tool: str, arguments: Any, intent: str, call_id: str) -> None:
    """Raises Refused where the transcript has this call, or without an intent the same act, and it may have happened, or is no longer needed."""
    done = Q(state__in=(State.UNCERTAIN, State.CONFIRMED)) | Q(state=State.RESOLVED, outcome__in=(Outcome.APPLIED, Outcome.SUPERSEDED))
    recorded = ledger.of_run(run).filter(done, origin=Operation.Origin.RECORDED, tool=tool)
    same = recorded.filter(call_id=clean(call_id, 200)).values_list("pk", flat=True).first() if call_id else None
    if same is None and not intent:
        same = next((pk for pk, given in recorded.values_list("pk", "arguments") if given == arguments), None)
    if same is not None:
        raise Refused("same-intent", SAME_INTENT, operation=same)
