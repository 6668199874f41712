"""One file per noun; import the models from here."""

from .artifact import Artifact
from .audit import AuditEntry
from .operation import Approval, Claim, Evidence, Operation
from .revision import Finding, Revision, RevisionPart
from .row import IndexedRow
from .run import Checkpoint, Lease, Run
from .session import Session
from .target import PolicyVersion, Probe, Target
from .token import ApiToken

__all__ = [
    "ApiToken", "Approval", "Artifact", "AuditEntry", "Checkpoint", "Claim", "Evidence", "Finding", "IndexedRow", "Lease", "Operation",
    "PolicyVersion", "Probe", "Revision", "RevisionPart", "Run", "Session", "Target",
]  # fmt: skip
