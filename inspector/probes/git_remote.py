"""Git remote: does its ref point to a commit now? Asks `git ls-remote`, which changes nothing on either side.

Config: `remote` (an https:// or ssh:// address, user@host:path, or the full path of a folder), `ref` (optional, in full: refs/heads/main).
Parameters: `sha`, and `ref` where the config fixes none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from .git import REF, SHA, complaint, git
from .secrets import Secrets
from .template import Answer, Expected, NotAsked, Template, parameters_problem, text_key

TITLE = "Git remote"
KEYS = {"remote": True, "ref": False}
ADDRESS = re.compile(r"(?:https://[^\s@/]+/\S+|ssh://(?:[\w.-]+@)?[^\s@/-][^\s@/]*/\S+|[\w.-]+@[\w][\w.-]*:[^\s:-][^\s]*)")


def problems(template: Template) -> Iterator[str]:
    """The remote must be an address without a password or a folder; a fixed ref must be written in full."""
    fixed = template.config.get("ref") is not None
    yield from parameters_problem(template, {"sha"} if fixed else {"sha", "ref"}, set())
    remote = text_key(template, "remote")
    if "::" in remote or not (ADDRESS.fullmatch(remote) or os.path.isabs(remote)) or "\0" in remote:
        yield "`remote` must be https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH or the full path of a folder, without a password."
    if fixed and not REF.fullmatch(text_key(template, "ref")):
        yield "`ref` must be written in full, for example refs/heads/main."


def asks(template: Template, values: Mapping[str, str]) -> str:
    return f"Where {ref_of(template, values)} of {text_key(template, 'remote')} points now."


def ref_of(template: Template, values: Mapping[str, str]) -> str:
    """The ref to ask for. Raises NotAsked for one that is not written in full."""
    ref = text_key(template, "ref") or values["ref"]
    if not REF.fullmatch(ref):
        raise NotAsked("The ref must be written in full, for example refs/heads/main.")
    return ref


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Ask the remote for one ref, and for what an annotated tag of this name stands for."""
    ref, sha = ref_of(template, values), values["sha"].lower()
    if not SHA.fullmatch(sha):
        raise NotAsked("The commit must be 7 to 64 hexadecimal digits.")
    done = git("ls-remote", "--", text_key(template, "remote"), ref, ref + "^{}", protocols="file:https:ssh")
    if done.code:
        raise NotAsked(f"The remote could not be asked ({complaint(done)}). Check its address, the network and the rights of the inspector's user.")
    lines = [line.partition("\t") for line in done.output.decode("utf-8", "replace").splitlines()]
    points = [found for found, _, name in lines if name in (ref, ref + "^{}")]
    output = "".join(f"{found}\t{name}\n" for found, _, name in lines if name in (ref, ref + "^{}")).encode()
    if any(found.startswith(sha) for found in points):
        return Answer("applied", f"The remote's {ref} points to {sha[:12]}.", output)
    if points:
        return Answer("unclear", f"The remote's {ref} points to {points[-1][:12]} now. It may contain {sha[:12]}, or have been moved since.", output)
    return Answer("not-applied", f"The remote has no {ref} now, so it does not point to {sha[:12]}. It may have had one before.", output)
