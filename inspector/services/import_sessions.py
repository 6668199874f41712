"""Bring sessions in: bytes stored, rows indexed, verdict known. A failed or cancelled import leaves nothing behind.

Each session is written in a transaction of its own, so that a large tree neither holds the database nor hides its first sessions
until the last is read; what a run has written is undone when the run does not come to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from inspector.capture import live
from inspector.capture.layout import AGENT, Candidate
from inspector.capture.limits import Limits, check, check_rows
from inspector.capture.store import StoredThread
from inspector.core.source import Source
from inspector.models import Artifact, Revision, RevisionPart, Session
from inspector.models.roles import HANDLE
from inspector.models.text import clean
from inspector.queries.derivation import collection_paused, derive
from inspector.queries.origin import place_digest

from .append_audit import append_audit
from .artifacts import Incoming, digest_of, erase_unused, kept
from .delete_session import apply_retention
from .forget_operations import forget_operations
from .permit import permit
from .write_revision import write_revision


class Cancelled(Exception):
    """Raised by a progress callback to stop an import: all that it brought in is taken out again."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an import stands. `bytes` counts the transcripts and files of the sessions that are done."""

    done: int
    total: int
    bytes: int
    total_bytes: int
    name: str
    """Session that is being read, or was read last."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session: new, known already with the same bytes, or a new revision of one whose file has changed."""

    session: Session
    revision: Revision
    what: Literal["imported", "unchanged", "changed"]


def limits() -> Limits:
    """The limits as the settings say."""
    return Limits(**settings.LIMITS)


def import_sessions(
    *, candidates: Sequence[Candidate], actor: AbstractBaseUser | None = None, progress: Callable[[Progress], None] = lambda _: None
) -> list[Outcome]:
    """Import the sessions of a tree, in order. Damaged bytes are never refused. Sessions past their retention go first.

    Raises PermissionDenied, LimitError, ReadError, OSError, Cancelled, or what the callback raised; then nothing of this run is left.
    """
    permit(actor, HANDLE)
    bounds = limits()
    total = 0
    for tree in {id(candidate.tree): candidate.tree for candidate in candidates}.values():
        total += tree.size
        check(bounds, "bytes", "this import", total)
    apply_retention()
    run = Run()
    outcomes: list[Outcome] = []
    done = 0
    try:
        drafts = announce(candidates, actor, run)
        for number, candidate in enumerate(candidates):
            progress(Progress(number, len(candidates), done, total, candidate.name))
            source = candidate.source(live.running)
            outcomes.append(_import_one(source, drafts[number], actor, bounds, run))
            done += sum(len(part.data) for part in source.parts)
        progress(Progress(len(candidates), len(candidates), done, total, candidates[-1].name if candidates else ""))
    except BaseException as error:
        undo(run, actor, type(error).__name__)
        raise
    return outcomes


@dataclass(slots=True)
class Run:
    """What one import has made so far: what `undo` takes out again."""

    sessions: list[int] = field(default_factory=list)
    revisions: list[int] = field(default_factory=list)
    before: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Fields, as they were, of sessions that were known already."""

    def keep(self, session: Session) -> None:
        self.before.setdefault(session.pk, {field.attname: getattr(session, field.attname) for field in Session._meta.concrete_fields})


def announce(candidates: Sequence[Candidate], actor: AbstractBaseUser | None, run: Run) -> list[Session]:
    """Make the light entries that lists show while the sessions are read. One whose file is known already gets no entry of its own."""
    origins = [origin_of(candidate) for candidate in candidates]
    known = {session.origin: session for session in Session.objects.filter(origin__in=origins).exclude(origin="").select_related("current")}
    now = timezone.now()
    drafts = []
    with transaction.atomic():
        for candidate, origin in zip(candidates, origins, strict=True):
            draft = known.get(origin)
            if draft is None:
                draft = Session.objects.create(
                    native_id=clean(candidate.id, 200), name=clean(candidate.name, 255), slug=clean(candidate.slug, 255), imported_by=actor,
                    source_kind=candidate.tree.kind, origin=origin, place=place_of(candidate), last_activity=now,
                )  # fmt: skip
                run.sessions.append(draft.pk)
            drafts.append(draft)
    return drafts


def origin_of(candidate: Candidate) -> str:
    """Digest of the place of a file of this machine; blank for uploads and archives."""
    path = candidate.tree.origins.get(candidate.main)
    return place_digest(path) if path else ""


def place_of(candidate: Candidate) -> str:
    """That place as a path; blank for a thread of a store, and where a database can't hold it."""
    if isinstance(candidate, StoredThread):
        return ""
    path = str(candidate.tree.origins.get(candidate.main) or "")
    return path if clean(path, 4000) == path else ""


