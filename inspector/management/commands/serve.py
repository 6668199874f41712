"""`manage.py serve`: from a fresh clone to a page in the browser: migrates, imports what is asked for, prints the address, serves this machine."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import waitress
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.core.servers.basehttp import get_internal_wsgi_application

from inspector.management import base
from inspector.services import launch

HOST = "127.0.0.1"
PORT = 8765
THREADS = 8


class Command(base.Command):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", nargs="*", help="import these first: a transcript, a session folder, a projects tree, an archive")
        parser.add_argument("--demo", action="store_true", help="import the example sessions")
        parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST}; 0 picks a free one (default: {PORT})")

    def handle(self, *args: Any, **options: Any) -> None:
        listener = self._listen(options["port"])  # first: a port in use is said before a long import, not after it
        call_command("migrate", interactive=False, verbosity=0)
        paths = [*options["path"], *([settings.BASE_DIR / "inspector" / "examples"] if options["demo"] else [])]
        if paths:
            call_command("import_sessions", *map(str, map(Path, paths)), stdout=self.stdout, stderr=self.stderr)
        # The application starts before the address is printed: who opens it gets an answer at once.
        server = waitress.create_server(get_internal_wsgi_application(), sockets=[listener], threads=THREADS, ident=None)
        address = f"http://{HOST}:{listener.getsockname()[1]}/"
        if settings.TEAM_MODE:
            self.stdout.write(f"Session Inspector: {address} (sign in with name and password). Ctrl+C stops it.")
            if settings.HTTPS:
                self.stdout.write("Its cookies need HTTPS: without a proxy that ends TLS, set INSPECTOR_HTTPS=off.")
        else:
            self.stdout.write(f"Session Inspector: {address}launch/?token={launch.issue_token()}")
            self.stdout.write("The link signs in one browser, once. Ctrl+C stops the server; the sessions stay.")
        self.stdout.flush()
        try:
            server.run()
        except KeyboardInterrupt:
            pass
        finally:
            server.close()

    def _listen(self, port: int) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            listener.close()
            hint = "Choose another with --port, or --port 0 for a free one."
            raise CommandError(f"Port {port} of {HOST} can't be used ({error}). {hint}", returncode=2) from None
        return listener
