"""One session on the desk: its rows, findings and added rows in one derivation, from the stored index or, for other options, made on the spot."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from inspector.core import fork, reading
from inspector.core.dialects.messages import messages_of
from inspector.core.findings import Severity
from inspector.core.jsonspans import NotJson, loads
from inspector.core.state import ResumeAs
from inspector.models import IndexedRow, Revision, Session
from inspector.queries import artifacts, derivation, indexing, screen
from inspector.queries import rows as stored
from inspector.templatetags.words import GATES

from .drawing import minimap

SHOWS = {"all": "All rows", "messages": "Messages", "problems": "Problems", "left-out": "Left out"}
HOWS = ("normal", "fork", "path", "switch")
PART, IDX, UUID, POINTERS, REASON = map(indexing.COLUMNS.index, ("part", "idx", "uuid", "pointers", "reason"))
SILENT = ("record", "progress", "not-a-transcript", "blank-line", "brackets")
"""Reasons that the filter "left out" passes over, as the stored index does."""
MARKS = {"compaction": "c", "damaged": "p", "call": "p", "fatal": "p", "error": "p", "warning": "w", "info": "o"}
AGENTS = 200
SMALL = 100_000
"""Bytes read of a sub-agent's metadata file."""
PROMPTS = 20_000
"""Rows up to which the map shows each user prompt."""
WHOLE_SESSION = ("resume-refused", "sidechain-tail")
LIGHT = 6_000_000
"""Bytes up to which a page may derive the session for its head strip; larger ones derive only when a panel asks."""

LONGEST = 60_000
"""Characters shown of the screen text of one row."""


@dataclass(slots=True)
class Seen:
    """A finding as the grid and the panels show it."""

    code: str
    severity: str
    message: str
    rows: Sequence[str]
    repairable: bool
    operation: str | None


