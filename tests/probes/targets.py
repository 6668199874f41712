"""Real targets: a folder, git repositories with a bare remote, an HTTP server in a thread, an SQLite file, the PostgreSQL of DATABASE_URL."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SECRET = "sk_live_very-secret/key+1"


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder with its digest: what a look must leave as it was."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def git(folder: Path, *words: str) -> str:
    """Git as a developer runs it, with fixed names and times."""
    who = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in (("NAME", "dev"), ("EMAIL", "dev@example.com"))}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", "-c", "init.defaultBranch=main", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Repositories:
    """`work` with two commits, `remote` (bare) that holds the first one on main and as the annotated tag v1."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.remote = folder, folder / "work", folder / "remote.git"
        self.work.mkdir()
        self.remote.mkdir()
        git(self.remote, "init", "-q", "--bare")
        git(self.work, "init", "-q")
        self.first = self.commit("one")
        git(self.work, "tag", "-a", "v1", "-m", "first")
        git(self.work, "remote", "add", "origin", str(self.remote))
        git(self.work, "push", "-q", "origin", "main", "v1")
        self.second = self.commit("two")

    def commit(self, words: str) -> str:
        (self.work / "file.txt").write_text(words)
        git(self.work, "add", "file.txt")
        git(self.work, "commit", "-q", "-m", words)
        return git(self.work, "rev-parse", "HEAD")


class Server(ThreadingHTTPServer):
    """Answers what a test sets, and keeps every request as (method, target, headers)."""

    daemon_threads = True

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.answer: Callable[[Any], tuple[int, dict[str, str], bytes]] = lambda handler: (200, {}, b"{}")
        self.raw: Callable[[Any], None] | None = None
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def respond(self) -> None:
        self.server.requests.append((self.command, self.path, dict(self.headers.items())))
        if self.server.raw:
            self.server.raw(self)
            return
        status, headers, body = self.server.answer(self)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = respond

    def log_message(self, *words: Any) -> None:
        pass
