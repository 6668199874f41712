"""What one simple shell command may change, by its name and its words.

The class sorts work for people; it never permits anything. Aliases, PATH, hooks and configuration can make any name do something else.
Only what two coding agents themselves run without asking is called read-only, without the options that write or start another program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .effect_class import Effect, EffectClass, destructive, idempotent, mutating, read_only, unknown, worst
from .shell_git import git


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command. `text` is None when it is computed (a variable, a substitution, braces)."""

    text: str | None
    glob: bool = False
    """Holds an unquoted `*`, `?` or `[`: the shell puts file names in its place, and a file may be named like an option."""


RunScript = Callable[[str], Effect]

READERS = frozenset(
    "cat cd cut diff du echo egrep expr false fgrep grep head id ls nl paste pwd rev seq stat tail tr true uname wc which whoami :".split()
)
"""No option of these writes a file or starts a program; `diff -l` alone does and is looked at."""

CHANGERS = frozenset(
    "touch cp mv ln chmod chown chgrp tee install rmdir patch tar zip unzip gzip gunzip bzip2 xz zstd split csplit kill pkill killall "
    "mknod mkfifo setfacl chattr crontab mount umount useradd usermod groupadd passwd rsync scp sftp createdb".split()
)
DESTROYERS = frozenset(
    "rm unlink shred truncate dd wipefs fdisk parted sgdisk mkswap dropdb dropuser shutdown reboot halt poweroff userdel groupdel srm".split()
)
STRIPPED = frozenset("timeout time nice stdbuf".split())
"""Start the command that follows and add nothing."""
WRAPPERS = frozenset(
    "sudo doas su env command builtin exec xargs nohup setsid ionice chroot unshare nsenter flock strace ltrace watch parallel script ssh "
    "docker podman kubectl npx bunx pnpx uvx pipx devbox nix-shell direnv mise poetry uv pdm hatch conda coproc".split()
)
"""Start another program, somewhere else or with other rights: at best unknown, and as bad as what they start."""
SHELLS = frozenset("sh bash zsh dash ksh fish".split())
INTERPRETERS = frozenset("python python3 node deno bun perl ruby php psql mysql sqlite3 mongosh redis-cli awk gawk osascript pwsh".split())

TAKES_AWAY = frozenset("rm remove delete destroy drop purge prune uninstall terminate wipe erase rmi nuke".split())
"""Words that raise any other command to destructive."""
TAKES_AWAY_TEXT = re.compile(
    r"rmtree|os\.(?:remove|unlink|rmdir)|fs\.(?:rm|unlink|rmdir)\w*|\.unlink\(|\bdrop\s+(?:table|database|schema|index|view)\b|\btruncate\s+table\b"
    r"|\bdelete\s+from\b|\bflushall\b|\brm\s+-\w*[rf]",
    re.IGNORECASE,
)
PLAIN_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/")
LOOKED_AT = 24
"""Words of a wrapper's line that may be the start of the command it runs."""


def command(words: Sequence[Word], run: RunScript) -> Effect:
    """Effect of one simple command, `words[0]` being its name. `run` judges a script given as text."""
    name = words[0].text
    if name is None or words[0].glob or not name:
        return unknown("the name of the command is computed")
    for folder in PLAIN_FOLDERS:
        if name.startswith(folder) and "/" not in name[len(folder) :]:
            name = name[len(folder) :]
    if "/" in name:
        inner = _named(name.rpartition("/")[2], words[1:], run)
        return worst([unknown(f"{name} is a program of its own"), inner])
    return _named(name, words[1:], run)


def _named(name: str, arguments: Sequence[Word], run: RunScript) -> Effect:
    effect = _judge(name, arguments, run)
    computed = any(word.text is None for word in arguments)
    globs = any(word.glob for word in arguments) and name not in READERS
    if effect.name in (EffectClass.READ_ONLY, EffectClass.IDEMPOTENT):
        if computed:
            return unknown(f"an argument of {name} is computed")
        if globs:
            return unknown(f"{name} gets file names from a pattern, and a name may look like an option")
    return effect


def _judge(name: str, arguments: Sequence[Word], run: RunScript) -> Effect:
    words = [word.text or "" for word in arguments]
    special = SPECIAL.get(name)
    if special is not None:
        return special(words)
    if name in STRIPPED:
        return _stripped(name, arguments, run)
    if name in SHELLS or name in ("eval", "source", "."):
        return _shell(name, words, run)
    if name in WRAPPERS:
        return _wrapper(name, arguments, run)
    if name in READERS:
        return read_only(f"{name} only reads")
    if name in DESTROYERS or name.startswith("mkfs"):
        return destructive(f"{name} takes something away")
    if name in INTERPRETERS:
        takes = any(TAKES_AWAY_TEXT.search(word) for word in words)
        return destructive(f"the code given to {name} takes something away") if takes else unknown(f"{name} runs code")
    taken = next((word for word in words if word.lower() in TAKES_AWAY), None)
    if taken:
        return destructive(f"{name} {taken} takes something away")
    if name in CHANGERS:
        return mutating(f"{name} changes files or processes")
    return unknown(f"what {name} changes is not known")


