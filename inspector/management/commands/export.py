"""`manage.py export`: the bytes of a session as they were brought in, repaired or forked; never over an existing file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from inspector.core import wording
from inspector.core.errors import ReadError
from inspector.management import base
from inspector.management.named import SESSION, session_named
from inspector.models import Revision
from inspector.services import export_session as service


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", help=SESSION)
        parser.add_argument("--revision", type=int, help="number of the revision (default: the newest)")
        parser.add_argument("--mask-secrets", action="store_true", help="mask keys, tokens and passwords; the bytes then differ from the original's")
        parser.add_argument(
            "--out", type=Path, required=True,
            help="NAME.jsonl, NAME.json: the transcript (NAME.sqlite, NAME.sql: a thread of a store); NAME.zip: all files; else a folder for all",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        revision = self._revision(options["session"], options["revision"])
        out: Path = options["out"]
        asked = {"revision": revision, "actor": None, "mask_secrets": options["mask_secrets"]}
        try:
            if out.suffix in (".jsonl", ".json", ".sqlite", ".sql"):
                exported = service.export_file(path=out, **asked)
            elif out.suffix == ".zip":
                if out.exists():
                    raise FileExistsError(out)
                exported, packed = service.export_zip(**asked)
                with packed, out.open("xb") as target:
                    shutil.copyfileobj(packed, target)
            else:
                exported = service.export_folder(path=out, **asked)
        except FileExistsError:
            raise CommandError(f"{out}: something of that name exists already; nothing is replaced. Choose another --out", returncode=2) from None
        except (OSError, ReadError) as error:
            raise CommandError(base.at(out, error), returncode=2) from None
        files, masked = wording.count(len(exported.files), "file"), ", masked" if exported.masked else ""
        self.stdout.write(f"{exported.sha256}  {exported.name}  {wording.count(exported.size, 'byte')}, {files}{masked}")
        self.stdout.write(f"Audit trail: {exported.audit}")
        if exported.resume:
            self.stdout.write(f"To resume: {exported.resume}")

    def _revision(self, named: str, number: int | None) -> Revision:
        session = session_named(named)
        revision = session.current if number is None else session.revisions.filter(number=number).first()
        if revision is None:
            raise CommandError(f"session {named} has no revision {number or ''}".rstrip(), returncode=2)
        return revision
