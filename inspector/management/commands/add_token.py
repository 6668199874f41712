"""`manage.py add_token`: give a program an access token of a person. It is printed once and can't be shown again."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from inspector.management import base
from inspector.management.named import user_named
from inspector.services.issue_token import issue_token


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="whose token it is: it may do what this person may do")
        parser.add_argument("name", help="the program that will use it")
        parser.add_argument("--days", type=int, help="days that it is good for (default: until revoke_token)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            _, token = issue_token(user=user_named(options["user"]), name=options["name"], actor=None, days=options["days"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages), returncode=2) from None
        self.stdout.write(token)