def _stripped(name: str, arguments: Sequence[Word], run: RunScript) -> Effect:
    """timeout 5 ls; nice -n 5 ls; time -p ls; stdbuf -oL ls: simple forms only."""
    rest = list(arguments)
    takes_value = {"nice": {"-n"}, "timeout": {"-s", "-k"}, "stdbuf": {"-i", "-o", "-e"}}.get(name, set())
    while rest and (rest[0].text or "").startswith("-"):
        option = rest.pop(0).text
        if option in takes_value and rest:
            rest.pop(0)
        elif name == "time" and option != "-p":
            return worst([unknown(f"{name} {option} may write a file"), _wrapper(name, rest, run)])
    if name == "timeout":
        if not rest or not re.fullmatch(r"[0-9.]+[smhd]?", rest[0].text or ""):
            return worst([unknown("timeout in a form that is not plain"), _wrapper(name, rest, run)])
        rest.pop(0)
    if len(arguments) > LOOKED_AT and rest and rest[0].text in STRIPPED:
        return _wrapper(name, rest, run)
    return command(rest, run) if rest else read_only(f"{name} without a command")


def _wrapper(name: str, arguments: Sequence[Word], run: RunScript) -> Effect:
    found = [unknown(f"{name} starts another program")]
    words = list(arguments)[:LOOKED_AT]
    for at, word in enumerate(words):
        inner = (word.text or "").rpartition("/")[2]
        if inner in WRAPPERS or inner in STRIPPED:
            continue  # what it starts stands among the words behind it, which are looked at anyway
        if word.text and " " in word.text:
            found.append(run(word.text))
        elif word.text in TAKES_AWAY:
            found.append(destructive(f"{name} … {word.text} takes something away"))
        elif word.text and not word.text.startswith("-"):
            found.append(_named(inner, words[at + 1 :], run))
    return worst(effect for effect in found if effect.name in (EffectClass.UNKNOWN, EffectClass.DESTRUCTIVE))


def _shell(name: str, words: list[str], run: RunScript) -> Effect:
    if name == "eval":
        inner = [run(" ".join(words))] if words else []
    elif name in SHELLS:
        after = [at for at, word in enumerate(words) if re.fullmatch(r"-\w*c\w*", word)]
        inner = [run(words[after[0] + 1])] if after and after[0] + 1 < len(words) else []
    else:
        inner = []
    return worst([unknown(f"{name} runs a script"), *inner])


def _find(words: list[str]) -> Effect:
    if "-delete" in words:
        return destructive("find -delete removes what it finds")
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            inner = _judge(words[at + 1], [Word(text) for text in words[at + 2 :]], _no_script) if at + 1 < len(words) else unknown("")
            return destructive(f"find {word}: {inner.why}") if inner.name is EffectClass.DESTRUCTIVE else unknown(f"find {word} starts a program")
        if word in ("-fls", "-fprint", "-fprint0", "-fprintf"):
            return mutating(f"find {word} writes a file")
    return read_only("find only looks")


def _no_script(text: str) -> Effect:
    return unknown("a script inside find")


def _rg(words: list[str]) -> Effect:
    for word in words:
        if word.startswith(("--pre", "--hostname-bin", "--search-zip")) or re.match(r"-[A-Za-z]*z", word):
            return unknown(f"rg {word} starts a program")
    return read_only("rg only searches")


def _sed(words: list[str]) -> Effect:
    if any(re.fullmatch(r"-[A-Za-z]*i.*|--in-p.*", word) for word in words):
        return mutating("sed -i rewrites files")
    if len(words) >= 2 and words[0] == "-n" and re.fullmatch(r"\d+(,\d+)?p", words[1]) and not any(w.startswith("-") for w in words[2:]):
        return read_only("sed prints lines")
    return unknown("a sed script can write files and run commands")


def _sort(words: list[str]) -> Effect:
    for word in words:
        if word.startswith("--o") or re.match(r"-[A-Za-z]*o", word):
            return mutating("sort -o writes a file")
        if word.startswith(("--co", "--t", "--f")) or re.match(r"-[A-Za-z]*[TS]", word):
            return unknown(f"sort {word} may start a program or write elsewhere")
    return read_only("sort only prints")


def _uniq(words: list[str]) -> Effect:
    if sum(not word.startswith("-") or word == "-" for word in words) > 1:
        return mutating("uniq writes its second file")
    return read_only("uniq only prints")


def _diff(words: list[str]) -> Effect:
    if any(word.startswith("--pag") or re.match(r"-[A-Za-z]*l", word) for word in words):
        return unknown("diff -l starts another program")
    return read_only("diff only compares")


def _mkdir(words: list[str]) -> Effect:
    if any(re.fullmatch(r"-[a-z]*p[a-z]*|--parents", word) for word in words):
        return idempotent("mkdir -p makes a folder where there is none")
    return mutating("mkdir makes a folder")


def _sleep(words: list[str]) -> Effect:
    plain = all(re.fullmatch(r"[0-9.]+[smhd]?|infinity", word) for word in words)
    return read_only("sleep only waits") if plain else unknown("sleep in a form that is not plain")


def _rsync(words: list[str]) -> Effect:
    if any(word.startswith(("--del", "--remove-source")) for word in words):
        return destructive("rsync deletes files")
    return mutating("rsync writes files")


def _curl(words: list[str]) -> Effect:
    joined = " ".join(words)
    if re.search(r"(?:-X ?|--request[ =])delete\b", joined, re.IGNORECASE):
        return destructive("curl asks a server to delete")
    return unknown("what a server does with the request is not known")


def _crontab(words: list[str]) -> Effect:
    return destructive("crontab -r removes the table") if any(re.match(r"-\w*r", word) for word in words) else mutating("crontab changes the table")


SPECIAL: dict[str, Callable[[list[str]], Effect]] = {
    "git": git, "find": _find, "rg": _rg, "sed": _sed, "sort": _sort, "uniq": _uniq, "diff": _diff, "mkdir": _mkdir, "sleep": _sleep,
    "rsync": _rsync, "curl": _curl, "wget": _curl, "crontab": _crontab,
}  # fmt: skip
