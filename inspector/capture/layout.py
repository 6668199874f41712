"""Which files of a tree belong to which session, told by names as the client lays them out on disk. One part name scheme for all sources.

Part 0 is `<id>.jsonl`, or a JSON document that a client's reader recognises by its content. Then, by name: `<id>/…` (sub-agents, tool results),
`agent-<short>.jsonl` (sub-agents of client 2.0.76, beside the sessions), `file-history/<id>/…`, `tasks/<id>/…`, `plans/<slug>.md`,
`sessions/<pid>.json` (live-process registry).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from inspector.core import reading
from inspector.core.errors import ReadError
from inspector.core.jsonspans import lines, loads_object
from inspector.core.source import Buffer, Part, Source

from .files import Tree

HOME = re.compile(r"^(?P<home>(?:.*/)?)projects/(?P<slug>[^/]+)/(?P<file>[^/]+\.jsonl)$")
AGENT = re.compile(r"^agent-[A-Za-z0-9_-]+\.jsonl$")
AGENT_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
PLAN_SLUG = re.compile(rb'"slug"\s*:\s*"([a-z0-9-]{1,200})"')
SCAN = 1 << 20
DOCUMENT = 64 << 20
"""Bytes of a JSON file that is looked into."""


@dataclass(slots=True)
class Candidate:
    """One session of a tree: which files are its parts. `source()` opens them."""

    tree: Tree
    main: str
    """Name in the tree of the main transcript."""
    slug: str
    parts: dict[str, str]
    """Part name -> name in the tree, without the main transcript."""
    plans: dict[str, str] = field(default_factory=dict)
    """Plan slug -> name in the tree: whether one belongs to the session is told by its rows."""
    registry: tuple[str, ...] = ()
    """Names of the registry's entries in the tree."""

    @property
    def name(self) -> str:
        return self.main.rpartition("/")[2]

    @property
    def id(self) -> str:
        return self.name.removesuffix(".jsonl").removesuffix(".json")

    def source(self, live: Callable[[list[dict[str, object]]], str | None] | None = None) -> Source:
        """Open the parts. `live` is given the registry's entries of this session and says why one counts as live. Raises OSError, ReadError."""
        files = self.tree.files
        data = files[self.main]()
        parts = {name: files[place]() for name, place in self.parts.items()}
        entries = []
        for place in self.registry:
            raw = files[place]()
            entry = registry_entry(raw)
            if entry.get("sessionId") == self.id:
                parts["sessions/" + place.rpartition("/")[2]] = raw
                entries.append(entry)
        if self.plans:
            for slug in plan_slugs(data) & set(self.plans):
                parts[f"plans/{slug}.md"] = files[self.plans[slug]]()
        hints = {"slug": self.slug} if self.slug else {}
        why = live(entries) if live and entries else None
        if why:
            hints["live"] = why
        return Source(self.name, (Part(self.name, data), *(Part(name, parts[name]) for name in sorted(parts))), hints)


def registry_entry(data: Buffer) -> dict[str, object]:
    """One `sessions/<pid>.json`, or an empty mapping when it is no JSON object."""
    return loads_object(data[0:SCAN])


def plan_slugs(data: Buffer) -> set[str]:
    """Plan slugs that rows of a transcript name."""
    found: set[str] = set()
    for start in range(0, len(data), SCAN):
        found.update(slug.decode() for slug in PLAN_SLUG.findall(data[start : start + SCAN + 256]))
    return found


def agent_session(data: Buffer) -> str | None:
    """Session id that the first readable row of a 2.0.76 sub-agent file names."""
    for number, (_, _, line) in enumerate(lines(data)):
        found = AGENT_SESSION.search(line)
        if found:
            return found[1].decode("utf-8", "replace")
        if number > 50:
            break
    return None


