"""ApiToken: how a program proves whose work it does."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """The token itself is shown once; only its SHA-256 is kept. It may do what its user may do."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
