"""`manage.py import_sessions`: bring in transcripts, session folders, `projects` trees, `.claude` folders and archives; `--watch` keeps on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import watchfiles
from django.core.management.base import CommandError, CommandParser

from inspector.capture import archive, folder, layout
from inspector.capture import store as store_file
from inspector.capture.files import Tree
from inspector.core.errors import CoreError, ReadError
from inspector.management import base, stores
from inspector.services import import_sessions as service

STORES = (".sqlite", ".sqlite3", ".db")
"""How the files of stores end that are looked for in a folder."""


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", nargs="+", type=Path,
            help="a transcript, a session folder, a projects tree, a .claude folder, a zip, tar or tar.gz, a store or its name in INSPECTOR_STORES",
        )  # fmt: skip
        parser.add_argument("--thread", action="append", default=[], metavar="ID", help="only this thread of a store; may be given again")
        parser.add_argument("--watch", action="store_true", help="go on, and import each session again when its file changes (Ctrl+C ends it)")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["path"]:
            self._import(path, options["thread"])
        if options["watch"]:
            self._watch(options["path"])

    def _import(self, path: Path, threads: Sequence[str] = ()) -> None:
        with ExitStack() as stack:
            try:
                found = candidates(path, stack, threads)
                outcomes = service.import_sessions(candidates=found, progress=self._progress)
            except (CoreError, OSError) as error:
                raise CommandError(base.at(path, error), returncode=2) from None
        words = {what: sum(1 for outcome in outcomes if outcome.what == what) for what in ("imported", "changed", "unchanged")}
        said = ", ".join(f"{count} {what}" for what, count in words.items() if count)
        self.stdout.write(f"{path.name}: {said or 'no session'}")

    def _progress(self, at: service.Progress) -> None:
        if sys.stderr.isatty():
            end = "\n" if at.done == at.total else ""
            self.stderr.write(f"\r{at.done} of {at.total} sessions, {at.bytes / 1e6:.1f} of {at.total_bytes / 1e6:.1f} MB\x1b[K{end}", ending="")

    def _watch(self, paths: list[Path]) -> None:
        self.stdout.write("Watching for changes. Ctrl+C ends it.")
        try:
            for changes in watchfiles.watch(*paths):
                gone = {Path(name) for kind, name in changes if kind == watchfiles.Change.deleted}
                for path in sorted({transcript_of(Path(name)) for _, name in changes} - gone - {None}, key=str):
                    try:
                        self._import(path)
                    except CommandError as error:  # one bad file must not end the watch
                        self.stderr.write(str(error))
        except KeyboardInterrupt:
            pass


def candidates(path: Path, stack: ExitStack, threads: Sequence[str] = ()) -> Sequence[layout.Candidate]:
    """The sessions at a path, or the threads of a store; an archive is opened. Raises CoreError, OSError."""
    limits = service.limits()
    store = stores.opened(str(path))
    if store is not None:
        stack.callback(store.close)
        return store_file.candidates(store, str(path.resolve()) if path.exists() else f"store:{path}", list(threads), limits)
    if path.is_dir() and (held := in_folder(path, stack)):
        try:
            return [*folder.candidates(path, limits), *held]
        except ReadError:  # no transcript besides
            return held
    if path.is_file():
        file = stack.enter_context(path.open("rb"))
        if archive.kind_of(file.read(512)):
            tree: Tree = stack.enter_context(archive.tree_of(file, path.name, limits))
            return list(layout.sessions_of(tree))
    return folder.candidates(path, limits)


def in_folder(path: Path, stack: ExitStack) -> list[layout.Candidate]:
    """The threads of the stores in a folder, in order; a SQLite file that is none, or that can't be read, is passed over."""
    found: list[layout.Candidate] = []
    for file in sorted(each for each in path.rglob("*") if each.suffix in STORES and each.is_file() and not each.is_symlink()):
        try:
            store = stores.opened(str(file))
        except CoreError:
            continue
        if store is not None:
            stack.callback(store.close)
            found += store_file.candidates(store, str(file.resolve()), [], service.limits())
    return found


def transcript_of(path: Path) -> Path | None:
    """The main transcript that a changed file belongs to: itself, or the one beside a folder of its session."""
    for place in (path, *path.parents):
        beside = (
            place
            if place.suffix == ".jsonl" and not layout.AGENT.match(place.name)
            else place.with_name(f"{place.name}.jsonl")
            if place.name
            else None
        )
        if beside is not None and beside.is_file() and "subagents" not in beside.parts:
            return beside
    return None
