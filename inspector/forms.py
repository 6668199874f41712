"""What people type into forms, checked."""

from __future__ import annotations

from typing import Any

from django import forms

from inspector.models import Evidence, Operation


class DeleteForm(forms.Form):
    """Why a session is deleted."""

    reason = forms.CharField(max_length=300, error_messages={"required": "Say why. The reason stays in the audit trail."})


class ClaimForm(forms.Form):
    """What somebody says happened, as far as it can be checked before anything is kept. The rules of the ledger are the service's."""

    outcome = forms.ChoiceField(choices=Operation.Outcome.choices)
    statement = forms.CharField(
        max_length=10_000, error_messages={"required": "Say in your own words what you looked at and what it showed."}
    )  # fmt: skip
    evidence = forms.ModelMultipleChoiceField(queryset=Evidence.objects.none(), required=False)
    note = forms.CharField(required=False, max_length=10_000)
    url = forms.URLField(required=False, max_length=2000, assume_scheme="https", error_messages={"invalid": "Give a whole link, with https://."})
    file = forms.FileField(required=False, error_messages={"empty": "That file is empty."})
    related = forms.ModelChoiceField(
        queryset=Operation.objects.all(), required=False, error_messages={"invalid_choice": "There is no such operation."}
    )  # fmt: skip
    effect_exists = forms.TypedChoiceField(
        choices=(("yes", "yes"), ("no", "no")), coerce=lambda value: value == "yes", required=False, empty_value=None
    )  # fmt: skip

    def __init__(self, *args: Any, operation: Operation, **more: Any) -> None:
        super().__init__(*args, **more)
        field = self.fields["evidence"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = operation.evidence.all()

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if not self.errors.keys() & {"evidence", "note", "url", "file"} and not any(said.get(name) for name in ("evidence", "note", "url", "file")):
            self.add_error("note", "Evidence is needed: what did you look at, and what did it show? Write it, or give a link or a file.")
        outcome = said.get("outcome")
        if outcome == Operation.Outcome.SUPERSEDED and said.get("effect_exists") is None:
            self.add_error("effect_exists", "Say whether its old effect exists.")
        linked = said.get("related") or said.get("url") or any(piece.url for piece in said.get("evidence") or ())
        if outcome == Operation.Outcome.SUPERSEDED and not linked and "related" not in self.errors:
            self.add_error("related", "Name the operation, or link what made it needless.")
        if outcome == Operation.Outcome.COMPENSATED and not said.get("related") and "related" not in self.errors:
            self.add_error("related", "Name the operation that undid it; that one must have happened.")
        return said

    def wrong(self) -> dict[str, str]:
        """Field -> its first fault."""
        return {name: str(faults[0]) for name, faults in self.errors.items()}
