"""`manage.py fork`: start a new session from a row of another one. Needs no database and changes nothing that it reads."""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from inspector.capture import langgraph_export
from inspector.core import fork, inspection, wording
from inspector.management import base, new_files, stores, text
from inspector.management.commands.repair import now, transcript

RESUME = 'graph.invoke(None, {{"configurable": {{"thread_id": "{}"}}}})'
"""How a program goes on with a thread."""


def id_of(given: str | None) -> str:
    """The id that was asked for, or a fresh one. Raises ValueError."""
    try:
        return str(uuid.UUID(given)) if given else str(uuid.uuid4())
    except ValueError:
        raise ValueError(f"--new-id {given}: give a UUID, or leave it out for a fresh one") from None


class Command(base.FilesCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="a transcript, a folder that holds exactly one session, or a store")
        parser.add_argument("--out", required=True, help="folder that the new session's files go to")
        parser.add_argument("--thread", metavar="ID", help="which thread of a store")
        parser.add_argument("--at", metavar="ROW", help="PART:ROW to go on from; without it, where a resume would go on")
        parser.add_argument("--new-id", metavar="UUID", help="id of the new session; without it, a fresh one")
        parser.add_argument("--json", action="store_true", help=base.JSON)

    def run(self, options: dict[str, Any]) -> int:
        new_id = id_of(options["new_id"])
        thread = stores.session(options["path"], options["thread"])
        source = thread or transcript(options["path"])
        looked = inspection.inspect(source)
        if looked.state.refused is not None:
            return self.refuse(options, looked.state.refused)
        made = fork.fork(looked, new_id=new_id, at=now(), row=options["at"])
        out, sha256 = self.write(made, Path(options["out"]), thread is not None)
        answer = {
            "path": options["path"],
            "out": str(out),
            "session": made.session,
            "forked_from": {"session": made.parent, "row": made.at},
            "base_sha256": source.parts[0].sha256(),
            "out_sha256": sha256,
            "files": [part.name for part in made.source.parts],
            "left_behind": made.left_behind,
            "notes": made.notes,
            "remains": [asdict(finding) for finding in made.remains()],
            "operations_open": made.operations_open(),
            "lineage": made.lineage,
            "resume": RESUME.format(made.session) if thread is not None else f"claude --resume {made.session}",
            "refused": None,
        }
        if options["json"]:
            self.stdout.write(json.dumps(answer, indent=1))
        else:
            place = f"{options['out'].rstrip('/')}/"
            into = f"put what is in {place} into the folder of this project in the client's projects folder (~/.claude/projects/…), then"
            self.stdout.write("\n".join([
                f"Written to {answer['out']} ({wording.count(len(answer['files']), 'file')}).",
                f"To resume it, {'open it with your graph' if thread is not None else into}: {answer['resume']}",
                *made.notes,
                *text.open_ends(made.remains(), made.inspection.operations, answer["out"]),
            ]))  # fmt: skip
        return 1 if made.remains() or made.operations_open() else 0

    def write(self, made: fork.Fork, folder: Path, is_thread: bool) -> tuple[Path, str]:
        """Write the fork; returns its main file and that file's SHA-256. Raises FileExistsError, OSError, ReadError."""
        if is_thread:
            out = folder / (made.session + (".sql" if langgraph_export.is_postgres(made.source) else ".sqlite"))
            new_files.free([out])
            return out, stores.written(made.source, out)
        files = {folder / part.name: part.data for part in made.source.parts}
        new_files.free(list(files))
        for path, data in reversed(files.items()):
            new_files.write(path, data)
        return folder / made.source.parts[0].name, made.source.parts[0].sha256()

    def refuse(self, options: dict[str, Any], why: str) -> int:
        if options["json"]:
            self.stdout.write(json.dumps({"path": options["path"], "out": None, "refused": why}, indent=1))
        else:
            self.stdout.write(f"Nothing was written. {why}")
        return 1
