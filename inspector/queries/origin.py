"""How the place that a session came from looks now: whether its client is at work, and whether it has written since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from inspector.capture import folder
from inspector.core.errors import CoreError
from inspector.models import Operation, Revision, Session


@dataclass(frozen=True, slots=True)
class Look:
    """`seen`: there is a place to look at. `live`: why a client may be at work; blank if none is. `changed`: what is different; blank if nothing."""

    seen: bool
    live: str = ""
    changed: str = ""


def place_digest(place: Path) -> str:
    """What tells a place from others when it is imported again: SHA-256 of the path, as hex."""
    return hashlib.sha256(str(place).encode("utf-8", "surrogateescape")).hexdigest()


def look(session: Session) -> Look:
    """Look at the place of a session, or of the session that started it. Nothing there is changed. An upload has no place to look at."""
    session = session.parent if session.relation == Session.Relation.SUB_AGENT and session.parent else session
    if not session.place:
        return Look(False, session.live)
    path = Path(session.place)
    if not path.is_file():
        return Look(True, changed="its file is no longer there")
    newest = session.revisions.filter(kind=Revision.Kind.IMPORTED).order_by("-number").first()
    kept = dict(newest.parts.values_list("name", "artifact_id")) if newest else {}
    try:
        source = folder.source_of(path)
        now = {part.name: part.sha256() for part in source.parts if part.name.endswith(".jsonl")}
    except (OSError, CoreError):
        return Look(True, session.live, "its file can't be read as it was")
    wrong = [name for name in kept if name.endswith(".jsonl") and now.get(name) != kept[name]] + [name for name in now if name not in kept]
    return Look(True, source.hints.get("live") or "", f"{wrong[0]} is not as it was imported" if wrong else "")


def live(operation: Operation) -> str:
    """Why the client of an operation's session may still be at work; blank where nothing says so."""
    session = operation.run.session
    return look(session).live if session else ""