@dataclass
class Desk:
    """What a page of a session was asked for; the answers are made when they are used."""

    session: Session
    revision: Revision
    resume_as: ResumeAs = ResumeAs()
    part: int = 0
    show: str = "all"
    find: str = ""
    dense: bool = False
    panel: str = "findings"
    at: str = ""

    @property
    def default(self) -> bool:
        """Whether the stored index answers: no other way of resuming is asked for."""
        return self.resume_as == ResumeAs()

    @cached_property
    def derived(self) -> derivation.Derivation:
        """The whole derivation; held between requests."""
        return derivation.inspection_of(revision=self.revision, resume_as=self.resume_as)

    # addresses

    def query(self, **changes: Any) -> str:
        """Query string of this view with changes; defaults are left out so that addresses stay short."""
        values = {
            "rev": self.revision.number if self.is_old else None,
            "as": self.resume_as.how if self.resume_as.how != "normal" else None,
            "version": self.resume_as.version,
            "model": self.resume_as.model,
            "prompt": self.resume_as.prompt,
            "gate": [name for name, on in self.resume_as.gates if on],
            "part": self.part or None,
            "show": self.show if self.show != "all" else None,
            "find": self.find or None,
            "dense": 1 if self.dense else None,
            "panel": self.panel if self.panel != "findings" else None,
        } | changes
        return urlencode({key: value for key, value in values.items() if value not in (None, "", [])}, doseq=True)

    def href(self, **changes: Any) -> str:
        return reverse("session", args=[self.session.pk]) + "?" + self.query(**changes)

    @cached_property
    def _row_base(self) -> str:
        query = self.query(part=None)
        return reverse("session", args=[self.session.pk]) + "?" + (f"{query}&" if query else "")

    def row_href(self, ref: str) -> str:
        """Address of the page opened at a row: works with and without a script."""
        part = ref.partition(":")[0]
        part = part if part.isdecimal() else str(self.part)
        return f"{self._row_base}{'' if part == '0' else f'part={part}&'}at={quote(ref)}#r{ref}"

    def part_href(self, name: str, **changes: Any) -> str:
        return reverse(name, args=[self.session.pk]) + "?" + self.query(**changes)

    @property
    def gates(self) -> tuple[str, ...]:
        """Names of the switches that mean something for this client."""
        return getattr(reading.CLIENTS.get(self.session.client), "GATES", ())

    @property
    def forks(self) -> bool:
        """Whether sessions of this client can be forked."""
        return fork.forks(self.session.client)

    # rows

    @cached_property
    def _tuples(self) -> list[tuple[Any, ...]]:
        return _tuples_of(self.revision.pk, self.revision.digest, self.resume_as)

    @cached_property
    def _found(self) -> list[int] | None:
        """`seq` of the rows that the search inside finds; None without one."""
        if not self.find:
            return None
        refs = screen.search(revision=self.revision, text=self.find, part=self.part)
        return sorted(stored.seqs_of(revision=self.revision, refs=refs).values())

    def _stored(self) -> QuerySet[IndexedRow]:
        rows = stored.matching(revision=self.revision, show=self.show, part=self.part)
        return rows if self._found is None else rows.filter(seq__in=self._found)

    @cached_property
    def problem_refs(self) -> list[str]:
        """Rows of this part with findings above info, in order."""
        refs = {ref for finding in self.problems for ref in finding.rows if ref.startswith(f"{self.part}:")}
        return sorted(refs, key=lambda ref: int(ref.split(":")[1]))

    @cached_property
    def _chosen(self) -> list[IndexedRow]:
        """Rows of this view, for a derivation that is not stored."""
        problems = set(self.problem_refs)
        found = None if self._found is None else set(self._found)
        keep = {
            "all": lambda row: True,
            "messages": lambda row: row.kind == "message",
            "problems": lambda row: row.ref in problems or row.kind == "damaged",
            "left-out": lambda row: row.reason and row.reason not in SILENT,
        }[self.show]
        rows = (IndexedRow(**dict(zip(indexing.COLUMNS, values, strict=True))) for values in self._tuples if values[PART] == self.part)
        return [row for row in rows if keep(row) and (found is None or row.seq in found)]

    def seq(self, ref: str) -> int | None:
        """`seq` of a ref; of an added row that of the row before it. None for what is no row."""
        if ref.startswith("+"):
            ref = next((anchor for anchor, items in self.added.items() if any(item["ref"] == ref for item in items)), "")
        return stored.seq_of(revision=self.revision, ref=ref)

    def row(self, ref: str) -> IndexedRow | None:
        """One row, whatever the view shows."""
        seq = self.seq(ref) if not ref.startswith("+") else None
        if seq is None:
            return None
        if self.default:
            return self._shown([stored.matching(revision=self.revision).get(seq=seq)], LONGEST)[0]
        return self._shown([IndexedRow(**dict(zip(indexing.COLUMNS, self._tuples[seq], strict=True)))], LONGEST)[0]

    def _shown(self, rows: Iterable[IndexedRow], limit: int = screen.PREVIEW) -> list[IndexedRow]:
        return screen.with_screen(revision=self.revision, rows=rows, limit=limit)

    def after(self, seq: int, count: int) -> list[IndexedRow]:
        """Rows of this view from `seq` on."""
        if self.default:
            return self._shown(self._stored().filter(seq__gte=seq)[:count])
        return self._shown([row for row in self._chosen if row.seq >= seq][:count])

    def before(self, seq: int, count: int) -> list[IndexedRow]:
        """The last rows of this view before `seq`."""
        if self.default:
            return self._shown(self._stored().filter(seq__lt=seq).order_by("-seq")[:count])[::-1]
        return self._shown([row for row in self._chosen if row.seq < seq][-count:])

    def goes_on(self, seq: int, *, back: bool) -> bool:
        """Whether the view has rows before `seq` (`back`), or from it on."""
        if self.default:
            return self._stored().filter(**{"seq__lt" if back else "seq__gte": seq}).exists()
        return any(row.seq < seq if back else row.seq >= seq for row in self._chosen)

    def total(self) -> int:
        """Rows of this view."""
        return self._stored().count() if self.default else len(self._chosen)

    def left_out(self) -> int:
        """Rows that a person may miss in the request: the client's own records do not count."""
        if self.default:
            return stored.matching(revision=self.revision, show="left-out", part=self.part).count()
        return sum(1 for values in self._tuples if values[PART] == self.part and values[REASON] and values[REASON] not in SILENT)

    def parents_of(self, rows: list[IndexedRow]) -> dict[str, str]:
        """Row id -> ref, for the rows and those that they hang from."""
        wanted = {row.parent_uuid for row in rows if row.parent_uuid}
        known = {row.uuid: row.ref for row in rows if row.uuid}
        missing = wanted - known.keys()
        if missing and self.default:
            found = self.revision.indexed_rows.filter(part=self.part, uuid__in=list(missing)[:400]).only("revision_id", "seq", "part", "idx", "uuid")
            known |= {row.uuid: row.ref for row in found}
        elif missing:
            known |= {row[UUID]: f"{row[PART]}:{row[IDX]}" for row in self._tuples if row[UUID] in missing}
        return known

    @cached_property
    def _lineage(self) -> dict[str, str] | None:
        """Ref -> ref in the revision that was imported or forked, over all repairs since; None where there was none."""
        revision: Revision | None = self.revision
        refs: dict[str, str] | None = None
        while revision is not None and revision.kind == Revision.Kind.REPAIRED:
            step = revision.lineage
            refs = step if refs is None else {new: step[old] for new, old in refs.items() if old in step}
            revision = revision.parent
        return refs

    def is_new(self, ref: str) -> bool:
        """Whether a repair added the row: it has no ancestor in what was imported or forked."""
        return self._lineage is not None and ref not in self._lineage

    @property
    def is_old(self) -> bool:
        """Whether a newer revision of the session is the current one."""
        return self.revision.pk != self.session.current_id

    @property
    def is_agent(self) -> bool:
        """Whether the session is a sub-agent's conversation, which no client resumes by itself."""
        return self.session.relation == Session.Relation.SUB_AGENT

    @cached_property
    def agents(self) -> dict[str, Session]:
        """Id of the call that started it -> session of the sub-agent, as far as the files beside the transcript tell."""
        children = {child.agent: child for child in self.session.children.filter(relation=Session.Relation.SUB_AGENT)}
        return {call: children[agent] for agent, call in started_by(self.revision).items() if agent in children}

    # what is known about them

    @cached_property
    def findings(self) -> list[Seen]:
        """In rule order. What only says that a sub-agent is no session by itself is left out on a sub-agent's own page."""
        found = self.revision.findings.all() if self.default else self.derived.findings
        seen = [Seen(f.code, str(f.severity), f.message, f.rows, f.repairable, f.operation or None) for f in found]
        return [finding for finding in seen if finding.code not in WHOLE_SESSION] if self.is_agent else seen

    @property
    def problems(self) -> list[Seen]:
        """Findings above info: what every count of findings counts."""
        return [finding for finding in self.findings if finding.severity != "info"]

    @cached_property
    def findings_at(self) -> dict[str, list[Seen]]:
        """Ref -> findings, worst first."""
        found: dict[str, list[Seen]] = defaultdict(list)
        for finding in sorted(self.findings, key=lambda finding: list(Severity).index(Severity(finding.severity))):
            for ref in finding.rows:
                found[ref].append(finding)
        return found

    @cached_property
    def added(self) -> dict[str, list[dict[str, Any]]]:
        """Ref of the transcript row before -> rows that the resume adds after it, in order."""
        items = self.revision.added if self.default else indexing.added_rows(self.derived)
        parents = {item["ref"]: item.get("parent") for item in items}
        out: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for item in items:
            anchor = item.get("parent")
            while anchor in parents:
                anchor = parents[anchor]
            out[anchor or self.leaf].append(item | {"text": text_of(item.get("value"))})
        return out

    @property
    def leaf(self) -> str:
        return self.revision.leaf if self.default else self.derived.inspection.state.leaf or ""

    @property
    def verdict(self) -> str:
        if self.is_agent:
            return self.session.verdict
        return self.revision.verdict if self.default else self.derived.verdict

    @property
    def summary(self) -> str:
        if self.is_agent:
            return self.session.summary
        return self.revision.summary if self.default else self.derived.summary

    @cached_property
    def counts(self) -> dict[str, int]:
        if self.default:
            return self.revision.counts
        reached = sum(1 for row in self._tuples if row[POINTERS])
        request = self.derived.inspection.request
        return self.revision.counts | {"reached": reached, "sent": len(messages_of(request.body)) if request else 0}

    def start(self) -> str:
        """Where the page opens: the row asked for, the defect, else the leaf."""
        if self.at:
            return self.at
        worst = sorted((f for f in self.problems if f.rows), key=lambda f: list(Severity).index(Severity(f.severity)))
        here = [ref for finding in worst for ref in finding.rows if ref.startswith(f"{self.part}:")]
        return here[0] if here else self.leaf if self.part == 0 else ""

    def map(self) -> SafeString:
        """The part on the map: every row, those that matter by what they are."""
        first, count = self.revision.parts.values_list("first_row", "rows").get(number=self.part)
        kinds: dict[int, str] = {}
        if count <= PROMPTS:
            said = stored.matching(revision=self.revision, show="messages", part=self.part).filter(role="user", tools="", results="")
            kinds = dict.fromkeys((seq - first for seq in said.values_list("seq", flat=True)), "u")
        for seq, word in stored.minimap(revision=self.revision):
            if first <= seq < first + count and (not self.is_agent or word in ("compaction", "damaged", "call")):
                kinds[seq - first] = MARKS[word]
        return minimap.draw(self.part, count, kinds, self.row_href)


