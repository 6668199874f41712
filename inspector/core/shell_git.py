"""What one git command may change. Unknown subcommands (aliases, extensions) stay unknown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .effect_class import Effect, destructive, idempotent, mutating, read_only, unknown

LOOKS = frozenset("status log diff show rev-parse ls-files ls-tree merge-base shortlog describe blame reflog".split())
CHANGES = frozenset(
    "add commit merge rebase cherry-pick revert pull mv am apply clone init remote config notes bisect switch stash worktree tag branch reset "
    "checkout restore update-index update-ref submodule sparse-checkout".split()
)
DESTROYS = frozenset("clean rm gc prune filter-branch filter-repo".split())
STARTS = ("--output", "--ext-diff", "--textconv", "--exec", "--upload-pack", "--receive-pack", "--open-files-in-pager", "--paginate")
"""Options that write a file or start a program. Git takes any beginning of a long option, so beginnings count too."""


def _starts(option: str) -> bool:
    given = option.split("=")[0]
    return len(given) > 3 and any(name.startswith(given) for name in STARTS)


def _short(words: list[str], letters: str) -> bool:
    """Whether a cluster of short options holds one of the letters."""
    return any(re.fullmatch(r"-[A-Za-z]+", word) and set(word[1:]) & set(letters) for word in words)


def _long(words: list[str], *names: str) -> bool:
    """Whether one of the long options stands there, shortened or with a value."""
    return any(len(word) > 3 and word.startswith("--") and any(name.startswith(word.split("=")[0]) for name in names) for word in words)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Git's own options without their values, and the subcommand with its words."""
    options, rest = [], list(words)
    while rest and rest[0].startswith("-"):
        options.append(rest.pop(0))
        if options[-1] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env") and rest:
            rest.pop(0)
    return options, rest


def git(words: list[str]) -> Effect:
    """Effect of `git WORDS`."""
    options, rest = split(words)
    for option in options:
        if option in ("--version", "--help"):
            return read_only(f"git {option} only prints")
    elsewhere = any(option != "--no-pager" for option in options)  # another folder's settings, or settings given here, can name programs to run
    if not rest:
        return unknown("git without a command") if elsewhere else read_only("git prints its help")
    effect = _subcommand(rest[0], rest[1:])
    return max(effect, unknown("git with options of its own before the command"), key=lambda e: e.rank) if elsewhere else effect


def _subcommand(name: str, words: list[str]) -> Effect:
    if name == "push":
        return _push(words)
    if name == "fetch":
        return _fetch(words)
    if name in DESTROYS:
        return destructive(f"git {name} removes files or history")
    takes = _takes_away(name, words)
    if takes:
        return destructive(f"git {name} {takes}")
    if name in LOOKS or _lists(name, words):
        started = next((word for word in words if _starts(word)), None)
        return unknown(f"git {name} {started} writes or starts a program") if started else read_only(f"git {name} only looks")
    if (name == "rebase" and (_long(words, "--exec") or _short(words, "x"))) or (name == "bisect" and "run" in words) or name == "submodule":
        return unknown(f"git {name} may start a program")
    if name in CHANGES:
        return mutating(f"git {name} changes the repository or its files")
    return unknown(f"git {name} is not known")


def _push(words: list[str]) -> Effect:
    if _long(words, "--receive-pack", "--exec"):
        return unknown("git push starts another program")
    forced = _short(words, "fd") or _long(words, "--force", "--force-with-lease", "--force-if-includes", "--delete", "--mirror", "--prune")
    if forced or any(word.startswith(("+", ":")) for word in words):
        return destructive("git push overwrites or deletes what the server has")
    return idempotent("git push sends commits; a second push adds nothing")


def _fetch(words: list[str]) -> Effect:
    if _long(words, "--upload-pack") or any("::" in word for word in words):
        return unknown("git fetch starts another program")
    if _short(words, "fp") or _long(words, "--force", "--prune") or any(word.startswith("+") for word in words):
        return mutating("git fetch overwrites or removes refs")
    return idempotent("git fetch brings commits; a second fetch adds nothing")


def _takes_away(name: str, words: list[str]) -> str:
    """Why this form loses something that the command cannot bring back, or ""."""
    first = words[0] if words else ""
    if name == "reset" and _long(words, "--hard", "--merge", "--keep"):
        return "throws changes away"
    if name == "checkout" and ("--" in words or "." in words or _short(words, "fB") or _long(words, "--force", "--ours", "--theirs")):
        return "throws changes away"
    if name == "restore" and not (_long(words, "--staged") and not _long(words, "--worktree")):
        return "throws changes away"
    if name == "switch" and (_short(words, "fC") or _long(words, "--force", "--discard-changes", "--force-create")):
        return "throws changes away"
    if name in ("branch", "tag") and (_short(words, "dD") or _long(words, "--delete")):
        return "deletes a name"
    if name == "branch" and (_short(words, "fMC") or _long(words, "--force")):
        return "moves a branch by force"
    if name == "stash" and first in ("drop", "clear"):
        return f"{first} loses what was put away"
    if name == "worktree" and first in ("remove", "prune"):
        return f"{first} removes a folder"
    if name == "reflog" and first in ("expire", "delete", "drop"):
        return f"{first} loses history"
    if name == "remote" and first in ("remove", "rm", "prune"):
        return f"{first} forgets a remote"
    if name == "update-ref" and (_short(words, "d") or _long(words, "--stdin")):
        return "deletes a name"
    return ""


def _lists(name: str, words: list[str]) -> bool:
    """Forms of commands that change things in other forms."""
    if name == "branch":
        flags = {"-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "--verbose"}
        return all(word in flags for word in words)
    if name == "tag":
        return words in ([], ["-l"], ["--list"])
    if name == "remote":
        return words in ([], ["-v"], ["--verbose"])
    if name == "stash":
        return words == ["list"]
    if name == "worktree":
        return words[:1] == ["list"]
    if name == "config":
        changes = ("--add", "--unset", "--replace", "--edit", "-e")
        return words[:1] in (["--get"], ["--list"], ["-l"]) and not any(word.startswith(changes) for word in words)
    return False
