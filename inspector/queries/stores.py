"""Configured stores: their names, and one of them open for a moment. Addresses stay in the settings: nothing here says or logs one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.conf import settings

from inspector.capture import store
from inspector.capture.limits import Limits
from inspector.capture.postgres_store import PostgresDatabase
from inspector.capture.tables import Store
from inspector.core.errors import ReadError
from inspector.models import Revision, RevisionPart, Session

from .origin import place_digest

KEPT = 4
"""Open connections to one server that wait for the next page: making one takes longer than listing a hundred threads."""
_lock = threading.Lock()
_idle: dict[tuple[str, str], list[PostgresDatabase]] = {}


def names() -> list[str]:
    """Names of the configured stores, in order."""
    return sorted(settings.STORES)


def place_of(name: str) -> str:
    """What tells the store of this name from others when its threads are imported again."""
    return f"store:{name}"


@contextmanager
def opened(name: str) -> Iterator[Store]:
    """The configured store of this name, as it is now. Raises ReadError, LimitError."""
    address = settings.STORES.get(name)
    if address is None:
        raise ReadError(f"no store is called {name!r}", hint="See INSPECTOR_STORES")
    key, limits = settings.STORE_KEY or None, Limits(**settings.LIMITS)
    database = (_taken(name, address) or PostgresDatabase(name, address)) if store.is_postgres(address) else None
    found = store.opened(database, key, limits) if database else store.open_store(Path(address), key, limits)
    if found is None:
        raise ReadError(f"{name}: no tables of a framework that is known", hint="Look at INSPECTOR_STORES")
    good = False
    try:
        yield found
        good = True
    finally:
        if not (good and database and _kept(name, address, database)):
            found.close()


def _taken(name: str, address: str) -> PostgresDatabase | None:
    """One that waits; those whose server has gone meanwhile are closed."""
    while True:
        with _lock:
            waiting = _idle.get((name, address))
            found = waiting.pop() if waiting else None
        if found is None or found.rest():
            return found
        found.close()


def _kept(name: str, address: str, database: PostgresDatabase) -> bool:
    """Let it wait for the next page, unless enough do."""
    good = database.rest()
    with _lock:
        waiting = _idle.setdefault((name, address), [])
        if good and len(waiting) < KEPT:
            waiting.append(database)
            return True
    return False


def brought(name: str, threads: Iterable[str]) -> dict[str, tuple[Session, int]]:
    """Thread id -> its session here and the rows of its main part, for those that were imported from this store."""
    by_origin = {place_digest(Path(f"{place_of(name)}/{quote(thread, safe='')}")): thread for thread in threads}
    found = Session.objects.filter(origin__in=by_origin)
    newest = {}
    imported = RevisionPart.objects.filter(revision__session__in=found, revision__kind=Revision.Kind.IMPORTED, number=0)
    for part in imported.select_related("revision").order_by("revision__number"):
        newest[part.revision.session_id] = part.rows
    return {by_origin[session.origin]: (session, newest.get(session.pk, 0)) for session in found}