def _import_one(source: Source, draft: Session, actor: AbstractBaseUser | None, bounds: Limits, run: Run) -> Outcome:
    for number, part in enumerate(source.parts):
        if number == 0 or AGENT.match(part_name(source, number)):
            check_rows(bounds, part.name, part.data)
    known: set[str] = set()
    if Artifact.objects.filter(size=len(source.parts[0].data)).exists():  # else it is new, and needs no second reading to find that out
        named = [(part.sha256(), part) for part in source.parts]
        same = known_revision(digest_of(named), draft)
        if same is not None:
            return _unchanged(same, draft, source)
        known = kept(sha256 for sha256, _ in named)
    with Incoming() as incoming, ThreadPoolExecutor(1) as pool, collection_paused(source):
        # Hashing and packing leave the interpreter free: they run beside the reading.
        packing = pool.submit(incoming.take, source.parts, known)
        derivation = derive(source=source)
        hashes = packing.result()
        read = derivation.inspection.session
        agents = {number: derive(source=Source(part_name(source, number), (source.parts[number],), source.hints)) for number in read.agents}
        with transaction.atomic():
            incoming.save()
            parent = draft.current
            what: Literal["imported", "changed"] = "changed" if parent else "imported"
            run.keep(draft)
            kind = Revision.Kind.IMPORTED
            revision = write_revision(session=draft, kind=kind, derivation=derivation, hashes=hashes, parent=parent, author=actor)
            run.revisions.append(revision.pk)
            for number, agent in agents.items():
                child = _agent_session(draft, read.agents[number], part_name(source, number), actor, run)
                if child.current is None or child.current.digest != digest_of([hashes[number]]):
                    run.keep(child)
                    made = write_revision(session=child, kind=kind, derivation=agent, hashes=[hashes[number]], parent=child.current, author=actor)
                    run.revisions.append(made.pk)
            details = {"name": draft.name, "revision": revision.number, "sha256": hashes[0][0], "size": revision.counts["size"]}
            append_audit(actor=actor, action=f"session-{what}", session=draft.pk, details=details)
    return Outcome(draft, revision, what)


def part_name(source: Source, number: int) -> str:
    return source.parts[number].name.rpartition("/")[2]


def known_revision(digest: str, draft: Session) -> Revision | None:
    """An imported revision with the same bytes: of this session's newest import, else of any session of the same project."""
    found = Revision.objects.filter(digest=digest, kind=Revision.Kind.IMPORTED).select_related("session")
    if draft.current_id is not None:
        newest = draft.revisions.filter(kind=Revision.Kind.IMPORTED).order_by("-number").first()
        return newest if newest and newest.digest == digest else None
    return found.filter(session__slug=draft.slug).exclude(session=draft).order_by("pk").first()


def _unchanged(same: Revision, draft: Session, source: Source) -> Outcome:
    session = same.session
    with transaction.atomic():
        if draft.pk != session.pk:
            draft.delete()
        why = clean(source.hints.get("live"), 300)
        if session.live != why:
            session.live = why
            session.verdict = Session.Verdict.LIVE if why else (session.current.verdict if session.current else same.verdict)
            session.save(update_fields=["live", "verdict"])
    return Outcome(session, same, "unchanged")


def _agent_session(parent: Session, agent: str, name: str, actor: AbstractBaseUser | None, run: Run) -> Session:
    """The linked session of a sub-agent: the one that is there, or a new one."""
    agent = clean(agent, 120)
    found = parent.children.filter(relation=Session.Relation.SUB_AGENT, agent=agent).select_related("current").first()
    if found is None:
        found = Session.objects.create(
            client=parent.client, native_id=agent, name=clean(name, 255), slug=parent.slug, imported_by=actor, source_kind=parent.source_kind,
            parent=parent, relation=Session.Relation.SUB_AGENT, agent=agent, last_activity=parent.last_activity,
        )  # fmt: skip
        run.sessions.append(found.pk)
    return found


def undo(run: Run, actor: AbstractBaseUser | None, why: str) -> None:
    """Take out what a run brought in: new sessions with their sub-agents, and new revisions of known sessions."""
    with transaction.atomic():
        for pk, values in run.before.items():
            Session.objects.filter(pk=pk).update(**values)
        revisions = Revision.objects.filter(Q(pk__in=run.revisions) | Q(session__in=run.sessions))
        hashes = set(RevisionPart.objects.filter(revision__in=revisions).values_list("artifact_id", flat=True))
        revisions.delete()
        forget_operations(run.sessions)
        Session.objects.filter(pk__in=run.sessions).delete()
        erase_unused(hashes)
        append_audit(actor=actor, action="import-undone", details={"why": why, "sessions": len(run.sessions)})
