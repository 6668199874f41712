"""Plan and apply a repair: findings -> ordered steps that a person reviews -> a new Source whose bytes differ by splices only.

A plan works in rounds. Each round mends the earliest kind of fault that is left (bytes, then the chain, then calls and messages), and the
result is read again before the next: a line that was split may hold the very result that seemed to be missing. The plan is pure: the same
revision, resolutions, choices, seed and time give the same plan, so a review page only has to keep its digest.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from . import index, reading, resolving, rulebook
from . import inspection as inspecting
from .edits import Edit, InsertRow, Step
from .errors import ApplyError, PlanError
from .findings import Finding, above_info
from .inspection import Inspection
from .request import DIALECTS
from .session import BlockKind
from .source import Source
from .splice import splice
from .steps import LEAVE_OUT, Context, Resolution

ROUNDS = 40
"""More rounds than this mean that two fixes undo each other."""
DECIDES_BRANCH = frozenset(("several-leaves", "stale-last-prompt", "resume-refused"))
"""Findings whose steps change on purpose where the client goes on."""
KEEP = "keep-branch"
"""Id of the step that keeps the client on the branch that it would have gone on at."""
REPEATS = 3
"""A step that was taken so often without clearing its finding is not taken again; the finding then remains."""


@dataclass(frozen=True, slots=True)
class Round:
    """Steps that are applied together; their edits name rows as they stand before this round."""

    steps: tuple[Step, ...]
    origins: dict[str, str] = field(default_factory=dict)
    """Ref before this round -> ref in the repaired revision (or `+n` of a row that the plan added), where they differ."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the last check of the plan saw."""

    inspection: Inspection
    findings: list[Finding]
    lineage: dict[str, str]
    """Ref in the new revision -> ref in the old one; rows that the plan added are missing."""
    changed_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Ordered steps from one revision to the next. `refused` set: there is nothing to resume and nothing is to be written."""

    client: str
    base: str
    """`source_digest` of the source it was made for."""
    result: str
    """`source_digest` of the source that it makes."""
    seed: str
    at: str
    rounds: tuple[Round, ...]
    decisions: Round
    """Steps that change nothing as long as nobody chooses otherwise; their rows are those of the new revision."""
    refused: str | None
    outcome: Outcome = field(repr=False, compare=False)

    def steps(self) -> list[Step]:
        """All steps in order; rows named as in the revision that is repaired."""
        return [_named(step, round_.origins) for round_ in (*self.rounds, self.decisions) for step in round_.steps]

    def digest(self) -> str:
        """Hex SHA-256 over everything that the plan would do and what it was made from."""
        value = {
            "base": self.base, "result": self.result, "seed": self.seed, "at": self.at, "refused": self.refused,
            "steps": [[asdict(step) for step in round_.steps] for round_ in (*self.rounds, self.decisions)],
        }  # fmt: skip
        text = json.dumps(value, sort_keys=True, default=lambda data: hashlib.sha256(data).hexdigest())
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def operations_open(self) -> list[str]:
        """Keys of the operations of the new revision of which nobody knows whether they happened."""
        return self.outcome.inspection.operations_open()

    def remains(self) -> list[Finding]:
        """Findings of the new revision above info."""
        return above_info(self.outcome.findings)


def source_digest(source: Source) -> str:
    """Hex SHA-256 over the names and hashes of all parts."""
    lines = "".join(f"{part.sha256()} {part.name}\n" for part in source.parts)
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def plan(
    inspection: Inspection,
    findings: list[Finding],
    *,
    seed: str,
    at: str,
    resolutions: Mapping[str, Resolution] | None = None,
    choices: Mapping[str, str] | None = None,
) -> Plan:
    """Plan the repair of an inspected session. `at` is an ISO 8601 time with `Z`; `seed` any text.

    A choice for a step that another choice has made needless is passed over. Raises PlanError for a resolution of an unknown call, a choice
    for a step that the plan can't have, and for a plan that would lose a call without saying so.
    """
    given = dict(choices or {})

    def made_with(chosen: dict[str, str]) -> Plan:
        return _plan(inspection, findings, seed, at, dict(resolutions or {}), chosen)

    made = made_with(given)
    steps = {step.id for step in made.steps()}
    for missing in given.keys() - steps:
        fewer: list[dict[str, str]] = [{}] + [{id: choice for id, choice in given.items() if id != other} for other in given if other != missing]
        if len(given) > 1 and any(missing in {step.id for step in made_with(chosen).steps()} for chosen in fewer):
            del given[missing]
    _check_choices(made, given)
    _nothing_lost(inspection, made)
    return made


def _plan(inspection: Inspection, findings: list[Finding], seed: str, at: str, resolutions: dict[str, Resolution], choices: dict[str, str]) -> Plan:
    writer = getattr(reading.CLIENTS[inspection.session.client], "write", None)
    first, found = inspection, findings
    resolving.check(inspection, resolutions)
    rounds: list[Round] = []
    origins: dict[str, str] = {}
    taken = {row.id for row in first.session.rows if row.id}
    began = first.row(first.state.branch[0]).id if first.state.branch else None
    added = changed = 0
    times: Counter[str] = Counter()
    last = current = first
    context: Context | None = None
    steps: list[Step] = []
    lineage = {row.ref: row.ref for row in first.session.rows}
    while writer is not None and current.session.can_be_edited():
        context = Context(current, writer, seed, at, resolutions, choices, origins, added, taken, began)
        steps = _branch_kept(last, context, steps) or _round(context, found, times) or _left_out(first, context)
        if not steps:
            break
        if len(rounds) == ROUNDS:
            raise PlanError("the repair does not come to an end", hint="Two rules undo each other: report this session as a fault of the inspector")
        rounds.append(Round(tuple(steps), origins))
        spliced = splice(current.session, _edits(steps))
        added, changed = context.added, changed + spliced.changed_bytes
        lineage = {new: lineage[old] for new, old in spliced.lineage.items() if old in lineage}
        before = origins
        origins = {new: before.get(old, old) for new, old in spliced.lineage.items()} | spliced.added
        origins = {new: old for new, old in origins.items() if new != old}
        last = current
        current = inspecting.inspect(spliced.source, first.resume_as, first.session.client, first.policy, first.kept)
        found = rulebook.diagnose(current)
    return Plan(
        client=first.session.client,
        base=source_digest(first.session.source),
        result=source_digest(current.session.source),
        seed=seed,
        at=at,
        rounds=tuple(rounds),
        decisions=Round(tuple(_decisions(context, found)) if context else (), origins),
        refused=current.state.refused,
        outcome=Outcome(current, found, lineage, changed),
    )


def apply(source: Source, plan: Plan) -> Source:
    """The source that the plan makes. Raises ApplyError where the bytes are not those that the plan was made for."""
    if source_digest(source) != plan.base:
        raise ApplyError("the session has changed since the plan was made", hint="Make the plan again")
    for round_ in plan.rounds:
        source = splice(reading.read(source, plan.client), _edits(round_.steps)).source
    if source_digest(source) != plan.result:
        raise ApplyError("applying the plan did not give the bytes that were reviewed", hint="Report this as a fault of the inspector")
    return source


def _edits(steps: tuple[Step, ...] | list[Step]) -> list[Edit]:
    return [edit for step in steps for edit in step.edits]


def _branch_kept(last: Inspection, context: Context, steps: list[Step]) -> list[Step]:
    """Where the steps of the last round made the client go on at another branch without anybody's wish, a bookmark for the old one."""
    if not hasattr(context.write, "last_prompt_row") or last.state.refused is not None or not last.state.leaf:
        return []
    if any(step.finding in DECIDES_BRANCH or step.id == KEEP for step in steps):
        return []
    known = context.looked.by_id
    line = index.of(last).ancestors(last.row(last.state.leaf))
    leaf = next((row for row in line if (0, row.id or "") in known), None)
    if leaf is None or leaf.id is None or any(row.id == leaf.id for row in context.looked.branch):
        return []
    end = list(context.session.main())[-1]
    edit = context.insert(end, context.write.last_prompt_row(context.session, leaf.id, context.mark(KEEP)))
    why = "A bookmark for the client: the repair does not change which branch goes on."
    return [Step(id=KEEP, finding=steps[0].finding, rows=(known[0, leaf.id][-1].ref,), edits=(edit,), why=why)]


