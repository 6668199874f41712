"""Run a command with DATABASE_URL naming a PostgreSQL: `python tests/postgres.py COMMAND...`; `--check` only says whether there is one.

In this order: the one that DATABASE_URL names already; a running server that lets this user make databases; a server of its own, started from
`initdb` and `pg_ctl` (PATH or /usr/lib/postgresql) in a temporary folder and gone with the command. Exit code: the command's, or 3 with no server.
"""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg


def running_server() -> str | None:
    """URL of the server that libpq finds by itself (PGHOST and the like, else the local socket), if it lets this user make databases."""
    try:
        with psycopg.connect(dbname="postgres", connect_timeout=3) as connection:
            may = connection.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
            info = connection.info
            login = quote(info.user, safe="") + (":" + quote(info.password, safe="") if info.password else "")
            return f"postgresql://{login}@/postgres?{urlencode({'host': info.host, 'port': info.port})}" if may and may[0] else None
    except psycopg.Error:
        return None


def binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest version first."""
    on_path = shutil.which("pg_ctl")
    versions = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[-2]), reverse=True)
    folders = [Path(path) for path in versions] + ([Path(on_path).resolve().parent] if on_path else [])
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@contextlib.contextmanager
def own_server(folder: Path) -> Iterator[str]:
    """URL of a new server on a socket in a temporary folder. It refuses to run as root, so root lends it another user."""
    home = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # short: a socket's path has room for 107 bytes
    become: dict[str, Any] = {}
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
        os.chown(home, user.pw_uid, user.pw_gid)
        become = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    def run(tool: str, *args: str) -> None:
        done = subprocess.run([folder / tool, *args], cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **become)
        if done.returncode:
            log = home / "log"
            raise RuntimeError(f"{tool}: {done.stderr.decode(errors='replace')}\n{log.read_text() if log.exists() else ''}")

    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off -c full_page_writes=off -c synchronous_commit=off"
    try:
        run("initdb", "-D", f"{home}/data", "-U", "inspector", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        run("pg_ctl", "-D", f"{home}/data", "-w", "-l", f"{home}/log", "-o", options, "start")
        try:
            yield f"postgresql://inspector@/postgres?host={home}"
        finally:
            run("pg_ctl", "-D", f"{home}/data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main(command: list[str]) -> int:
    given = os.environ.get("DATABASE_URL", "")
    url = given if given.startswith("postgres") else running_server()
    folder = binaries()
    if command == ["--check"]:
        return 0 if url or folder else 3
    with contextlib.ExitStack() as stack:
        if not url:
            if not folder:
                print("No PostgreSQL: neither a server nor initdb and pg_ctl were found.", file=sys.stderr)
                return 3
            url = stack.enter_context(own_server(folder))
        # Local mode: what differs in team mode is asked for by the test that is about it.
        return subprocess.run(command, env={**os.environ, "DATABASE_URL": url, "INSPECTOR_MODE": "local"}).returncode


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a server of our own is stopped too
    sys.exit(main(sys.argv[1:]))
