"""Which rows a resume continues: reading, leaf, walk, bridges, compaction, recovery of siblings. Light rows only; nothing is parsed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any

from ...session import BlockKind, Row, RowKind, Session, moment
from ...verdicts import Drop, Reason, Stage
from .profiles import Profile
from .read import Light

CHAIN_KINDS = (RowKind.MESSAGE, RowKind.CONTEXT, RowKind.SYSTEM)
TROUBLING = ("null", "content-replacement")
"""Types of lines that some releases can't handle."""
IN_FILE = attrgetter("index")
"""Order of rows in their part."""
NOT_FOUND = "No conversation found with this session id"


@dataclass(slots=True)
class Chain:
    """The continued branch, oldest row first, and why every other row of the main transcript is not on it."""

    rows: list[Row] = field(default_factory=list)
    drops: dict[str, Drop] = field(default_factory=dict)
    leaf: Row | None = None
    refused: str | None = None
    rehung: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Ref -> (ref of the parent that counts instead of the written one, bridge | preserved)."""


def light(row: Row) -> Light:
    """The row's light facts (every record row of this client has them)."""
    extra = row.extra
    assert isinstance(extra, Light)
    return extra


class Walker:
    """One resume's way from the main transcript's rows to the chain. `fates.explain` says then why each other row is not on it."""

    def __init__(self, session: Session, profile: Profile) -> None:
        self.session, self.profile = session, profile
        self.chain = Chain()
        self.order: list[Row] = []
        """Chain rows that the client reads, in file order, repeated ids included."""
        self.by_id: dict[str, Row] = {}
        """Id -> the row whose content counts (the last one of that id), in the order of the first ones."""
        self.steps: dict[str, str | None] = {}
        """Ids of rows that are stepped over in a chain -> their parent."""
        self.stepped: dict[str, Row] = {}
        self.relinked: dict[str, str] = {}
        """Row id -> parent, where a preserved segment changes it."""
        self.last_prompt: Row | None = None

    def run(self) -> Chain:
        """Read, choose, walk. `chain.refused` says why there is no chain."""
        self.read()
        if self.chain.refused is None:
            self.relink_preserved()
            leaf = self.choose_leaf()
            if leaf is None:
                self.chain.refused = self.chain.refused or NOT_FOUND
            else:
                self.chain.leaf = leaf
                walked = self.walk(leaf)
                if self.chain.refused is None:
                    self.chain.rows = self.recover(walked)
        return self.chain

    # reading

    def read(self) -> None:
        """Take the rows that the client can read; note what it skips and where it gives up."""
        stopped: Row | None = None
        for line in self.session.main():
            row = line.leading if line.leading is not None and self.profile.reads_leading_record else line
            if stopped is not None:
                self.drop(row, Stage.READ, Reason.READING_STOPPED, stopped)
                continue
            if row.type in TROUBLING:
                trouble = self.trouble(row)
                if trouble == "stop":
                    stopped = row
                elif trouble == "fatal":
                    self.chain.refused = f"Failed to resume session: row {row.ref} can't be read by this client"
                    return
            if row.id is not None and row.kind in CHAIN_KINDS:
                if not self.profile.needs_message and row.kind is RowKind.MESSAGE and light(row).message_missing:
                    self.drop(row, Stage.READ, Reason.MALFORMED)
                    continue
                self.order.append(row)
                self.by_id[row.id] = row
                if light(row).subtype == "compact_boundary":
                    self.last_prompt = None
            elif row.type == "last-prompt":
                self.last_prompt = row
            elif row.id is not None and (row.type == "progress" or self.profile.unknown_types_in_chain):
                self.steps[row.id] = row.parent
                self.stepped[row.id] = row

    def trouble(self, row: Row) -> str:
        """What this client does at a line of a TROUBLING type: skip | stop | fatal."""
        if row.type == "null":
            return self.profile.null_line
        if row.type == "content-replacement" and self.profile.bad_replacement != "skip":
            value = self.session.value(row)
            if not isinstance(value.get("replacements"), list | str):
                return self.profile.bad_replacement
        return "skip"

    def relink_preserved(self) -> None:
        """Put the rows that a compaction preserved between its summary and what follows."""
        for boundary in [row for row in self.order if light(row).subtype == "compact_boundary"]:
            metadata = self.session.value(boundary).get("compactMetadata")
            preserved = self.preserved(metadata) if isinstance(metadata, dict) else None
            if preserved is None:
                continue
            anchor, kept = preserved
            for row in self.by_id.values():
                if row.parent == anchor and row.id not in kept and row.id:
                    self.relinked[row.id] = kept[-1]
            for parent, child in zip([anchor, *kept], kept, strict=False):
                self.relinked[child] = parent
            self.prune(boundary, kept)

    def preserved(self, metadata: dict[str, Any]) -> tuple[str, list[str]] | None:
        """(anchor, ids of preserved rows in order), or None where a reference is broken."""
        listed, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
        if self.profile.preserved_list and isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
            anchor, kept = listed.get("anchorUuid"), listed["uuids"]
            whole = all(isinstance(one, str) and one in self.by_id for one in (anchor, *kept))
            return (str(anchor), kept) if kept and whole else None
        if not isinstance(segment, dict):
            return None
        head, tail, anchor = (segment.get(name) for name in ("headUuid", "tailUuid", "anchorUuid"))
        if not isinstance(anchor, str) or anchor not in self.by_id:
            return None
        way: list[str] = []
        at = tail
        while isinstance(at, str) and at in self.by_id and at not in way:
            way.append(at)
            if at == head:
                return anchor, way[::-1]
            at = self.parent_of(self.by_id[at])
        return None

    def prune(self, boundary: Row, kept: list[str]) -> None:
        """Forget what lies before a boundary and was not preserved; later rows that hang from it hang from the last preserved row."""
        gone = {row.id for row in self.by_id.values() if row.index < boundary.index and row.id not in kept}
        for name, row in list(self.by_id.items()):
            if name in gone:
                del self.by_id[name]
            elif row.parent in gone and row.id and row.id not in kept:
                self.relinked[row.id] = kept[-1]

    def parent_of(self, row: Row) -> str | None:
        """The id of the parent that counts: relinked, and past rows that are stepped over."""
        parent = self.relinked.get(row.id or "", row.parent)
        if parent is None or parent in self.by_id:
            return parent
        seen: set[str] = set()
        while parent is not None and parent not in self.by_id and parent in self.steps and parent not in seen:
            seen.add(parent)
            parent = self.steps[parent]
        return parent

    def has_children(self, row: Row) -> bool:
        """Whether any row, those that are stepped over included, names this one as its parent."""
        named = any(other.parent == row.id for other in self.by_id.values())
        return named or row.id in self.steps.values() or row.id in self.relinked.values()

    # the leaf

    def choose_leaf(self) -> Row | None:
        """The row that the resume continues from; None: no conversation."""
        if self.profile.leaf == "last-prompt":
            return self.leaf_by_last_prompt()
        if self.profile.cycle == "hang" and self.has_cycle():
            self.chain.refused = "the client never answers: the parents of its rows form a circle"
            return None
        newest, best = None, None
        parents = {self.parent_of(row) for row in self.by_id.values()} if self.profile.leaf == "latest-tip" else set()
        for row in self.by_id.values():
            at = moment(row.at)
            if at is not None and not row.sidechain and row.id not in parents and (best is None or at > best):
                newest, best = row, at
        return newest

    def has_cycle(self) -> bool:
        """Whether following parents from any row comes back to it."""
        settled: set[str] = set()
        for row in self.by_id.values():
            way: dict[str, None] = {}
            at = row.id
            while at is not None and at in self.by_id and at not in settled:
                if at in way:
                    return True
                way[at] = None
                at = self.parent_of(self.by_id[at])
            settled.update(way)
        return False

    def leaf_by_last_prompt(self) -> Row | None:
        last = next((row for row in reversed(self.order) if not row.sidechain and light(row).subtype != "compact_boundary"), None)
        named = self.by_id.get(light(self.last_prompt).leaf or "") if self.last_prompt else None
        if named is None or self.last_prompt is None:
            leaf = self.tip_of(last) if last is not None and self.profile.leaf_follows_children else last
        else:
            leaf = last
            follows = any(row.index > self.last_prompt.index for row in self.order)
            if light(self.last_prompt).explicit and (not follows or (last is not None and last.id == named.id)):
                leaf = named
            elif last is None or not any(row is named for row in self.recover(self.walk(last, look=True))):
                leaf = named
            if leaf is named and named.sidechain:
                return None
        if leaf is not None and self.profile.leaf_needs_timestamp and moment(leaf.at) is None:
            return None
        return leaf

    def tip_of(self, row: Row) -> Row:
        """The newest tip among the row's descendants (the physically last one on a tie), or the row itself."""
        if not self.has_children(row):
            return row
        children: dict[str, list[Row]] = defaultdict(list)
        for child in self.by_id.values():
            parent = self.parent_of(child)
            if parent is not None and not child.sidechain and light(child).subtype != "compact_boundary":
                children[parent].append(child)
        tips: list[Row] = []
        seen: set[str] = set()
        waiting = [row]
        while waiting:
            at = waiting.pop()
            if at.id in seen:
                continue
            seen.add(at.id or "")
            below = children.get(at.id or "", [])
            waiting += below
            if not below:
                tips.append(at)
        return max(tips, key=lambda tip: (moment(tip.at) or 0.0, tip.index), default=row)

    # the walk

    def walk(self, leaf: Row, look: bool = False) -> list[Row]:
        """Rows from the leaf to the root, leaf first. `look`: only along the parents that are written, without bridges."""
        rows: list[Row] = []
        seen: set[str] = set()
        current: Row | None = leaf
        while current is not None:
            assert current.id is not None
            seen.add(current.id)
            rows.append(current)
            parent = self.parent_of(current)
            if parent is None or light(current).subtype == "compact_boundary":
                break
            following = self.by_id.get(parent)
            circle = following is not None and following.id in seen
            if following is None or circle:
                if look or (circle and self.profile.cycle == "cut"):
                    break
                following = self.bridge(current, seen, moment(current.at) if circle else self.step_moment(current) or moment(current.at))
                if following is not None:
                    self.chain.rehung[current.ref] = (following.ref, "bridge")
            elif not look and current.id in self.relinked:
                self.chain.rehung[current.ref] = (following.ref, "preserved")
            current = following
        return rows

    def bridge(self, row: Row, seen: set[str], at: float | None) -> Row | None:
        """The newest row that is not newer than this one and at most `bridge_seconds` older; the first in the file on a tie."""
        if self.profile.bridge_seconds is None or at is None:
            return None
        for place in range(bisect_right(self.by_time, at, key=itemgetter(0)) - 1, -1, -1):
            when, _, candidate = self.by_time[place]
            if at - when > self.profile.bridge_seconds:
                return None
            if candidate.id not in seen and (when < at or candidate.index < row.index):
                return candidate
        return None

    @cached_property
    def by_time(self) -> list[tuple[float, int, Row]]:
        """(moment, negative place, row) of the conversation's own rows that have a time, in that order: asked for once reading has ended."""
        timed = ((moment(row.at), -place, row) for place, row in enumerate(self.by_id.values()) if not row.sidechain)
        return sorted(((when, place, row) for when, place, row in timed if when is not None), key=itemgetter(0, 1))

    def step_moment(self, row: Row) -> float | None:
        """The moment of the last row that is stepped over above this one, if any is: the gap is above that row."""
        parent, last = self.relinked.get(row.id or "", row.parent), None
        seen: set[str] = set()
        while parent is not None and parent not in self.by_id and parent in self.steps and parent not in seen:
            seen.add(parent)
            last, parent = parent, self.steps[parent]
        return moment(self.stepped[last].at) if last is not None else None

    def recover(self, walked: list[Row]) -> list[Row]:
        """The chain in reading order, with the rows of its messages that hang beside it (parallel calls and their results)."""
        chain = walked[::-1]
        on_chain = {row.id for row in chain}
        messages = self.pieces({light(row).message_id for row in chain if row.type == "assistant"} - {None, ""})
        pieces = [row for rows in messages.values() for row in rows]
        asked = {block.id for row in pieces for block in row.blocks if block.kind is BlockKind.CALL}
        under, answers = self.results({row.id for row in pieces}, asked)
        after: dict[str, list[Row]] = defaultdict(list)
        number = {row.id: place for place, row in enumerate(chain)}
        ends = {light(row).message_id: row for row in chain if row.type == "assistant"}
        done: set[str | None] = set()
        for row in chain:
            message = light(row).message_id
            if row.type != "assistant" or message is None or message in done:
                continue
            done.add(message)
            group = {one.id: one for one in messages[message]}
            members = [chain[place] for place in sorted(number[id] for id in group if id in on_chain)]
            by_place = sorted(members, key=IN_FILE)
            for one in sorted((one for one in group.values() if one.id not in on_chain), key=_written):
                before = bisect_left(by_place, one.index, key=IN_FILE)
                beside = (by_place[before - 1] if before else row) if self.profile.recovers_in_order else members[-1]
                after[beside.ref].append(one)
            late = [one for member in group.values() for one in under[member.id or ""] if one.id not in on_chain]
            if not self.profile.recovers_by_call:
                after[ends[message].ref].extend(sorted(late, key=_written))
                continue
            calls = [block.id for member in group.values() for block in member.blocks if block.kind is BlockKind.CALL and block.id]
            given = [one for call in calls for one in answers[call] if one.id in on_chain]
            answered = {block.id for one in (*late, *given) for block in one.blocks}
            late += [answers[call][0] for call in calls if call not in answered and answers[call]]
            given.sort(key=IN_FILE)
            for one in sorted({one.ref: one for one in late}.values(), key=IN_FILE):
                before = bisect_left(given, one.index, key=IN_FILE)
                after[(given[before - 1] if before else ends[message]).ref].append(one)
        out: list[Row] = []

        def place(row: Row) -> None:
            out.append(row)
            for one in after.pop(row.ref, ()):
                place(one)

        for row in chain:
            place(row)
        return out

    def pieces(self, wanted: set[str | None]) -> dict[str, list[Row]]:
        """The rows of some messages, by message id."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.by_id.values():
            if row.type == "assistant" and row.extra.message_id in wanted:
                found[row.extra.message_id].append(row)
        return found

    def results(self, pieces: set[str | None], calls: set[str | None]) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
        """Rows with results: by the id of the piece that they hang from, and by the id of the call that they answer."""
        under: dict[str, list[Row]] = defaultdict(list)
        answers: dict[str, list[Row]] = defaultdict(list)
        result = BlockKind.RESULT
        for row in self.by_id.values():
            if row.type != "user":
                continue
            given = False
            for block in row.blocks:
                if block.kind is result:
                    given = True
                    if block.id and block.id in calls and not row.sidechain:
                        answers[block.id].append(row)
            if given and (parent := self.parent_of(row) or "") in pieces:
                under[parent].append(row)
        return under, answers

    # the rest

    def drop(self, row: Row, stage: Stage, reason: Reason, because: Row | None = None) -> None:
        self.chain.drops[row.ref] = Drop(row.ref, stage, reason, because.ref if because else None)


def _written(row: Row) -> str:
    return row.at or ""
