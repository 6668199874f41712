"""The run of a session, or of work that no transcript of is here yet."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction

from inspector.models import Run, Session
from inspector.models.roles import HANDLE
from inspector.models.text import clean

from .append_audit import append_audit
from .permit import permit


def run_of(session: Session) -> Run:
    """The run of an imported session, made the first time; a run that an application registered under its id before becomes it."""
    found = Run.objects.filter(session=session).first()
    if found is not None:
        return found
    name = session.native_id or session.name
    if session.relation == Session.Relation.NONE and name:
        Run.objects.filter(session=None, client=session.client, name=name).update(session=session)
    run, _ = Run.objects.get_or_create(session=session, defaults={"client": session.client, "name": name})
    return run


def register_run(*, actor: AbstractBaseUser, client: str, name: str) -> Run:
    """The run called `name` (the session's id in its client): that of the newest imported session of this id, else one without a session.

    Raises PermissionDenied, ValidationError for an empty name.
    """
    permit(actor, HANDLE)
    client, name = clean(client.strip(), 40), clean(name.strip(), 200)
    if not client or not name:
        raise ValidationError("A run needs a client and a name: the id of its session in that client.")
    with transaction.atomic():
        session = Session.objects.filter(client=client, native_id=name).exclude(relation=Session.Relation.SUB_AGENT).order_by("-pk").first()
        if session is not None:
            return run_of(session)
        run, made = Run.objects.get_or_create(session=None, client=client, name=name)
        if made:
            append_audit(actor=actor, action="run-registered", details={"run": run.pk, "client": client, "name": name})
    return run
