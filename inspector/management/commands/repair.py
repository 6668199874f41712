"""`manage.py repair`: plan a repair, write the repaired session to a new place, and check it. Needs no database and changes nothing that it reads."""

from __future__ import annotations

import json
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from inspector.capture import folder
from inspector.core import inspection, repair, rulebook
from inspector.core.errors import CoreError, ReadError
from inspector.core.repair import Plan
from inspector.core.steps import Resolution
from inspector.management import new_files

OUTCOMES = ("happened", "did-not-happen", "unknown")


def resolution(text: str) -> tuple[str, Resolution]:
    """`CALL=OUTCOME[:TEXT]`. Raises ValueError."""
    name, equals, rest = text.partition("=")
    outcome, _, said = rest.partition(":")
    if not name or not equals or outcome not in OUTCOMES:
        raise ValueError(f"--resolve {text}: give CALL={'|'.join(OUTCOMES)}, with :TEXT behind it if you like")
    return name, Resolution(outcome, said)  # type: ignore[arg-type]


def choice(text: str) -> tuple[str, str]:
    """`STEP=CHOICE`. Raises ValueError."""
    step, equals, chosen = text.rpartition("=")
    if not step or not equals:
        raise ValueError(f"--choose {text}: give STEP=CHOICE; --dry-run --json lists them")
    return step, chosen


def now() -> str:
    """This moment as transcripts write times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a transcript, or a folder that holds exactly one session")
        parser.add_argument("--out", required=True, help="where the repaired transcript goes; must not exist")
        parser.add_argument("--resolve", action="append", default=[], metavar="CALL=OUTCOME[:TEXT]")
        parser.add_argument("--choose", action="append", default=[], metavar="STEP=CHOICE")
        parser.add_argument("--dry-run", action="store_true", help="show the plan and write nothing")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            code = self.repair(options)
        except (CoreError, OSError, ValueError) as error:
            self.stderr.write(" ".join(str(error).split()))
            code = 2
        if code:
            sys.exit(code)

    def repair(self, options: dict[str, Any]) -> int:
        out = Path(options["out"])
        found = folder.session_files(Path(options["path"]))
        if len(found) != 1:
            raise ReadError(f"{options['path']} holds {len(found)} sessions", hint="Name one transcript")
        source = folder.source_of(found[0])
        looked = inspection.inspect(source)
        plan = repair.plan(
            looked,
            rulebook.diagnose(looked),
            seed=secrets.token_hex(16),
            at=now(),
            resolutions=dict(map(resolution, options["resolve"])),
            choices=dict(map(choice, options["choose"])),
        )
        made = repair.apply(source, plan)
        if plan.refused is None and not options["dry_run"]:
            files = new_files.beside(made, out)
            new_files.free([out, *files])
            for path, data in files.items():
                new_files.write(path, data)
            new_files.write(out, made.parts[0].data)
        answer = {
            "path": options["path"],
            "out": None if plan.refused is not None or options["dry_run"] else options["out"],
            "base_sha256": source.parts[0].sha256(),
            "out_sha256": made.parts[0].sha256(),
            **repair.report(plan),
        }
        if options["json"]:
            self.stdout.write(json.dumps(answer, indent=1))
        else:
            self.stdout.write(words(plan, answer))
        return 1 if plan.refused is not None or plan.remains() or plan.operations_open() else 0


def words(plan: Plan, answer: dict[str, Any]) -> str:
    """The answer for a person."""
    if plan.refused is not None:
        return f"Nothing was written. {plan.refused}"
    lines = [f"{step.id}: {step.why}" + (f" (choices: {', '.join(step.choices)})" if step.choices else "") for step in plan.steps()]
    lines.append(f"{len(lines)} steps, {answer['changed_bytes']} bytes changed." if lines else "Nothing needs repair.")
    lines += [f"Remains: {finding.code} at {', '.join(finding.rows[:3]) or 'the session'}: {finding.message}" for finding in plan.remains()]
    lines += [f"We don't know if this happened: {key}. Check the target, then use --resolve." for key in plan.operations_open()]
    lines.append(f"Written to {answer['out']} (SHA-256 {answer['out_sha256']})." if answer["out"] else "Nothing was written.")
    return "\n".join(lines)
