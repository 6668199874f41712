"""A session that came from a store -> the file that its framework loads."""

from __future__ import annotations

from inspector.core.source import Source

from . import langgraph_export, openai_export


def exported(source: Source) -> tuple[str, bytes] | None:
    """Name and bytes of the file; None for what is no session of a store. Raises ReadError."""
    return openai_export.exported(source) or langgraph_export.exported(source)
