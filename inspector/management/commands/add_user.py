"""`manage.py add_user`: add a person of team mode. The password is asked for, or read as one line from stdin when that is not a terminal."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from inspector.management import base
from inspector.models.roles import ROLES
from inspector.services import add_user as service


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", action="append", choices=ROLES, help="what the person may do; may be given more than once (default: operator)")

    def handle(self, *args: Any, **options: Any) -> None:
        password = getpass.getpass(f"Password for {options['name']}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        try:
            service.add_user(name=options["name"], password=password, roles=options["role"] or ["operator"])
        except ValidationError as error:
            raise CommandError(f"{options['name']}: {' '.join(error.messages)} Nobody was added.", returncode=2) from None
        self.stdout.write(f"{options['name']} can sign in.")
