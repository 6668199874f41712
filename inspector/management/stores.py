"""Stores as commands name them: a SQLite file, or the name of a connection that the settings hold."""

from __future__ import annotations

import hashlib
from contextlib import closing
from pathlib import Path

from django.conf import settings

from inspector.capture import langgraph_export, openai_export, store
from inspector.capture.limits import Limits
from inspector.capture.tables import Store
from inspector.core.errors import ReadError
from inspector.core.source import Source


def session(path: str, thread: str | None) -> Source | None:
    """One thread of the store at a path; None where no store is there. Raises ReadError for a store with several unless one is named."""
    store = opened(path)
    if store is None:
        return None
    with closing(store):
        if thread is None:
            found = store.threads(limit=2)
            if len(found) != 1:
                raise ReadError(f"{path} holds {'several threads' if found else 'no thread'}", hint="Name one by --thread; inspect lists them")
            thread = found[0].id
        return store.source(thread)


def written(source: Source, out: Path) -> str:
    """Write a thread as what its framework loads: SQL for PostgreSQL, else a SQLite file. Returns the new file's SHA-256.

    Raises OSError, ReadError.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    if source.hints.get("store", "").startswith("openai-agents"):
        openai_export.write_sqlite(source, out)
    elif langgraph_export.is_postgres(source):
        with out.open("x", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(langgraph_export.sql(source))
    else:
        langgraph_export.write_sqlite(source, out)
    return hashlib.sha256(out.read_bytes()).hexdigest()


def opened(path: str) -> Store | None:
    """The store at a path or of a configured name; None where no store is there. Raises ReadError, LimitError."""
    key, limits = settings.STORE_KEY or None, Limits(**settings.LIMITS)
    if path in settings.STORES and not Path(path).exists():
        return store.connected(path, settings.STORES[path], key, limits)
    return store.open_store(Path(path), key, limits)