def _left_out(first: Inspection, context: Context) -> list[Step]:
    """Notes about uncertain operations whose call the plan has taken out of the file: what may have happened is not forgotten with it."""
    now = context.inspection
    calls = {block.id for row in now.session.rows for block in row.blocks if block.kind is BlockKind.CALL}
    gone = [each for each in first.operations if each.state == "uncertain" and each.call is not None and each.call_id not in calls]
    known = {operation.key for operation in now.operations} if gone else set()
    return [resolving.note(context, operation) for operation in gone if operation.key not in known]


def _round(context: Context, findings: list[Finding], times: Counter[str]) -> list[Step]:
    """Steps of the earliest phase that has any, as far as they do not touch the same rows."""
    steps = resolving.steps(context)
    if steps:
        return steps
    for phase in rulebook.PHASES:
        chosen: list[Step] = []
        changed: set[str] = set()
        anchors: set[str] = set()
        for finding in findings:
            rule = phase.get(finding.code)
            fix = getattr(rule, "fix", None)
            if fix is None or not _mends(context, finding) or any(ref.startswith("+") for ref in finding.rows):
                continue
            before = context.added
            step: Step | None = fix(context.inspection, finding, context)
            if step is None or not step.edits:
                continue
            if times[step.id] >= REPEATS:
                context.added = before
                continue
            new_changed = {edit.row for edit in step.edits if not isinstance(edit, InsertRow)}
            new_anchors = {edit.row for edit in step.edits if isinstance(edit, InsertRow) and edit.row}
            if new_changed & (changed | anchors) or new_anchors & changed:
                context.added = before
                continue
            changed |= {row for row in new_changed if row}
            anchors |= new_anchors
            times[step.id] += 1
            chosen.append(step)
        if chosen:
            return _numbered(chosen)
    return []


