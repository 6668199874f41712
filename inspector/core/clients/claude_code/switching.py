"""How a resume is done changes what comes back: the order of an interactive switch, what a file path leaves out, what `--continue` picks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...session import RowKind, Session, moment
from ...state import Fact, Restored
from .facts_files import registry_entries
from .gathered import Gathered, fact
from .restores import Restores

SWITCH_ONLY = Restored(switch=True)
ORDER: tuple[tuple[str, str | None], ...] = (
    ("read the target and clean its conversation", "reachable-rows"),
    ("run SessionEnd hooks of the session that is left", None),
    ("run SessionStart hooks of the target with source `resume`", "hooks"),
    ("restore file history", "file-history"),
    ("restore attribution", "attribution"),
    ("restore the agent", "agent"),
    ("rebuild the read-file state", "read-file-state"),
    ("restore metadata: title, tag, mode", "title"),
    ("go into the worktree", "worktree"),
    ("restore remote tasks", None),
    ("restore content replacements", "content-replacements"),
    ("replace the visible messages", "reachable-rows"),
)
"""Steps of an interactive switch in order, each with the fact that says what it works on."""


def switch_facts(held: Gathered, facts: list[Fact]) -> Fact:
    """The ordered list of what an interactive `/resume` does, and for each step what is recorded of it."""
    by_name = {item.name: item for item in facts}
    steps = []
    for number, (does, name) in enumerate(ORDER, 1):
        known = by_name.get(name) if name else None
        recorded = known is not None and known.known
        says = known.note if known is not None else "Not recorded in this transcript."
        steps.append({"step": number, "does": does, "fact": name, "recorded": recorded, "says": says})
    rows = tuple(dict.fromkeys(ref for name in ("worktree", "agent", "title") if name in by_name for ref in by_name[name].rows))
    return fact("switch-order", steps, rows, SWITCH_ONLY, "The hooks of the session that is left run before anything of the target is restored.")


def path_facts(facts: list[Fact], restores: Restores) -> list[Fact]:
    """Which facts differ when the transcript is named by its path instead of its session id."""
    differ = [item.name for item in facts if item.restored.normal != item.restored.path]
    note = "Not restored when the transcript is named by its path, by the analysis of an older release."
    if restores.by_path:
        note += " Title, tag, agent, mode, cost, worktree and replacements were seen to come back in this one."
    return [fact("path-differences", differ, (), Restored(path=True), note)]


@dataclass(frozen=True, slots=True)
class ContinueChoice:
    """What `--continue` would take in one project folder."""

    project: str
    picked: str | None
    """Session id, or None where no session can be continued: a new one would start."""
    skipped: tuple[tuple[str, str], ...]
    """(session id, why) of newer sessions that are passed over."""


def listed(session: Session) -> str | None:
    """Why the client's own picker would not show this session, or None where it would."""
    spoken = [row for row in session.rows if row.part == 0 and row.kind is RowKind.MESSAGE]
    if not spoken:
        return "it holds no message"
    if all(row.sidechain for row in spoken):
        return "it holds only side conversations"
    return None


def continue_choice(sessions: Iterable[Session]) -> list[ContinueChoice]:
    """For each project the session that `--continue` would pick: the one with the newest row that can be resumed.

    The project is the hint `slug` of the source. A live session (hint `live`) is skipped where the process registry beside it says that
    its client is not interactive; entries of print sessions were seen to say `interactive`.
    """
    projects: dict[str, list[Session]] = {}
    for session in sessions:
        projects.setdefault(session.source.hints.get("slug", ""), []).append(session)
    return [_choice(project, projects[project]) for project in sorted(projects)]


def _choice(project: str, sessions: list[Session]) -> ContinueChoice:
    skipped: list[tuple[str, str]] = []
    for session in sorted(sessions, key=_newest, reverse=True):
        name, why = session.id or session.source.name, listed(session)
        kinds = [str(entry["kind"]) for entry in registry_entries(session)] if session.source.hints.get("live") else []
        if why is None and kinds and "interactive" not in kinds:
            why = f"a client of kind {kinds[0]} is running it"
        if why is None:
            return ContinueChoice(project, name, tuple(skipped))
        skipped.append((name, why))
    return ContinueChoice(project, None, tuple(skipped))


def _newest(session: Session) -> float:
    return max((at for row in session.rows if row.part == 0 and (at := moment(row.at)) is not None), default=0.0)
