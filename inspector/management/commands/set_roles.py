"""`manage.py set_roles`: give a person of team mode other roles; without a role the person sees nothing any more."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from inspector.management import base
from inspector.models.roles import ROLES
from inspector.services import set_roles as service


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", action="append", default=[], choices=ROLES, help="may be given more than once")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            service.set_roles(name=options["name"], roles=options["role"])
        except ValidationError as error:
            raise CommandError(f"{options['name']}: {' '.join(error.messages)} Nothing was changed.", returncode=2) from None
        said = ", ".join(dict.fromkeys(options["role"])) or "no role: sees nothing"
        self.stdout.write(f"{options['name']}: {said}.")
