"""`manage.py gate`: may this session go on? `claim` gives a ticket or names what stands in the way; `renew` and `release` are for its lease."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError, CommandParser

from inspector import answers
from inspector.core.errors import ReadError
from inspector.management import base
from inspector.management.named import SESSION, session_named, user_named
from inspector.management.text import clean
from inspector.models import Session
from inspector.queries.readiness import Asked
from inspector.services.claim_session import SECONDS, Ticket, claim_session
from inspector.services.export_session import export_folder
from inspector.services.launch import LOCAL_USER
from inspector.services.moves import Refused
from inspector.services.register_run import run_of
from inspector.services.release_lease import release_lease
from inspector.services.renew_lease import renew_lease


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=("claim", "renew", "release"))
        parser.add_argument("session", help=SESSION)
        parser.add_argument("--as", dest="user", metavar="USER", help="whose work it is (local mode: the local user)")
        parser.add_argument("--holder", help="name of the worker (default: USER@HOST)")
        parser.add_argument("--seconds", type=int, default=SECONDS, help=f"how long the lease is good for (default: {SECONDS})")
        parser.add_argument("--fence", type=int, help="renew, release: the number that the ticket names")
        parser.add_argument("--source-sha256", default="", help="claim: hash of the transcript as it lies before the client, for an uploaded session")
        parser.add_argument("--permission-mode", default="", help="claim: mode that the client will be started in (default: the one it restores)")
        parser.add_argument("--attest", action="store_true", help="claim: you say that an uploaded session has not changed and no client has it open")
        parser.add_argument("--out", type=Path, help="claim: a folder for the session's files, laid out as the client's home; nothing is replaced")
        parser.add_argument("--json", action="store_true", help=base.JSON)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] != "claim" and options["fence"] is None:
            raise CommandError(f"gate {options['what']} needs --fence: the number that the ticket names", returncode=2)
        session, user = session_named(options["session"]), self._user(options["user"])
        holder = options["holder"] or f"{user.get_username()}@{platform.node()}"
        try:
            if options["what"] == "claim":
                self._claim(session, user, holder, options)
            else:
                self._lease(session, user, holder, options)
        except Refused as refused:
            self._refused(answers.refusal(refused, session), options["json"])
        except PermissionDenied as denied:
            self._refused({"code": "forbidden", "says": str(denied)}, options["json"])

    def _user(self, name: str | None) -> AbstractUser:
        if name is None and settings.TEAM_MODE:
            raise CommandError("say with --as USER whose work it is", returncode=2)
        return user_named(name or LOCAL_USER)

    def _claim(self, session: Session, user: AbstractUser, holder: str, options: dict[str, Any]) -> None:
        asked = Asked(
            holder=holder, source_sha256=options["source_sha256"], permission_mode=options["permission_mode"],
            attested=user.get_username() if options["attest"] else "",
        )  # fmt: skip
        ticket = claim_session(session=session, actor=user, asked=asked, seconds=options["seconds"])
        if options["out"] is not None:
            try:
                export_folder(revision=ticket.revision, path=options["out"], actor=user)
            except (OSError, ReadError) as error:
                release_lease(run=ticket.lease.run, actor=user, holder=ticket.lease.holder, fence=ticket.lease.fence)
                raise CommandError(f"{base.at(options['out'], error)}; the lease was given back", returncode=2) from None
        answer = answers.ticket(ticket)
        self.stdout.write(json.dumps({"ticket": answer}) if options["json"] else "\n".join(_told(ticket, answer)))

    def _lease(self, session: Session, user: AbstractUser, holder: str, options: dict[str, Any]) -> None:
        run, fence = run_of(session), options["fence"]
        if options["what"] == "renew":
            lease = renew_lease(run=run, actor=user, holder=holder, fence=fence, seconds=options["seconds"])
            said = {"lease": answers.lease(lease)}
            text = f"{holder} holds it until {lease.expires_at:%Y-%m-%d %H:%M:%S %Z}."
        else:
            release_lease(run=run, actor=user, holder=holder, fence=fence)
            said, text = {"released": True}, "The lease was given back."
        self.stdout.write(json.dumps(said) if options["json"] else text)

    def _refused(self, error: dict[str, Any], as_json: bool) -> None:
        """The answer is no: exit code 1."""
        if as_json:
            self.stdout.write(json.dumps({"error": error}))
        else:
            for line in error.get("lines", ()):
                self.stdout.write(f"{line['name']}: {clean(line['says'], 400)}  {line['link']}")
            self.stderr.write(clean(error["says"], 400))
        sys.exit(1)


def _told(ticket: Ticket, answer: dict[str, Any]) -> list[str]:
    """The ticket for a person at a terminal."""
    said = [
        f"Revision {ticket.revision.number} of session {ticket.session.pk} may resume until {ticket.lease.expires_at:%Y-%m-%d %H:%M:%S %Z}.",
        f"holder {clean(ticket.lease.holder)}, fence {ticket.lease.fence}",
        f"{answer['transcript']['sha256']}  {clean(answer['transcript']['name'], 400)}",
    ]
    for word, operations in (("done, not again", ticket.completed), ("approved", ticket.allowed), ("not without a new approval", ticket.forbidden)):
        said += [f"{word}: {clean(each.tool)}  {clean(each.key)}" for each in operations]
    if answer["resume"]:
        said.append(f"To resume: {clean(answer['resume'], 2000)}")
    return [*said, f"Newest entry of the audit trail: {ticket.audit_head}"]
