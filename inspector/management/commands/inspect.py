"""`manage.py inspect`: the four forms of a session as JSON or text; needs no database and changes nothing that it reads."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from inspector.capture import folder
from inspector.core import inspection, report, rulebook
from inspector.core.errors import CoreError
from inspector.core.state import ResumeAs


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Answer one job (the keys of `inspect --batch`). Raises CoreError or OSError."""
    files = folder.session_files(Path(job["path"]))
    resume_as = ResumeAs(
        how=job.get("resume_as") or "normal",
        version=job.get("client_version"),
        model=job.get("model"),
        prompt=job.get("prompt"),
        gates=tuple(sorted((job.get("gates") or {}).items())),
    )
    looked = inspection.inspect(folder.source_of(files[0]), resume_as, job.get("client"))
    return report.answer(job["path"], looked, rulebook.diagnose(looked), job.get("form") or "all")


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", nargs="?")
        parser.add_argument("--batch")
        parser.add_argument("--form", default="all", choices=report.FORMS)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"]:
            stream = sys.stdin if options["batch"] == "-" else open(options["batch"], encoding="utf-8")
            for line in stream:
                if line.strip():
                    job = json.loads(line)
                    try:
                        doc = answer(job)
                    except (CoreError, OSError) as error:
                        doc = {"path": job.get("path"), "error": str(error)}
                    self.stdout.write(json.dumps(doc))
            return
        self.stdout.write(json.dumps(answer({"path": options["path"], "form": options["form"]}), indent=1))
