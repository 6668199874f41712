"""`manage.py repair`: plan a repair, write the repaired session to a new place, and check it. Needs no database and changes nothing that it reads."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from inspector.capture import folder
from inspector.core import inspection, repair, rulebook, wording
from inspector.core.errors import ReadError
from inspector.core.repair import Plan
from inspector.core.source import Source
from inspector.core.steps import Resolution
from inspector.management import base, new_files, stores, text

OUTCOMES = ("happened", "did-not-happen", "unknown")


def resolution(given: str) -> tuple[str, Resolution]:
    """`KEY=OUTCOME[:TEXT]`. Raises ValueError."""
    name, equals, rest = given.partition("=")
    outcome, _, said = rest.partition(":")
    if not name or not equals or outcome not in OUTCOMES:
        raise ValueError(f"--resolve {given}: give KEY=happened, KEY=did-not-happen or KEY=unknown, with :TEXT behind it if you like")
    return name, Resolution(outcome, said)  # type: ignore[arg-type]


def choice(given: str) -> tuple[str, str]:
    """`STEP=CHOICE`. Raises ValueError."""
    step, equals, chosen = given.rpartition("=")
    if not step or not equals:
        raise ValueError(f"--choose {given}: give STEP=CHOICE; --dry-run lists them")
    return step, chosen


def transcript(path: str) -> Source:
    """The one session at a path. Raises ReadError where there are several or none."""
    found = folder.session_files(Path(path))
    if len(found) != 1:
        raise ReadError(f"{path} holds {len(found)} sessions", hint="Name one transcript")
    return folder.source_of(found[0])


def now() -> str:
    """This moment as transcripts write times."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Command(base.FilesCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a transcript, a folder that holds exactly one session, or a store")
        parser.add_argument("--thread", metavar="ID", help="which thread of a store")
        parser.add_argument("--out", help="where the repaired transcript or thread goes; must not exist (not needed with --dry-run)")
        parser.add_argument(
            "--resolve", action="append", default=[], metavar="KEY=OUTCOME[:TEXT]",
            help="what a person found out about an open operation: KEY=happened, KEY=did-not-happen or KEY=unknown, and in their words :TEXT; "
            "KEY is the operation's key or its call's id; may be given again for another one",
        )  # fmt: skip
        parser.add_argument(
            "--choose", action="append", default=[], metavar="STEP=CHOICE",
            help="take another way in one step, for example unresolved-call:0:22=leave-out; --dry-run lists the steps and their choices",
        )  # fmt: skip
        parser.add_argument("--dry-run", action="store_true", help="show the plan and write nothing")
        parser.add_argument("--json", action="store_true", help=base.JSON)

    def run(self, options: dict[str, Any]) -> int:
        if options["out"] is None and not options["dry_run"]:
            raise ReadError("repair: no --out is given", hint="Say where the repaired transcript goes, or use --dry-run")
        thread = stores.session(options["path"], options["thread"])
        source = thread or transcript(options["path"])
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
        out_sha256 = made.parts[0].sha256()
        if thread is not None and plan.refused is None and not options["dry_run"]:
            new_files.free([Path(options["out"])])
            out_sha256 = stores.written(made, Path(options["out"]))
        elif plan.refused is None and not options["dry_run"]:
            out = Path(options["out"])
            files = new_files.beside(made, out)
            new_files.free([out, *files])
            for path, data in files.items():
                new_files.write(path, data)
            new_files.write(out, made.parts[0].data)
        answer = {
            "path": options["path"],
            "out": None if plan.refused is not None or options["dry_run"] else options["out"],
            "base_sha256": source.parts[0].sha256(),
            "out_sha256": out_sha256,
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
    changed = wording.count(answer["changed_bytes"], "byte")
    lines.append(f"{wording.count(len(lines), 'step')}, {changed} changed." if lines else "Nothing needs repair.")
    lines += text.open_ends(plan.remains(), plan.outcome.inspection.operations)
    lines.append(f"Written to {answer['out']} (SHA-256 {answer['out_sha256']})." if answer["out"] else "Nothing was written.")
    return "\n".join(lines)
