"""`manage.py revoke_token`: the next request that carries this token of a person is refused."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from inspector.management import base
from inspector.queries import tokens
from inspector.services.revoke_token import revoke_token


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="whose token it is")
        parser.add_argument("name", help="the name that it was given")

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(tokens.current().filter(user__username=options["user"], name=options["name"]))
        if not found:
            raise CommandError(f"{options['user']} has no current token named {options['name']!r}", returncode=2)
        for token in found:
            revoke_token(token=token, actor=None)
        self.stdout.write(f"{options['name']} of {options['user']} is revoked.")
