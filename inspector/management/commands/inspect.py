"""`manage.py inspect`: the four forms of a session as JSON or text; needs no database and changes nothing that it reads."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandParser

from inspector.capture import folder
from inspector.capture.tables import Store
from inspector.core import inspection, reading, report, rulebook
from inspector.core.errors import CoreError, ReadError
from inspector.core.source import Source
from inspector.core.state import GATES, ResumeAs
from inspector.management import base, stores, text

HOWS = ("normal", "fork", "path", "switch")
LISTED = 1000
"""Threads of a store that are listed at once."""


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Answer one job (the keys of `inspect --batch`): a session's forms, or the list of sessions at its path. Raises CoreError or OSError."""
    return examined(job)[0]


def examined(job: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The answer to one job, and whether it is clean: whatever form was asked for, nothing above info was found and nothing is refused."""
    path, thread = job["path"], job.get("thread")
    store = stores.opened(path)
    if store is not None:
        with closing(store):
            return in_store(store, job)
    found = folder.session_files(Path(path))
    if not found:
        raise ReadError(f"{path}: no session was found here", hint="Name a transcript, or a folder that holds some")
    if thread is not None:
        found = [file for file, name in named(found) if thread in (name, file.stem, file.name)]
        if not found:
            raise ReadError(f"{path}: no session is called {thread!r}", hint="Without --thread the sessions are listed")
    if len(found) > 1:
        return {"path": path, "threads": [listed(file, name) for file, name in named(found)]}, True
    return looked_at(folder.source_of(found[0]), job)


def in_store(store: Store, job: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The same for a thread of a store. A store with several is answered by a list of them."""
    thread = job.get("thread")
    if thread is None:
        found = store.threads(limit=LISTED)
        if not found:
            raise ReadError(f"{job['path']}: the store holds no thread", hint="Nothing was saved: a resume has nothing to go on with")
        if len(found) > 1:
            threads = [{"thread": each.id, "title": each.title, "rows": each.rows, "at": each.at} for each in found]
            return {"path": job["path"], "threads": threads}, True
        thread = found[0].id
    doc, clean = looked_at(store.source(thread), job)
    return {**doc, "thread": thread}, clean


def looked_at(source: Source, job: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Inspect and diagnose one session. Raises CoreError."""
    looked = inspection.inspect(source, asked(job), job.get("client"))
    findings = rulebook.diagnose(looked)
    clean = looked.state.refused is None and all(finding.severity == "info" for finding in findings)
    return report.answer(job["path"], looked, findings, form_of(job)), clean


def asked(job: dict[str, Any]) -> ResumeAs:
    """The resume that a job asks about. Raises ReadError for a value that means nothing."""
    how, gates = job.get("resume_as") or "normal", job.get("gates") or {}
    if how not in HOWS:
        raise ReadError(f"resume_as {how!r} is not known", hint=f"Use one of {', '.join(HOWS)}")
    unknown = [name for name in gates if name not in GATES]
    if unknown:
        raise ReadError(f"gate {unknown[0]!r} is not known", hint=f"Known: {', '.join(GATES)}")
    return ResumeAs(how=how, version=job.get("client_version"), model=job.get("model"), prompt=job.get("prompt"), gates=tuple(sorted(gates.items())))


def form_of(job: dict[str, Any]) -> str:
    """The form that a job asks for. Raises ReadError."""
    form = job.get("form") or "all"
    if form not in report.FORMS:
        raise ReadError(f"form {form!r} is not known", hint=f"Use one of {', '.join(report.FORMS)}")
    return str(form)


def named(files: list[Path]) -> list[tuple[Path, str]]:
    """Files with the names that tell them apart: without their ending; where that occurs twice, with as many of their folders as it takes."""
    names = {file: (file.stem,) for file in files}
    while repeated := [name for name, number in Counter(names.values()).items() if number > 1]:
        longer = {file: (*file.parts[-1 - len(name) : -len(name)], *name) for file, name in names.items() if name in repeated}
        if all(names[file] == name for file, name in longer.items()):
            break
        names |= longer
    return [(file, "/".join(name)) for file, name in names.items()]


def listed(file: Path, name: str) -> dict[str, Any]:
    """One session of several, light: nothing is derived."""
    session = reading.read(folder.source_of(file))
    at = max((row.at for row in session.main() if row.at), default=None)
    return {"thread": name, "title": session.title, "rows": sum(1 for _ in session.main()), "at": at}


def jobs(stream: TextIO) -> Iterator[dict[str, Any]]:
    """Jobs of a batch, one a line; a line that is no job becomes one that says so."""
    for number, line in enumerate(stream, 1):
        if line.strip():
            try:
                job = json.loads(line)
            except ValueError as error:
                job = {"path": None, "wrong": f"line {number} is no JSON: {error}"}
            if not isinstance(job, dict) or ("wrong" not in job and not isinstance(job.get("path"), str)):
                job = {"path": None, "wrong": f"line {number} is no job: give an object with a `path`"}
            yield job


def batched(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to one job of a batch; a bad job is answered with what is wrong."""
    if "wrong" in job:
        return {"path": None, "error": job["wrong"]}
    try:
        return answer(job)
    except (CoreError, OSError) as error:
        return {"path": job["path"], "error": base.one_line(error)}


class Command(base.FilesCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", nargs="?", help="a transcript, a folder that holds sessions, or a session's own folder")
        parser.add_argument("--batch", metavar="FILE", help="answer one JSON job a line; - reads standard input")
        parser.add_argument("--client", help="read as this client's; without it the bytes decide")
        parser.add_argument("--client-version", metavar="V", help="simulate this release; without it the newest observed one")
        parser.add_argument("--model", help="model asked for at the resume")
        parser.add_argument("--resume-as", choices=HOWS, default="normal", help="how it is resumed (default: normal)")
        parser.add_argument("--prompt", metavar="TEXT", help="the new user message")
        parser.add_argument("--gate", action="append", default=[], metavar="NAME=on|off", help=f"a switch of the client: {', '.join(GATES)}")
        parser.add_argument("--thread", metavar="ID", help="which session of several")
        parser.add_argument("--form", default="all", choices=report.FORMS, help="show one form only (default: all); the exit code stays the same")
        parser.add_argument("--json", action="store_true", help=base.JSON)

    def run(self, options: dict[str, Any]) -> int:
        return self.batch(options["batch"]) if options["batch"] else self.one(options)

    def batch(self, name: str) -> int:
        if name == "-":
            return self.stream(sys.stdin)
        try:
            with open(name, encoding="utf-8") as stream:
                return self.stream(stream)
        except UnicodeDecodeError as error:
            raise ReadError(f"{name}: byte {error.start} is no UTF-8", hint="Give one JSON job a line") from None

    def stream(self, stream: TextIO) -> int:
        for job in jobs(stream):
            self.stdout.write(json.dumps(batched(job)))
        return 0

    def one(self, options: dict[str, Any]) -> int:
        if options["path"] is None:
            raise ReadError("nothing to inspect", hint="Give a PATH, or --batch FILE")
        gates = dict(map(gate, options["gate"]))
        keys = ("path", "client", "client_version", "model", "prompt", "thread", "form", "resume_as")
        doc, is_clean = examined({**{key: options[key] for key in keys}, "gates": gates})
        self.stdout.write(json.dumps(doc, indent=1) if options["json"] else text.answer(doc))
        return 0 if is_clean else 1


def gate(given: str) -> tuple[str, bool]:
    """`NAME=on|off`. Raises ReadError."""
    name, _, state = given.partition("=")
    if state not in ("on", "off"):
        raise ReadError(f"--gate {given}: give NAME=on or NAME=off")
    return name, state == "on"