def sessions_of(tree: Tree) -> Iterator[Candidate]:
    """The sessions of a tree, main transcripts in order of their names. Files that belong to no session are left alone.

    Raises ReadError when there is none.
    """
    names = sorted(tree.files)
    by_folder: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_folder[name.rpartition("/")[0]].append(name)
    homes = {found["home"] for name in names if (found := HOME.match(name))}
    mains = [name for name in names if is_main(name, homes)]
    claimed = {name.removesuffix(".jsonl") + "/" for name in mains}
    mains = [name for name in mains if not any(name.startswith(prefix) for prefix in prefixes(name) & claimed)]
    mains = sorted(mains + documents(tree, names, homes, claimed))
    if not mains:
        loose = [name for name in names if not name.rpartition("/")[2].startswith(".")]
        if tree.kind == "folder" or len(loose) != 1:
            raise ReadError(f"{tree.name}: no transcript in it", hint="A session is a .jsonl file, a folder or an archive that holds one")
        mains = loose
    agents = legacy_agents(tree, names, set(mains))
    under: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for prefix in prefixes(name):
            under[prefix].append(name)
    for main in mains:
        folder, _, file = main.rpartition("/")
        stem = file.removesuffix(".jsonl")
        base = folder + "/" if folder else ""
        parts = {name.removeprefix(base): name for name in under.get(f"{base}{stem}/", ())}
        found = HOME.match(main)
        home = found["home"] if found else None
        slug = found["slug"] if found else (folder.rpartition("/")[2] if folder.rpartition("/")[2].startswith("-") else "")
        for agent in agents.get((folder, stem), ()):
            parts[agent.rpartition("/")[2]] = agent
        plans: dict[str, str] = {}
        registry: tuple[str, ...] = ()
        for root in {home, base} - {None}:
            for kind in ("file-history", "tasks"):
                parts |= {name.removeprefix(str(root)): name for name in under.get(f"{root}{kind}/{stem}/", ())}
            plans |= {name.rpartition("/")[2].removesuffix(".md"): name for name in by_folder.get(f"{root}plans", ()) if name.endswith(".md")}
            registry += tuple(name for name in by_folder.get(f"{root}sessions", ()) if re.fullmatch(r"\d+\.json", name.rpartition("/")[2]))
        yield Candidate(tree, main, slug, parts, plans, registry)


def is_main(name: str, homes: set[str]) -> bool:
    """Whether a file is a main transcript by its name and place."""
    folder, _, file = name.rpartition("/")
    if not file.endswith(".jsonl") or AGENT.match(file) or file.startswith("."):
        return False
    if file == "history.jsonl" and (not homes or folder + "/" in homes or folder == "" and "" in homes):
        return False
    return "/subagents/" not in f"/{name}" and "/tool-results/" not in f"/{name}" and "/file-history/" not in f"/{name}"


def documents(tree: Tree, names: list[str], homes: set[str], claimed: set[str]) -> list[str]:
    """JSON documents that are sessions of their own, told by their content: files of a client's home and of a transcript's own folder are not."""
    found = []
    for name in names:
        inside = any(name.startswith(f"{home}{kind}/") for home in homes for kind in ("projects", "file-history", "tasks", "plans", "sessions"))
        if name.endswith(".json") and not inside and not prefixes(name) & claimed:
            data = tree.files[name]()
            if len(data) <= DOCUMENT and reading.sniff(Source(name, (Part(name, data),))) != "raw":
                found.append(name)
    return found


def prefixes(name: str) -> set[str]:
    """Every folder above a name, each with a final `/`."""
    pieces = name.split("/")[:-1]
    return {"/".join(pieces[: count + 1]) + "/" for count in range(len(pieces))}


def legacy_agents(tree: Tree, names: list[str], mains: set[str]) -> dict[tuple[str, str], list[str]]:
    """(folder, session id) -> sub-agent files that lie beside the sessions, as client 2.0.76 wrote them."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        folder, _, file = name.rpartition("/")
        if AGENT.match(file) and not folder.endswith("subagents") and name not in mains:
            session = agent_session(tree.files[name]())
            if session:
                found[folder, session].append(name)
    return found


def place_of(part: str, slug: str) -> str | None:
    """Where a part lies in the client's home folder (`projects/…`, `file-history/…`, …); a document that is a session lies anywhere.

    None for what belongs to a process, not to the session: the registry entry.
    """
    first = part.partition("/")[0]
    if first == "sessions":
        return None
    if "/" not in part and not part.endswith(".jsonl"):
        return part
    if "/" in part and first in ("file-history", "tasks", "plans"):
        return part
    return f"projects/{slug}/{part}"


def slug_of(folder: str) -> str:
    """The project folder name that the client gives a working folder."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder) if folder else "-imported"