@lru_cache(maxsize=4)
def _tuples_of(revision: int, digest: str, resume_as: ResumeAs) -> list[tuple[Any, ...]]:
    found = derivation.inspection_of(revision=Revision.objects.select_related("session").get(pk=revision), resume_as=resume_as)
    return list(indexing.rows_of(found))


def started_by(revision: Revision) -> dict[str, str]:
    """Agent id -> id of the call that started the agent, from the `agent-<id>.meta.json` files of a revision."""
    found = {}
    for number, name in revision.parts.filter(name__endswith=".meta.json").values_list("number", "name")[:AGENTS]:
        named = re.search(r"agent-([A-Za-z0-9_-]+)\.meta\.json$", name)
        data = artifacts.part_bytes(revision=revision, number=number)
        try:
            value = loads(data[0:SMALL])
        except NotJson:
            continue
        if named and isinstance(value, dict) and isinstance(value.get("toolUseId"), str):
            found[named[1]] = value["toolUseId"]
    return found


def text_of(value: Any) -> str:
    """The words of a row that a resume adds."""
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else value.get("content") if isinstance(value, dict) else None
    if isinstance(content, str):
        return content
    said = [block.get("text") or block.get("content") for block in content or () if isinstance(block, dict)]
    return "\n".join(text for text in said if isinstance(text, str))


