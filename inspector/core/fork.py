"""Fork a session at any row: a new session with its own id and files, which starts from the conversation up to that row.

A fork keeps uuids and names its origin in every row (`forkedFrom`), so that lineage is told by the rows themselves. What belongs to the
session that was left (queue, worktree, recorded requests, live-process entry) stays there. It is derived again before it is offered.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from . import ids, index, reading, rulebook
from . import inspection as inspecting
from .edits import DropRow, InsertRow
from .errors import PlanError
from .findings import Finding, above_info
from .index import CHAIN_KINDS
from .inspection import Inspection
from .session import BlockKind, Row, RowKind, Session
from .source import Part, Source
from .splice import splice

NOT_ISOLATED = (
    "A fork is a second conversation, not a second set of files: both sessions work in the same folder and see each other's changes.",
    "What the calls of this conversation did to files and other systems has happened once, for both.",
)


@dataclass(slots=True)
class Fork:
    """A fork that was derived and found sound; `source` holds the parts to write."""

    source: Source
    session: str
    """Its id."""
    parent: str | None
    """Id of the session that it was made from."""
    at: str
    """Ref of the row that it goes on from, in the original."""
    lineage: dict[str, str]
    """New ref -> old ref, for the rows of all transcripts."""
    left_behind: dict[str, int]
    """Why rows were not taken over -> how many."""
    copied: list[str]
    """Names of the parts beside the transcript."""
    notes: list[str]
    inspection: Inspection
    findings: list[Finding] = field(default_factory=list)

    def remains(self) -> list[Finding]:
        return above_info(self.findings)

    def operations_open(self) -> list[str]:
        return self.inspection.operations_open()


def fork(inspection: Inspection, *, new_id: str, at: str, row: str | None = None) -> Fork:
    """Make the fork of a session at `row` (a ref of the conversation; None: where a resume goes on). `at` is an ISO 8601 time.

    Raises PlanError where there is nothing to go on from, the row is no place to go on from, the id is taken, or the fork would not be
    resumed with the same conversation.
    """
    session = inspection.session
    writer = getattr(reading.CLIENTS[session.client], "write", None)
    if writer is None:
        raise PlanError(f"sessions of {session.client} can't be forked yet")
    if not forks(session.client):
        raise PlanError("A checkpoint is data, not a session: every resume makes a new session from it", hint="Export it and give the copy an id")
    if new_id == session.id or any(new_id in part.name for part in session.source.parts):
        raise PlanError(f"{new_id} is this session's own id", hint="Give another --new-id")
    if hasattr(reading.CLIENTS[session.client], "copied"):
        return _copied(inspection, new_id, row)
    start, refs = (inspection, {}) if row is None else _as_if_left_at(inspection, session, row)
    if start.state.refused is not None:
        raise PlanError(f"there is nothing to fork: {start.state.refused}")
    branch = {refs.get(ref, ref) for ref in start.state.branch}
    leaf = start.state.leaf or ""
    made = _Writer(session, writer, new_id, at, start, branch, refs.get(leaf, leaf)).run()
    if row is not None:
        made.notes += _come_along(inspection, session.row(row), branch)
    _sound(start, made)
    return made


def forks(client: str) -> bool:
    """Whether sessions of a client can be forked."""
    module = reading.CLIENTS.get(client)
    return hasattr(module, "copied") or hasattr(getattr(module, "write", None), "forked")


def _copied(inspection: Inspection, new_id: str, ref: str | None) -> Fork:
    """The fork of a thread of a store, whose rows tell by themselves where each stands."""
    session = inspection.session
    if ref is None and inspection.state.refused is not None:
        raise PlanError(f"there is nothing to fork: {inspection.state.refused}")
    try:
        row = session.row(ref) if ref is not None else None
    except KeyError:
        raise PlanError(f"there is no row {ref}", hint="Refs are PART:ROW, counted from 0") from None
    made = reading.CLIENTS[session.client].copied(session, row, new_id)
    if made is None:
        raise PlanError(f"row {ref} is no place to go on from", hint="Choose a checkpoint of the graph itself, or something written under one")
    looked = inspecting.inspect(made.source, inspection.resume_as, session.client, inspection.policy, inspection.kept)
    if looked.state.refused is not None:
        raise PlanError(f"the fork would not be resumed: {looked.state.refused}", hint="Repair the thread first")
    return Fork(
        source=made.source, session=new_id, parent=session.id, at=made.lineage[looked.state.leaf or ""], lineage=made.lineage,
        left_behind=dict(made.left), copied=[part.name for part in made.source.parts[1:]], notes=list(NOT_ISOLATED[1:]), inspection=looked,
        findings=rulebook.diagnose(looked),
    )  # fmt: skip


def _as_if_left_at(inspection: Inspection, session: Session, ref: str) -> tuple[Inspection, dict[str, str]]:
    """What a resume would do if the person had last gone on from row `ref`, and its refs -> refs of the session.

    Compactions that came after the row are left out: from its point of view they have not happened.
    """
    try:
        row = session.row(ref)
    except KeyError:
        raise PlanError(f"there is no row {ref}", hint="Refs are PART:ROW, counted from 0") from None
    if row.part != 0 or row.kind not in CHAIN_KINDS or row.id is None or row.sidechain:
        raise PlanError(f"row {ref} ({row.type}) is no place to go on from", hint="Choose a row of the main conversation")
    writer: Any = reading.CLIENTS[session.client].write
    line = set(index.of(inspection).ancestors(row))
    later = [DropRow(other.ref) for other in session.main() if other.type == "system/compact_boundary" and other not in line]
    last = next(other for other in reversed(session.rows) if other.part == 0)
    bookmark = InsertRow(last.ref, writer.last_prompt_row(session, row.id, {"step": "fork"}))
    chosen = splice(session, [*later, bookmark])
    looked = inspecting.inspect(chosen.source, replace(inspection.resume_as, version=None), session.client, inspection.policy, inspection.kept)
    leaf = looked.row(looked.state.leaf) if looked.state.leaf else None
    if looked.state.refused is None and (leaf is None or leaf.id != row.id):
        raise PlanError(f"the client would not go on from row {ref}", hint="Choose a row on the branch, or repair the session first")
    return looked, chosen.lineage


def _come_along(inspection: Inspection, row: Row, branch: set[str]) -> list[str]:
    """What a person must know who chose a row in the middle of one answer of the model: the client holds such an answer whole."""
    looked = index.of(inspection)
    above = list(looked.ancestors(row))
    answer = next((each for each in above if each.role == "assistant"), None)
    message = index.message_of(answer) if answer is not None else None
    pieces = [other for other in inspection.session.main() if other.role == "assistant" and index.message_of(other) == message]
    calls = {block.id for piece in pieces for block in piece.blocks if block.kind is BlockKind.CALL}
    later = [other for other in inspection.session.main() if other.ref in branch and other.index > row.index]
    along = [other.ref for other in later if other in pieces or any(block.kind is BlockKind.RESULT and block.id in calls for block in other.blocks)]
    if not along:
        return []
    earlier = next((each for each in above if each not in pieces and each.index < pieces[0].index and each.id), None)
    stop = f"; choose {earlier.ref} to stop before it" if earlier is not None else ""
    named = f"{', '.join(along[:6])}{f' and {len(along) - 6} more' if len(along) > 6 else ''}"
    one = len(along) == 1
    return [f"{'Row' if one else 'Rows'} {named} {'comes' if one else 'come'} along: the same answer of the model, with its results{stop}."]


class _Writer:
    """Writes the parts of one fork."""

    def __init__(self, session: Session, writer: Any, new_id: str, at: str, start: Inspection, branch: set[str], leaf: str) -> None:
        self.session, self.writer, self.new_id, self.at, self.start, self.leaf = session, writer, new_id, at, start, leaf
        self.carried = self._carried(branch)
        self.tree = writer.worktree(session)
        self.slug: str | None = None
        """Name of the fork's own plan file, where the session has one."""
        self.lineage: dict[str, str] = {}
        self.left: Counter[str] = Counter()

    def _carried(self, branch: set[str]) -> set[str]:
        """Refs of the rows with an id that the fork holds: the branch, what a compaction on it kept, and the rows that links of it lead through."""
        by_id = {row.id: row for row in self.session.main() if row.id}
        refs = set(branch)
        todo = [self.session.row(ref) for ref in refs]
        todo += [by_id[id] for row in todo for id in self.writer.kept_by_compaction(self.session, row) if id in by_id]
        while todo:
            row = todo.pop()
            refs.add(row.ref)
            above = by_id.get(row.parent or "")
            if above is not None and above.ref not in refs and above.kind not in CHAIN_KINDS:
                todo.append(above)
        return refs

    def run(self) -> Fork:
        old_id = self.session.id or ""
        names: dict[str, tuple[Part, list[bytes] | None, list[str]]] = {}
        transcripts = {row.part for row in self.session.rows if row.kind is not RowKind.BLOB}
        self.slug = self._slug()
        for number, part in enumerate(self.session.source.parts):
            if part.name.startswith("sessions/"):
                self.left["the live-process entry belongs to the session that was left"] += 1
                continue
            name = f"{self.new_id}.jsonl" if number == 0 else self._renamed(part.name, old_id)
            if number in transcripts:
                refs: list[str] = []
                names[name] = (part, self._rows(number, refs), refs)
            else:
                names[name] = (part, None, [f"{number}:0"])
        main = f"{self.new_id}.jsonl"
        parts = []
        for number, name in enumerate([main, *sorted(names.keys() - {main})]):
            part, lines, refs = names[name]
            parts.append(Part(name, part.data if lines is None else b"".join(lines)))
            self.lineage.update((f"{number}:{index}", ref) for index, ref in enumerate(refs))
        hints = {key: value for key, value in self.session.source.hints.items() if key != "live"}
        source = Source(main, tuple(parts), hints)
        looked = inspecting.inspect(source, self.start.resume_as, self.session.client, self.start.policy, self.start.kept)
        return Fork(
            source=source, session=self.new_id, parent=self.session.id, at=self.leaf, lineage=self.lineage, left_behind=dict(self.left),
            copied=[part.name for part in parts[1:]], notes=self._notes(), inspection=looked, findings=rulebook.diagnose(looked),
        )  # fmt: skip

    def _slug(self) -> str | None:
        for row in self.session.main():
            value = self.session.value(row)
            if isinstance(value, dict) and isinstance(value.get("slug"), str):
                return f"{value['slug']}-{self.new_id[:8]}"
        return None

    def _renamed(self, name: str, old_id: str) -> str:
        if name.startswith("plans/"):
            return f"plans/{self.slug or name.removeprefix('plans/').removesuffix('.md')}.md"
        pieces = [self.new_id if piece == old_id else piece for piece in name.split("/")]
        return "/".join(pieces)

    def _rows(self, part: int, refs: list[str]) -> list[bytes]:
        lines = []
        for row in self.session.rows:
            if row.part != part:
                continue
            why = self._stays(row)
            if why is not None:
                self.left[why] += 1
                continue
            data = self.writer.forked(self.session, row, new_id=self.new_id, new_prompt_id=self._prompt_id, slug=self.slug, tree=self.tree)
            lines.append(data if data.endswith(b"\n") else data + b"\n")
            refs.append(row.ref)
        if part == 0:
            mark = {"step": "fork", "at": self.at, "from": self.session.id}
            lines.append(self.writer.last_prompt_row(replace_id(self.session, self.new_id), self.session.row(self.leaf).id, mark))
        return lines

    def _stays(self, row: Row) -> str | None:
        """Why a row is not taken over, or None."""
        if row.damage or row.kind is RowKind.BLANK or not isinstance(self.session.value(row), dict):
            return "damaged and blank lines"
        if row.part != 0:
            return None
        if row.ref in self.carried:
            return None
        if row.kind in CHAIN_KINDS or row.id is not None:
            return "rows that the fork does not go on from (another branch, before the compaction, a sub-agent, progress)"
        return self.writer.LEFT_BEHIND.get(row.type) or self._bypass(row)

    def _bypass(self, row: Row) -> str | None:
        bypass = row.type == "permission-mode" and self.session.value(row).get("permissionMode") == "bypassPermissions"
        return "a permission mode that needs a person" if bypass else None

    def _prompt_id(self, old: str) -> str:
        return ids.derived(self.new_id, "prompt", old)

    def _notes(self) -> list[str]:
        notes = list(NOT_ISOLATED)
        if self.tree:
            notes.append("The worktree stays with the session that was left; the fork works in the main checkout.")
        if any(row.type == "queue-operation" for row in self.session.main()):
            notes.append("Prompts that were queued are not taken over.")
        return notes


def replace_id(session: Session, new_id: str) -> Session:
    """The session under another id, sharing everything else."""
    return replace(session, id=new_id)


def _sound(start: Inspection, made: Fork) -> None:
    """Raises PlanError unless the fork is resumed with the same conversation as the original at that row, and breaks no rule of the provider."""
    state, request = made.inspection.state, made.inspection.request
    if state.refused is not None or request is None:
        raise PlanError(f"the fork would not be resumed: {state.refused}", hint="Repair the session first")
    blocking = [problem for problem in request.problems if problem.blocking]
    if blocking:
        raise PlanError(f"the fork's request would be refused ({blocking[0].rule}: {blocking[0].message})", hint="Repair the session first")
    if _told(start, made.session) != _told(made.inspection, made.session):
        raise PlanError("the fork would not be resumed with the same conversation", hint="Repair the session first")


def _told(inspection: Inspection, new_id: str) -> str:
    """The conversation of a derived request as text, with the session's own folder under the fork's name."""
    said = json.dumps([[message.role, message.content] for message in inspection.state.messages])
    return said.replace(f"/{inspection.session.id}/tool-results/", f"/{new_id}/tool-results/")
