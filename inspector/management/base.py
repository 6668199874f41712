"""What all commands share: a wrong command line or input is one line on stderr (what, where, what to do) and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser, SystemCheckError

from inspector.core.errors import CoreError

JSON = "print the answer as one JSON document"
"""Help of `--json`."""


def one_line(error: Exception) -> str:
    """What an error says, on one line; what the system says of a file begins with the file."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    return " ".join(str(error).split())


def at(place: object, error: Exception) -> str:
    """The same, beginning with the place that the command was given, once."""
    said = one_line(error)
    return said if said.startswith(f"{place}: ") else f"{place}: {said}"


class Command(BaseCommand):
    """A command whose mistakes at the command line are one line each."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.error = self._refusal(parser, subcommand)  # type: ignore[method-assign]
        return parser

    def _refusal(self, parser: CommandParser, name: str) -> Callable[[str], NoReturn]:
        def refuse(message: str) -> NoReturn:
            said = f"{name}: {' '.join(message.split())}. See manage.py {name} --help"
            if parser.called_from_command_line:
                parser.exit(2, f"{said}\n")
            raise CommandError(said, returncode=2)

        return refuse

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)
        except SystemCheckError:
            raise
        except CommandError as error:
            if not getattr(self, "_called_from_command_line", False) or options.get("traceback"):
                raise
            self.stderr.write(one_line(error))
            sys.exit(error.returncode)


class FilesCommand(Command):
    """A command on files alone: it needs no database, and its exit code says whether the answer is clean."""

    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            code = self.run(options)
        except (CoreError, OSError, ValueError) as error:
            self.stderr.write(one_line(error))
            code = 2
        if code:
            sys.exit(code)

    def run(self, options: dict[str, Any]) -> int:
        """Do it and return the exit code. CoreError, OSError and ValueError are mistakes of the input."""
        raise NotImplementedError
