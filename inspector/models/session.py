"""Session: one recorded conversation as the inbox lists it; what it says is that of its current revision."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Session(models.Model):
    """A session, whatever program wrote it."""

    class Status(models.TextChoices):
        IMPORTING = "importing", "Importing"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"

    class Verdict(models.TextChoices):
        READY = "ready", "Ready to resume"
        NEEDS_REPAIR = "needs-repair", "Needs repair"
        NEEDS_RECONCILIATION = "needs-reconciliation", "Something may have happened"
        LIVE = "live", "Live"
        BLOCKED = "blocked", "Can't be resumed"
        FINISHED = "finished", "Finished"

    class SourceKind(models.TextChoices):
        FILE = "file", "File"
        FOLDER = "folder", "Folder"
        TREE = "tree", "Projects folder"
        ARCHIVE = "archive", "Archive"
        STORE = "store", "Store"
        FORK = "fork", "Fork made here"

    class Relation(models.TextChoices):
        NONE = "", "None"
        SUB_AGENT = "sub-agent", "Sub-agent"
        FORK = "fork", "Fork"

    client = models.CharField(max_length=40)
    native_id = models.CharField(max_length=200, blank=True)
    """The session's id in its own client."""
    name = models.CharField(max_length=255)
    """File or folder name that it came under."""
    slug = models.CharField(max_length=255, blank=True)
    """Project folder name as the client writes it."""
    folder = models.CharField(max_length=1000, blank=True)
    """Working folder named in the newest row that names one."""
    title = models.CharField(max_length=300, blank=True)
    first_prompt = models.CharField(max_length=300, blank=True)
    search = models.TextField(blank=True)
    """Lower-case text that the inbox search looks in: title, ids, folders and the prompts."""
    version = models.CharField(max_length=40, blank=True)
    """Client version written in the rows."""
    model = models.CharField(max_length=120, blank=True)

    status = models.CharField(max_length=12, choices=Status.choices, default=Status.IMPORTING)
    verdict = models.CharField(max_length=24, choices=Verdict.choices, blank=True)
    """Blank until the session is read."""
    summary = models.TextField(blank=True)
    """One sentence for a person."""
    live = models.CharField(max_length=300, blank=True)
    """Why the source counted as live when it was imported; blank otherwise."""
    picker = models.BooleanField(null=True)
    """Whether the client's own resume picker would show the session; None where that is not known."""
    picker_reason = models.CharField(max_length=300, blank=True)

    size = models.BigIntegerField(default=0)
    """Bytes of all parts."""
    rows = models.IntegerField(default=0)
    messages = models.IntegerField(default=0)
    on_branch = models.IntegerField(default=0)
    """Rows on the branch that a resume continues."""
    reached = models.IntegerField(default=0)
    """Rows with a place in the request."""
    open_operations = models.IntegerField(default=0)
    fatal = models.IntegerField(default=0)
    errors = models.IntegerField(default=0)
    warnings = models.IntegerField(default=0)
    infos = models.IntegerField(default=0)

    last_activity = models.DateTimeField(null=True)
    """Newest valid timestamp of the rows; the import's time where there is none."""
    created = models.DateTimeField(auto_now_add=True)
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    source_kind = models.CharField(max_length=10, choices=SourceKind.choices)
    origin = models.CharField(max_length=64, blank=True)
    """Digest of the place on this machine that it came from: a second import of a file that grew adds a revision."""
    place = models.CharField(max_length=4000, blank=True)
    """That place as a path, so that it can be looked whether the file has changed since; blank for an upload, a fork and a member of an archive."""

    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    relation = models.CharField(max_length=10, choices=Relation.choices, blank=True, default=Relation.NONE)
    """What the session is to `parent`."""
    agent = models.CharField(max_length=120, blank=True)
    """Agent id, for a sub-agent."""
    current = models.ForeignKey("Revision", null=True, on_delete=models.SET_NULL, related_name="+")
    """Newest revision: what lists and pages show unless another is asked for."""

    class Meta:
        indexes = [
            models.Index(fields=["-last_activity", "-id"], name="session_inbox"),
            models.Index(fields=["verdict", "-last_activity", "-id"], name="session_verdict"),
            models.Index(fields=["client", "native_id"], name="session_native"),
            models.Index(fields=["origin"], name="session_origin"),
        ]
        permissions = [
            ("erase_session", "Can delete a session and erase its bytes"),
            ("reveal_secret", "Can show a masked secret"),
        ]

    def __str__(self) -> str:
        return self.title or self.first_prompt or self.native_id or self.name
