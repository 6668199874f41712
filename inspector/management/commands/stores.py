"""`manage.py stores`: the configured stores, or the threads of one. Needs no database of its own; stores are only read."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from inspector.core import wording
from inspector.core.errors import ReadError
from inspector.management import base, stores

LIMIT = 100


class Command(base.FilesCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="a store's name in INSPECTOR_STORES, or the path of a SQLite file; without it all names")
        parser.add_argument("--search", default="", metavar="TEXT", help="threads whose id begins with it")
        parser.add_argument("--after", default="", metavar="ID", help="threads behind this one: the next page")
        parser.add_argument("--limit", type=int, default=LIMIT, help=f"threads of one page (default: {LIMIT})")
        parser.add_argument("--json", action="store_true", help=base.JSON)

    def run(self, options: dict[str, Any]) -> int:
        name = options["name"]
        if name is None:
            names = sorted(settings.STORES)
            listed = "\n".join(names) or "No store is configured: see INSPECTOR_STORES."
            self.stdout.write(json.dumps({"stores": names}) if options["json"] else listed)
            return 0
        store = stores.opened(name)
        if store is None:
            raise ReadError(f"{name}: no store of a known layout", hint="Give a name of INSPECTOR_STORES, or a SQLite file of a framework")
        with closing(store):
            found = store.threads(options["search"], options["after"], max(1, options["limit"]))
        if options["json"]:
            threads = [{"thread": each.pop("id"), **each} for each in map(asdict, found)]
            self.stdout.write(json.dumps({"store": name, "kind": store.kind, "threads": threads}))
        else:
            lines = [f"{each.id}  {wording.count(each.rows, 'row')}  {each.at or ''}".rstrip() for each in found]
            self.stdout.write("\n".join(lines) or "No thread.")
        return 0