def _mends(context: Context, finding: Finding) -> bool:
    return rulebook.mends(context.session.client, finding.code)


def _decisions(context: Context, findings: list[Finding]) -> list[Step]:
    """Steps that offer a choice and change nothing by default."""
    context.done.clear()
    steps = []
    for phase in rulebook.PHASES:
        for finding in findings:
            fix = getattr(phase.get(finding.code), "fix", None)
            in_file = not any(ref.startswith("+") for ref in finding.rows)
            step: Step | None = fix(context.inspection, finding, context) if fix and in_file and _mends(context, finding) else None
            if step is not None and step.choices and not step.edits:
                steps.append(step)
    return _numbered(steps)


def _numbered(steps: list[Step]) -> list[Step]:
    """Steps of one round with the same id (rows that one damaged line was split into) get `-2`, `-3`, …"""
    seen: Counter[str] = Counter()
    out = []
    for step in steps:
        seen[step.id] += 1
        out.append(step if seen[step.id] == 1 else replace(step, id=f"{step.id}-{seen[step.id]}"))
    return out


def _named(step: Step, origins: dict[str, str]) -> Step:
    """The step with its rows named as in the revision that is repaired."""

    def named(ref: str) -> str:
        return origins.get(ref, ref)

    edits = tuple(edit if edit.row is None else replace(edit, row=named(edit.row)) for edit in step.edits)
    return replace(step, rows=tuple(map(named, step.rows)), edits=edits)


def _check_choices(plan: Plan, choices: dict[str, str]) -> None:
    steps = {step.id: step for step in plan.steps()}
    for id, choice in choices.items():
        step = steps.get(id)
        if step is None:
            raise PlanError(f"the plan has no step {id!r}", hint=f"Its steps: {', '.join(steps) or 'none'}")
        if choice not in step.choices:
            raise PlanError(f"step {id!r} can't be {choice!r}", hint=f"Choices: {', '.join(step.choices) or 'none'}")


def _nothing_lost(before: Inspection, plan: Plan) -> None:
    """Every call that would have been sent is still sent, unless a step that leaves it out names it."""
    after = plan.outcome.inspection
    if before.request is None or after.request is None:
        return
    declared = json.dumps([step.details for step in plan.steps() if step.chosen == LEAVE_OUT or step.chosen != next(iter(step.choices), None)])
    dialect = DIALECTS[before.state.dialect]
    lost = sorted(call for call in dialect.sent_calls(before.state) - dialect.sent_calls(after.state) if call not in declared)
    if lost:
        raise PlanError(f"the repair would lose the call {lost[0]} without saying so", hint="Report this as a fault of the inspector")


def report(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values: the part of the answer of `repair` that does not depend on files."""
    return {
        "steps": [
            {
                "id": step.id, "finding": step.finding, "rows": list(step.rows), "why": step.why, "details": step.details,
                "choices": list(step.choices), "chosen": step.chosen, "waits_for": step.waits_for,
                "edits": [{"kind": edit.kind, "row": edit.ref if isinstance(edit, InsertRow) else edit.row} for edit in step.edits],
            }
            for step in plan.steps()
        ],
        "remains": [asdict(finding) for finding in plan.remains()],
        "operations_open": plan.operations_open(),
        "changed_bytes": plan.outcome.changed_bytes,
        "lineage": plan.outcome.lineage,
        "plan_sha256": plan.digest(),
        "refused": plan.refused,
    }  # fmt: skip
