"""Which client's reader takes a source: an explicit list in sniff order, and `read`."""

from __future__ import annotations

from types import ModuleType

from .clients import apple_workflow, claude_code, langgraph, openai_agents, raw
from .errors import ReadError
from .session import Session
from .source import Source

CLIENTS: dict[str, ModuleType] = {module.NAME: module for module in (langgraph, openai_agents, claude_code, apple_workflow, raw)}
"""Name -> client package. Each offers NAME, TITLE, sniff, read, resume, screen, recorded_request, calls, arguments, content_before and PROFILES;
FINDS and MENDS where not every finding fits its sessions."""


def sniff(source: Source) -> str:
    """Name of the first client whose reader recognises the source; `raw` takes everything."""
    return next(name for name, client in CLIENTS.items() if client.sniff(source))


def read(source: Source, client: str | None = None) -> Session:
    """Read a source with the named client's reader, or the one that recognises it. Raises ReadError for an unknown name."""
    name = client or sniff(source)
    if name not in CLIENTS:
        raise ReadError(f"no client is called {name!r}", hint=f"Known: {', '.join(CLIENTS)}")
    session: Session = CLIENTS[name].read(source)
    return session
