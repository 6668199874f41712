"""Git repository: does it hold a commit, and does a ref contain it? Reads the repository in a folder, and never fetches.

Config: `repository` (full path of its folder, bare or not), `ref` (optional, in full). Parameters: `sha`, and `ref` (optional).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from .git import REF, SHA, Done, complaint, git
from .secrets import Secrets
from .template import Answer, Expected, NotAsked, Template, parameters_problem, text_key

TITLE = "Git repository"
KEYS = {"repository": True, "ref": False}
STALE = "A clone knows only what it fetched last."


def problems(template: Template) -> Iterator[str]:
    """The repository must be a folder; a fixed ref must be written in full."""
    fixed = template.config.get("ref") is not None
    yield from parameters_problem(template, {"sha"}, set() if fixed else {"ref"})
    folder = text_key(template, "repository")
    if not os.path.isabs(folder) or "\0" in folder:
        yield "`repository` must be the full path of a folder."
    elif not os.path.isdir(folder):
        yield f"`repository`: there is no folder {folder}."
    if fixed and not REF.fullmatch(text_key(template, "ref")):
        yield "`ref` must be written in full, for example refs/heads/main."


def asks(template: Template, values: Mapping[str, str]) -> str:
    ref, where = ref_of(template, values), text_key(template, "repository")
    return f"Whether the repository {where} holds {values['sha']}" + (f", and {ref} contains it." if ref else ".")


def ref_of(template: Template, values: Mapping[str, str]) -> str:
    """The ref to look in, or "". Raises NotAsked for one that is not written in full."""
    ref = text_key(template, "ref") or values.get("ref", "")
    if ref and not REF.fullmatch(ref):
        raise NotAsked("The ref must be written in full, for example refs/heads/main.")
    return ref


def look(template: Template, values: Mapping[str, str], expected: Expected, secrets: Secrets) -> Answer:
    """Look for the commit, then for the ref, then for the one in the other."""
    ref, sha = ref_of(template, values), values["sha"].lower()
    if not SHA.fullmatch(sha):
        raise NotAsked("The commit must be 7 to 64 hexadecimal digits.")
    folder = text_key(template, "repository")
    # --disambiguate asks for objects only; a plain name could be a branch that is called like the digits.
    commits = [each for each in words(in_repository(folder, "rev-parse", f"--disambiguate={sha}")) if kind_of(folder, each) == "commit"]
    if len(commits) > 1:
        return Answer("unclear", f"{sha} is the beginning of {len(commits)} commits. Type more of it.", "\n".join(commits).encode())
    if not commits:
        return Answer("unclear", f"The repository does not hold {sha} now. {STALE}")
    commit = commits[0]
    if not ref:
        return Answer("applied", f"The repository holds the commit {commit[:12]}. Whether a branch contains it was not asked.", commit.encode())
    tip = git_in(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}")
    if tip.code:
        return Answer("unclear", f"The repository holds {commit[:12]}, and has no {ref} now. {STALE}", commit.encode())
    points = tip.output.decode("ascii", "replace").strip()
    contained = git_in(folder, "merge-base", "--is-ancestor", commit, points)
    output = f"commit {commit}\n{ref} {points}\ncontained {contained.code == 0}\n".encode()
    if contained.code == 0:
        return Answer("applied", f"{ref} of the repository contains the commit {commit[:12]}.", output)
    if contained.code != 1:
        raise NotAsked(f"The history could not be read ({complaint(contained)}).")
    if ref.startswith("refs/remotes/"):
        return Answer("unclear", f"{ref} does not contain {commit[:12]} as far as this clone knows. {STALE}", output)
    says = f"{ref} of this repository does not contain {commit[:12]} now. A copy of the commit under another name would not be found."
    return Answer("not-applied", says, output)


def git_in(folder: str, *rest: str) -> Done:
    """Run git in exactly this repository: not in one further up, and without reaching a remote for what it lacks."""
    parent = os.path.dirname(os.path.realpath(folder))
    return git("-C", folder, "-c", f"safe.directory={os.path.realpath(folder)}", *rest, ceiling=parent)


def in_repository(folder: str, *rest: str) -> bytes:
    """The output of a command that must succeed. Raises NotAsked."""
    done = git_in(folder, *rest)
    if done.code:
        raise NotAsked(f"The repository could not be read ({complaint(done)}). Check the folder and the rights of the inspector's user.")
    return done.output


def words(output: bytes) -> list[str]:
    return output.decode("ascii", "replace").split()


def kind_of(folder: str, name: str) -> str:
    """commit | tree | blob | tag"""
    return git_in(folder, "cat-file", "-t", name).output.decode("ascii", "replace").strip()
