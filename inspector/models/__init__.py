"""One file per noun; import the models from here."""

from .artifact import Artifact
from .audit import AuditEntry
from .revision import Finding, Revision, RevisionPart
from .row import IndexedRow
from .session import Session

__all__ = ["Artifact", "AuditEntry", "Finding", "IndexedRow", "Revision", "RevisionPart", "Session"]
