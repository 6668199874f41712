"""What people type into forms, checked."""

from __future__ import annotations

from django import forms


class DeleteForm(forms.Form):
    """Why a session is deleted."""

    reason = forms.CharField(max_length=300, error_messages={"required": "Say why. The reason stays in the audit trail."})
