"""What a session's bytes mean: inspected, diagnosed, judged; from a Source, or from a stored revision with any options."""

from __future__ import annotations

import gc
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from inspector.core import inspection, reading, report, rulebook
from inspector.core.canonical import digest
from inspector.core.errors import CoreError
from inspector.core.findings import Finding
from inspector.core.inspection import Inspection
from inspector.core.kept import Kept
from inspector.core.policy import Policy
from inspector.core.source import Source
from inspector.core.state import ResumeAs, RuntimeState
from inspector.core.verdicts import Drop, Reason, Stage
from inspector.models import Revision

from . import ledger
from .artifacts import source_of

log = logging.getLogger(__name__)
LARGE = 8 << 20
HELD_BYTES = 256 << 20
"""Bytes of the sources whose derivations are held for the next request."""


@dataclass(slots=True)
class Derivation:
    """One session in its four forms with what was found. With `failed` set, only the rows are known."""

    inspection: Inspection
    findings: list[Finding]
    verdict: str
    """Verdict of the bytes alone: whether the source was live is said by its hints."""
    summary: str
    failed: str = ""


def derive(
    *, source: Source, resume_as: ResumeAs = ResumeAs(), client: str | None = None, policy: Policy | None = None, kept: tuple[Kept, ...] = ()
) -> Derivation:
    """Inspect, diagnose, judge. Never refuses bytes: where the derivation itself fails, the rows are kept and `failed` says why.

    `policy` is that in force where none is given; `kept` is what the ledger says of the session. Raises ReadError for an unknown client or a source
    that changes while it is read.
    """
    policy = policy or ledger.policy()
    try:
        with collection_paused(source):
            looked = inspection.inspect(source, resume_as, client, policy, kept)
            findings = rulebook.diagnose(looked)
    except CoreError:
        raise
    except Exception as error:  # a bug of ours must not keep a damaged session out: its rows are shown, and the page says so
        log.exception("the derivation failed")
        return _rows_only(source, client, f"We could not derive what a resume does ({type(error).__name__}). The rows are complete.")
    bare = replace(source, hints={name: hint for name, hint in source.hints.items() if name != "live"})
    said = report.answer(source.name, replace(looked, session=replace(looked.session, source=bare)), findings, "findings")
    return Derivation(looked, findings, said["verdict"], said["summary"])


@contextmanager
def collection_paused(source: Source) -> Iterator[None]:
    """No garbage collection while a large source becomes very many small values: a fifth of the time of 100 MB, measured."""
    pause = gc.isenabled() and sum(len(part.data) for part in source.parts) > LARGE
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            # All of them go to the oldest generation unlooked at: enabling alone would make the next small allocation visit every one.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def _rows_only(source: Source, client: str | None, why: str) -> Derivation:
    try:
        session = reading.read(source, client)
    except Exception:
        session = reading.read(source, "raw")
    drops = [Drop(row.ref, Stage.READ, Reason.REFUSED) for row in session.rows]
    state = RuntimeState(client=session.client, version="none", model=None, dialect="anthropic-messages", drops=drops, refused=why)
    return Derivation(Inspection(session, ResumeAs(), state, None, [], None, shown=[]), [], "", why, failed=why)


Key = tuple[str, str, tuple[tuple[str, str], ...], ResumeAs, int, str]


class _Held:
    """Derivations by bytes and options, least recently used first; bounded by the bytes of their sources."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, tuple[int, Derivation]] = OrderedDict()

    def get(self, key: Key) -> Derivation | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][1]

    def put(self, key: Key, size: int, value: Derivation) -> None:
        with self._lock:
            self._kept[key] = (size, value)
            while len(self._kept) > 1 and sum(size for size, _ in self._kept.values()) > HELD_BYTES:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


_held = _Held()


def inspection_of(*, revision: Revision, resume_as: ResumeAs = ResumeAs()) -> Derivation:
    """The derivation of a stored revision, with any resume options. Held for the next request. Raises ReadError, OSError."""
    policy, kept = ledger.policy(), ledger.kept_of(revision.session)
    said = digest([[each.key, each.state, each.says] for each in kept])
    key = (revision.digest, revision.session.client, tuple(sorted(revision.hints.items())), resume_as, policy.version, said)
    found = _held.get(key)
    if found is None:
        source = source_of(revision)
        found = derive(source=source, resume_as=resume_as, client=revision.session.client, policy=policy, kept=kept)
        _held.put(key, sum(len(part.data) for part in source.parts), found)
    return found


def forget() -> None:
    """Drop all held derivations: after bytes were erased."""
    _held.clear()