def client_title(name: str) -> str:
    """What people call a client."""
    client = reading.CLIENTS.get(name)
    return str(getattr(client, "TITLE", name))


def get_session(pk: int) -> Session:
    return get_object_or_404(Session.objects.select_related("current", "parent").defer("current__lineage", "current__plan"), pk=pk)


def get_revision(session: Session, number: str | None) -> Revision:
    """The revision that an address names, or the current one. Raises Http404."""
    if number and not number.isdecimal():
        raise Http404("no such revision")
    found = session.revisions.filter(number=int(number)).first() if number else session.current
    if found is None:
        raise Http404("This session has no such revision.")
    found.session = session
    return found


def open_desk(request: HttpRequest, pk: int) -> Desk:
    """The desk that an address asks for. Unknown words fall back to the defaults. Raises Http404."""
    session = get_session(pk)
    asked = request.GET
    profiles = getattr(reading.CLIENTS.get(session.client), "PROFILES", {})
    revision = get_revision(session, asked.get("rev"))
    part = asked.get("part", "0")
    if not part.isdecimal() or len(part) > 6 or not revision.parts.filter(number=int(part)).exists():
        raise Http404("This session has no such part.")
    resume_as = ResumeAs(
        how=asked["as"] if asked.get("as") in HOWS else "normal",  # type: ignore[arg-type]
        version=asked["version"] if asked.get("version") in profiles and asked["version"] != next(iter(profiles), None) else None,
        model=asked.get("model", "").strip()[:100] or None,
        prompt=asked.get("prompt", "").strip()[:2000] or None,
        gates=tuple((name, True) for name in GATES if name in asked.getlist("gate")),
    )
    return Desk(
        session=session,
        revision=revision,
        resume_as=resume_as,
        part=int(part),
        show=asked["show"] if asked.get("show") in SHOWS else "all",
        find=asked.get("find", "").strip()[:200],
        dense=asked.get("dense") == "1",
        panel=asked.get("panel", "findings"),
        at=asked.get("at", "")[:24],
    )
