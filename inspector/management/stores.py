"""Stores as commands name them: a SQLite file, or the name of a connection that the settings hold."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from inspector.capture import store
from inspector.capture.limits import Limits
from inspector.capture.tables import Store


def opened(path: str) -> Store | None:
    """The store at a path or of a configured name; None where no store is there. Raises ReadError, LimitError."""
    key, limits = settings.STORE_KEY or None, Limits(**settings.LIMITS)
    if path in settings.STORES and not Path(path).exists():
        return store.connected(path, settings.STORES[path], key, limits)
    return store.open_store(Path(path), key, limits)
