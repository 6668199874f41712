"""Run git for a look: no configuration but its own, no prompt, no hook, no helper, no shell; a fixed list of words, and what is typed behind `--`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from typing import NamedTuple

from .template import NotAsked

TIMEOUT = 20
"""Seconds for one command."""
READ = 1024 * 1024
"""Bytes of its output that are read."""
SHA = re.compile(r"[0-9a-f]{7,64}")
REF = re.compile(r"refs/(?!.*(?:\.\.|//|@\{|/\.|\.lock(?:/|$)))[^\s~^:?*\[\\\x00-\x20\x7f]{1,200}(?<![/.])")
"""A ref in full, by git's own rules for names."""
OPTIONS = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.commitGraph=false", "-c", "core.pager=cat",
    "-c", "protocol.ext.allow=never", "-c", "http.followRedirects=false", "-c", "credential.helper=", "-c", "log.showSignature=false",
)  # fmt: skip


class Done(NamedTuple):
    code: int
    output: bytes
    errors: str


def git(*words: str, protocols: str = "", ceiling: str = "") -> Done:
    """Run one git command. `protocols` are the ways to a remote that it may use. Raises NotAsked when it can't run or takes too long."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": protocols or "none", "GIT_CEILING_DIRECTORIES": ceiling,
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=10",
    }  # fmt: skip
    if "SSH_AUTH_SOCK" in os.environ:
        environment["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                ["git", *OPTIONS, *words], env=environment, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
            )
        except OSError:
            raise NotAsked("git could not be started. Install git where the inspector runs.") from None
        try:
            code = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the ssh or upload-pack that it started
            process.wait()
            raise NotAsked(f"git gave no answer within {TIMEOUT} seconds. Check that the repository can be reached from the inspector.") from None
        output.seek(0)
        errors.seek(0)
        return Done(code, output.read(READ), errors.read(2000).decode("utf-8", "replace"))


def complaint(done: Done) -> str:
    """The first line of what git said against it, for a person."""
    lines = [line for line in done.errors.splitlines() if line.strip() and not line.startswith("warning:")]
    if "dubious ownership" in done.errors:
        return "git refuses a repository that belongs to another user; let the inspector run as its owner"
    return "".join(each if each.isprintable() else "?" for each in lines[0])[:200].rstrip(".") if lines else "git gave no reason"
